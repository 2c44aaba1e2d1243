//! The server of a disposable deployment as a process that outlives the command that started it.

use std::{
    env, fs,
    os::unix::process::CommandExt as _,
    path::Path,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, kill_process, test_kill_process};
use tokio::net::TcpStream;

use super::{Server, remembered};

/// Longer than a start takes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// Longer than a server takes to end in order.
const FAREWELL: Duration = Duration::from_secs(15);

/// Between two looks.
const PAUSE: Duration = Duration::from_millis(10);

/// Starts the server and waits until it takes connections.
pub(super) async fn start(server: Server, directory: &Path, crash_point: &str) -> Result<(), String> {
    let log_path = directory.join("log");
    let log = || fs::OpenOptions::new().create(true).append(true).open(&log_path);
    let failed = |error: std::io::Error| format!("the server cannot be started: {error}");
    let mut command = Command::new(&server.program);
    command.arg("--config").arg(directory.join("handoffd.toml")).arg("serve");
    command.current_dir(directory).env_clear();
    if let Some(path) = env::var_os("PATH") {
        command.env("PATH", path);
    }
    command.envs(server.variables.iter().map(|(name, value)| (name, value)));
    if !crash_point.is_empty() {
        command.env("HANDOFF_CRASH_POINT", crash_point);
    }
    command.stdin(Stdio::null()).stdout(log().map_err(failed)?).stderr(log().map_err(failed)?);
    // A group of its own, so that what ends the runner at a terminal does not end the server.
    let mut child = command.process_group(0).spawn().map_err(failed)?;
    let server = Server { process: Some(child.id()), ..server };
    let text = serde_json::to_string_pretty(&server).map_err(|error| error.to_string())?;
    fs::write(remembered(directory), text + "\n").map_err(failed)?;
    let started = Instant::now();
    loop {
        if TcpStream::connect(("127.0.0.1", server.port)).await.is_ok() {
            return Ok(());
        }
        let ended = child.try_wait().map_err(failed)?.is_some();
        if ended || started.elapsed() > PATIENCE {
            // It may have ended by itself.
            let _ = child.kill();
            let _ = child.wait();
            let said = fs::read_to_string(&log_path).unwrap_or_default();
            let end: Vec<_> = said.lines().rev().take(3).collect();
            return Err(format!("the server did not start: {}", end.join(" | ")));
        }
        tokio::time::sleep(PAUSE).await;
    }
}

/// Ends the server, first in order and then by force; one that is gone already is fine.
pub(super) async fn stop(server: &Server, directory: &Path) -> Result<(), String> {
    let Some(process) = running(server, directory) else { return Ok(()) };
    for signal in [Signal::TERM, Signal::KILL] {
        // It may end between the look and the signal.
        let _ = kill_process(process, signal);
        let started = Instant::now();
        while started.elapsed() < FAREWELL {
            if !runs(process, directory) {
                return Ok(());
            }
            tokio::time::sleep(PAUSE).await;
        }
    }
    Err(format!("the server, process {}, does not end", process.as_raw_nonzero()))
}

/// Ends the server by force, and waits until it is gone.
pub(super) fn kill(server: &Server, directory: &Path) {
    let Some(process) = running(server, directory) else { return };
    // It may end between the look and the signal.
    let _ = kill_process(process, Signal::KILL);
    let started = Instant::now();
    while runs(process, directory) && started.elapsed() < FAREWELL {
        std::thread::sleep(PAUSE);
    }
}

fn running(server: &Server, directory: &Path) -> Option<Pid> {
    let process = server.process.and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
    process.filter(|process| runs(*process, directory))
}

/// Whether the process runs and is the server of this directory: ids are given again, and one that ended may stay in the
/// table until somebody asks for it.
fn runs(process: Pid, directory: &Path) -> bool {
    if test_kill_process(process).is_err() {
        return false;
    }
    match fs::read(format!("/proc/{}/cmdline", process.as_raw_nonzero())) {
        Ok(line) => String::from_utf8_lossy(&line).contains(&directory.join("handoffd.toml").display().to_string()),
        // Where there is no such table, the id is all there is to go by.
        Err(_) => !Path::new("/proc/self/cmdline").exists(),
    }
}
