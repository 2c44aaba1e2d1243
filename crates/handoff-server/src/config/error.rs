//! What is wrong with the configuration.

use std::path::Path;

/// The configuration cannot be used.
///
/// The message names the variable, or the file and the line, and says how to mend it. It never repeats a value, which
/// may be a secret.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("{place}: {problem}")]
pub struct ConfigError {
    place: String,
    problem: String,
}

impl ConfigError {
    pub(super) fn new(place: impl Into<String>, problem: impl Into<String>) -> Self {
        Self { place: place.into(), problem: problem.into() }
    }

    /// A fault at a line of a file.
    pub(super) fn at(path: &Path, line: usize, problem: impl Into<String>) -> Self {
        Self::new(place(path, line), problem)
    }

    /// The same place, with a fault.
    pub(super) fn saying(self, problem: impl Into<String>) -> Self {
        Self { problem: problem.into(), ..self }
    }

    /// A fault of a file as a whole.
    pub(super) fn file(path: &Path, problem: impl std::fmt::Display) -> Self {
        Self::new(format!("`{}`", path.display()), problem.to_string())
    }

    /// Where the fault is: the name of the variable, or the file and the line.
    #[must_use]
    pub fn place(&self) -> &str {
        &self.place
    }
}

/// A line of a file, for people.
pub(super) fn place(path: &Path, line: usize) -> String {
    format!("`{}`, line {line}", path.display())
}
