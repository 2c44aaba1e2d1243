//! `handoffd` as a process.

use std::{
    io::{BufRead as _, BufReader, Read as _},
    net::SocketAddr,
    process::{Child, ChildStdout, Command, ExitStatus, Output, Stdio},
    sync::mpsc::{Receiver, channel},
    thread,
    time::Duration,
};

use crate::support::connection::Connection;

/// Longer than a start takes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// A server that is killed when it is dropped, as `kill -9` does.
pub(crate) struct Handoffd {
    child: Child,
    // Kept open: a process whose output nobody can read fails.
    pub(crate) out: BufReader<ChildStdout>,
    lines: Receiver<String>,
    seen: String,
    pub(crate) address: SocketAddr,
}

/// The command, with the given variables and no others of ours.
pub(crate) fn handoffd(arguments: &[&str], variables: &[(&str, &str)]) -> Command {
    under(Command::new(env!("CARGO_BIN_EXE_handoffd")), arguments, variables)
}

/// Adds arguments and variables to a command.
pub(crate) fn under(mut command: Command, arguments: &[&str], variables: &[(&str, &str)]) -> Command {
    command.args(arguments).env_clear().envs(variables.iter().copied());
    if let Some(path) = std::env::var_os("PATH") {
        command.env("PATH", path);
    }
    command
}

/// Runs a command to its end.
pub(crate) fn run(arguments: &[&str], variables: &[(&str, &str)]) -> Output {
    handoffd(arguments, variables).output().unwrap()
}

impl Handoffd {
    /// Starts a command that serves, and waits until it listens.
    pub(crate) fn start(mut command: Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let (sender, lines) = channel();
        let out = BufReader::new(child.stdout.take().unwrap());
        let log = BufReader::new(child.stderr.take().unwrap());
        thread::spawn(move || log.lines().map_while(Result::ok).try_for_each(|line| sender.send(line)));
        let mut server = Self { child, out, lines, seen: String::new(), address: "127.0.0.1:0".parse().unwrap() };
        let line = server.wait_for_line("listening on ");
        let (_, rest) = line.split_once("listening on ").unwrap();
        server.address = rest.split(';').next().unwrap().parse().unwrap();
        server
    }

    /// Waits until the log has a line with a text in it.
    pub(crate) fn wait_for_line(&mut self, text: &str) -> String {
        loop {
            let Ok(line) = self.lines.recv_timeout(PATIENCE) else {
                panic!("the log ended without `{text}`:\n{}", self.seen)
            };
            self.seen.push_str(&line);
            self.seen.push('\n');
            if line.contains(text) {
                return line;
            }
        }
    }

    /// Its process.
    pub(crate) fn process(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn connect(&self) -> Connection {
        Connection::open(self.address).unwrap()
    }

    /// Asks for the end as an operating system does. The process goes on until it is done.
    pub(crate) fn terminate(&self) {
        let status = Command::new("kill").args(["-TERM", &self.child.id().to_string()]).status().unwrap();
        assert!(status.success());
    }

    /// Waits for the end, and gives how it ended, what was printed, and the log.
    pub(crate) fn wait(mut self) -> (ExitStatus, String, String) {
        let status = self.child.wait().unwrap();
        let mut printed = String::new();
        self.out.read_to_string(&mut printed).unwrap();
        let mut log = std::mem::take(&mut self.seen);
        for line in &self.lines {
            log.push_str(&line);
            log.push('\n');
        }
        (status, printed, log)
    }
}

impl Drop for Handoffd {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
