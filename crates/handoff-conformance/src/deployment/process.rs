//! The server of a disposable deployment as a process that outlives the command that started it.

use std::{
    env, fs,
    os::unix::process::CommandExt as _,
    path::Path,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use super::{Server, remembered};
use rustix::process::{Pid, Signal, kill_process, test_kill_process};

/// What the server says once it takes connections.
const LISTENING: &str = "listening on 127.0.0.1:";

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
    let before = fs::metadata(&log_path).ok().and_then(|log| usize::try_from(log.len()).ok()).unwrap_or_default();
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
        // Not whether somebody takes connections there: for a moment, that can be the server before.
        let said = fs::read(&log_path).unwrap_or_default();
        let said = String::from_utf8_lossy(said.get(before..).unwrap_or_default()).into_owned();
        if said.contains(LISTENING) {
            // Whenever it ends, its entry is taken out of the table, if this process is still there by then.
            std::thread::spawn(move || child.wait());
            return Ok(());
        }
        let ended = child.try_wait().map_err(failed)?.is_some();
        if ended || started.elapsed() > PATIENCE {
            // It may have ended by itself.
            let _ = child.kill();
            let _ = child.wait();
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
/// table until somebody asks for it. One that is ending runs: it may still hold its port, and has no command line any more.
fn runs(process: Pid, directory: &Path) -> bool {
    if test_kill_process(process).is_err() {
        return false;
    }
    let of_process = |file: &str| fs::read(format!("/proc/{}/{file}", process.as_raw_nonzero()));
    let (Ok(line), Ok(status)) = (of_process("cmdline"), of_process("stat")) else {
        // Where there is no such table, the id is all there is to go by.
        return !Path::new("/proc/self/stat").exists();
    };
    let ours = directory.join("handoffd.toml").display().to_string();
    // Behind the program's name, which may hold anything, the first letter is the state.
    let status = String::from_utf8_lossy(&status);
    let ended = status.rsplit(") ").next().is_some_and(|rest| rest.starts_with(['Z', 'X']));
    !ended && (line.is_empty() || String::from_utf8_lossy(&line).contains(&ours))
}
