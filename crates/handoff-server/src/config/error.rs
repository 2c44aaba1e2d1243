//! What is wrong with a variable of the environment.

/// A variable of the environment cannot be used.
///
/// The message names the variable and says how to mend it. It never repeats the value, which may be a secret.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("{variable}: {problem}")]
pub struct ConfigError {
    variable: &'static str,
    problem: String,
}

impl ConfigError {
    pub(super) fn new(variable: &'static str, problem: impl Into<String>) -> Self {
        Self { variable, problem: problem.into() }
    }

    /// The name of the variable.
    #[must_use]
    pub const fn variable(&self) -> &'static str {
        self.variable
    }
}
