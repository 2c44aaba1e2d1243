//! What a client is told about a body that does not fit.

use std::fmt;

use super::Path;

/// A member of a document is missing, unknown or wrong: which one, and how to mend it.
///
/// Shown as "`prompt.title` must be 1 to 200 characters"; never with the value that was submitted.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct DecodeError {
    /// Where the fault is, `requires.answer.fields[2].type`; empty for the document itself.
    pub path: String,
    /// The rest of the sentence: `is required`.
    pub problem: String,
}

impl DecodeError {
    /// Makes an error from a path and the rest of the sentence that it begins.
    #[must_use]
    pub fn new(path: impl Into<String>, problem: impl Into<String>) -> Self {
        Self { path: path.into(), problem: problem.into() }
    }

    /// Makes an error about the place at which a reader stands.
    #[must_use]
    pub fn at(path: Path<'_>, problem: impl Into<String>) -> Self {
        Self::new(path.to_string(), problem)
    }
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.path.is_empty() {
            write!(f, "the body {}", self.problem)
        } else {
            write!(f, "`{}` {}", self.path, self.problem)
        }
    }
}

impl std::error::Error for DecodeError {}
