//! A run that somebody interrupts leaves neither a server nor a directory with tokens behind.

use std::{
    fs,
    os::unix::fs::PermissionsExt as _,
    path::Path,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use crate::fixture::{Fixture, runner};

const PATIENCE: Duration = Duration::from_secs(30);

fn wait_for(what: &str, mut holds: impl FnMut() -> bool) {
    let started = Instant::now();
    while !holds() {
        assert!(started.elapsed() < PATIENCE, "{what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn send(signal: &str, process: &str) -> bool {
    Command::new("kill").args([signal, process]).stderr(Stdio::null()).status().unwrap().success()
}

/// A server that never gets so far as to listen: the worst moment to be interrupted.
fn server(directory: &Path) -> std::path::PathBuf {
    let file = directory.join("server");
    fs::write(
        &file,
        "#!/bin/sh\necho $$ > \"$MARK.new\" && mv \"$MARK.new\" \"$MARK\"\npwd > \"$MARK.pwd\"\nsleep 1000\n",
    )
    .unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
    file
}

#[test]
fn each_signal_that_ends_a_run_ends_its_server_and_removes_its_directory() {
    for signal in ["-INT", "-TERM", "-HUP"] {
        let fixture = Fixture::new();
        let directory = tempfile::tempdir().unwrap();
        let mark = directory.path().join("mark");
        let mut command = runner(&["local", "--server"]);
        command.arg(server(directory.path())).arg("--variable").arg(format!("MARK={}", mark.display()));
        let mut run = fixture.over(command).stderr(Stdio::piped()).spawn().unwrap();
        wait_for("the server does not start", || mark.with_extension("pwd").exists());
        let server = fs::read_to_string(&mark).unwrap().trim().to_owned();
        assert!(send(signal, &run.id().to_string()));
        let started = Instant::now();
        let status = run.wait().unwrap();
        assert_eq!(status.code(), Some(2), "{signal}");
        assert!(started.elapsed() < Duration::from_secs(10), "{signal} was not heard at once");
        wait_for("the server goes on", || !send("-0", &server));
        let place = fs::read_to_string(mark.with_extension("pwd")).unwrap();
        assert!(!Path::new(place.trim()).exists(), "{signal} leaves {place}");
    }
}
