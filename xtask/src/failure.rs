//! Why a command stopped.

use std::fmt;
use std::io;
use std::path::PathBuf;
use std::process::ExitStatus;

/// Why a command stopped; the message says what to do next where that is not plain.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// A program is missing or may not be executed.
    #[error("`{command}` did not start: {source}")]
    Start { command: String, source: io::Error },
    /// A program ran and said no.
    #[error("`{command}` failed ({status})")]
    Ended { command: String, status: ExitStatus },
    /// A file or directory of the tree could not be read.
    #[error("{} cannot be read: {source}", path.display())]
    Read { path: PathBuf, source: io::Error },
    /// A file of the tree or of the target directory could not be written.
    #[error("{} cannot be written: {source}", path.display())]
    Write { path: PathBuf, source: io::Error },
    /// What looks at the pages is missing.
    #[error(
        "{0} is not on this machine, and the pages are to be looked at; install Debian's packages `chromium` and `npm`"
    )]
    NoBrowser(&'static str),
    /// What reads the compiler's profiles is missing.
    #[error(
        "the tools of LLVM {0}, which read what this compiler counts, are not here; install Debian's package `llvm-{0}`"
    )]
    NoLlvm(String),
    /// There is no database for the tests.
    #[error("{0}")]
    NoPostgres(String),
    /// The record of counts is no table of counts.
    #[error("the recorded counts are not understood: {0}; run `cargo xtask instructions --record`")]
    Record(serde_json::Error),
    /// `cargo metadata` printed something else than its documented JSON.
    #[error("the output of `cargo metadata` is not understood: {0}")]
    Metadata(#[from] serde_json::Error),
    /// The contracts were named, but they are not there.
    #[error("HANDOFF_CONTRACTS names {}, which is no directory; correct it, or unset it", .0.display())]
    NoContracts(PathBuf),
    /// xtask was started without cargo, from a place that tells nothing about the workspace.
    #[error("the workspace root is not known; run this as `cargo xtask`")]
    NoRoot,
    /// A check of our own found faults.
    #[error("{0}")]
    Findings(Findings),
}

/// What a check of our own found, one line each.
#[derive(Debug)]
pub(crate) struct Findings(Vec<String>);

impl Findings {
    /// Turns an empty list into success and any other into a failure.
    pub(crate) fn judge(lines: Vec<String>) -> Result<(), Failure> {
        if lines.is_empty() { Ok(()) } else { Err(Failure::Findings(Self(lines))) }
    }
}

impl fmt::Display for Findings {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} found:", self.0.len())?;
        self.0.iter().try_for_each(|line| write!(formatter, "\n  {line}"))
    }
}

#[cfg(test)]
mod tests {
    use super::Findings;

    #[test]
    fn one_finding_is_a_failure_and_none_is_success() {
        assert!(Findings::judge(Vec::new()).is_ok());
        let failure = Findings::judge(vec!["a.rs:1: a fault".to_owned()]).expect_err("something was found");
        assert_eq!(failure.to_string(), "1 found:\n  a.rs:1: a fault");
    }
}
