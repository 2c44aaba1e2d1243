//! How a step is announced, timed and ended.

use std::env;
use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::failure::Failure;

/// One run of xtask: where the workspace is, and which steps took how long.
#[derive(Debug)]
pub(crate) struct Run {
    root: PathBuf,
    cargo: OsString,
    timings: Vec<(&'static str, Duration)>,
}

impl Run {
    /// Finds the workspace and the cargo that started us.
    pub(crate) fn new() -> Result<Self, Failure> {
        // Cargo sets it to the directory of xtask's manifest, whose parent is the workspace root.
        let manifest = env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from).ok_or(Failure::NoRoot)?;
        let root = manifest.parent().ok_or(Failure::NoRoot)?.to_path_buf();
        let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        Ok(Self { root, cargo, timings: Vec::new() })
    }

    /// Announces a step, does its work and keeps the time that it took.
    pub(crate) fn step(
        &mut self,
        name: &'static str,
        work: impl FnOnce(&Self) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        println!("==> {name}");
        let start = Instant::now();
        let outcome = work(self);
        let took = start.elapsed();
        let verdict = if outcome.is_ok() { "passed" } else { "FAILED" };
        println!("    {name} {verdict} after {}", Spent(took));
        self.timings.push((name, took));
        outcome
    }

    /// Says in one line which steps ran and how long each took.
    pub(crate) fn summarize(&self) {
        let steps: Vec<String> = self.timings.iter().map(|(name, took)| format!("{name} {}", Spent(*took))).collect();
        let total = self.timings.iter().map(|(_, took)| *took).sum();
        println!("==> passed in {}: {}", Spent(total), steps.join(", "));
    }

    /// The workspace root.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// Where cargo puts what it builds.
    pub(crate) fn target(&self) -> PathBuf {
        env::var_os("CARGO_TARGET_DIR").map_or_else(|| self.root.join("target"), |named| self.root.join(named))
    }

    /// A cargo command that will run at the workspace root.
    pub(crate) fn cargo(&self, arguments: &[&str]) -> Command {
        self.program(&self.cargo, arguments)
    }

    /// Any other command that will run at the workspace root.
    pub(crate) fn program(&self, program: impl Into<OsString>, arguments: &[&str]) -> Command {
        let mut command = Command::new(program.into());
        command.args(arguments).current_dir(&self.root);
        command
    }
}

/// Says what runs, runs it with our own output, and fails when it fails.
pub(crate) fn show(command: &mut Command) -> Result<(), Failure> {
    let line = describe(command);
    println!("    {line}");
    let status = command.status().map_err(|source| Failure::Start { command: line.clone(), source })?;
    if status.success() { Ok(()) } else { Err(Failure::Ended { command: line, status }) }
}

/// Runs a command and returns what it printed; its complaints go to our own standard error.
pub(crate) fn capture(command: &mut Command) -> Result<String, Failure> {
    let line = describe(command);
    let output =
        command.stderr(Stdio::inherit()).output().map_err(|source| Failure::Start { command: line.clone(), source })?;
    if output.status.success() {
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    } else {
        Err(Failure::Ended { command: line, status: output.status })
    }
}

/// The command as one would type it, with the variables that we set and without the directory of the program.
fn describe(command: &Command) -> String {
    let variables = command.get_envs().filter_map(|(name, value)| {
        value.map(|value| format!("{}={:?}", name.to_string_lossy(), value.to_string_lossy()))
    });
    let program = Path::new(command.get_program()).file_name().unwrap_or(command.get_program());
    let words = std::iter::once(program).chain(command.get_args()).map(|word| word.to_string_lossy().into_owned());
    variables.chain(words).collect::<Vec<_>>().join(" ")
}

/// A duration as people read it: `3.2 s`, or `2 min 05 s`.
struct Spent(Duration);

impl fmt::Display for Spent {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = self.0.as_secs();
        if seconds < 60 {
            write!(formatter, "{:.1} s", self.0.as_secs_f64())
        } else {
            write!(formatter, "{} min {:02} s", seconds / 60, seconds % 60)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run() -> Run {
        Run { root: env!("CARGO_MANIFEST_DIR").into(), cargo: env!("CARGO").into(), timings: Vec::new() }
    }

    #[test]
    fn a_step_fails_when_its_command_fails() {
        let mut run = run();
        let outcome = run.step("planted", |run| show(run.cargo(&["no-such-command"]).stderr(Stdio::null())));
        assert!(matches!(outcome, Err(Failure::Ended { .. })));
        assert_eq!(run.timings.len(), 1, "a failed step is timed too");
    }

    #[test]
    fn a_missing_program_is_named() {
        let failure = capture(&mut run().program("no-such-program", &[])).expect_err("it is not there");
        assert!(failure.to_string().starts_with("`no-such-program` did not start"), "{failure}");
    }

    #[test]
    fn a_command_is_described_as_one_would_type_it() {
        let mut command = run().cargo(&["doc", "--no-deps"]);
        command.env("RUSTDOCFLAGS", "-D warnings");
        assert_eq!(describe(&command), "RUSTDOCFLAGS=\"-D warnings\" cargo doc --no-deps");
    }

    #[test]
    fn times_read_like_times() {
        assert_eq!(Spent(Duration::from_millis(3_240)).to_string(), "3.2 s");
        assert_eq!(Spent(Duration::from_secs(125)).to_string(), "2 min 05 s");
    }
}
