//! How a step failed.

use std::fmt;

use serde_json::{Value, json};

use crate::matcher::Mismatch;

/// A step did not go as it should.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Failure(Box<Details>);

#[derive(Clone, Debug, Default, Eq, PartialEq)]
struct Details {
    step: String,
    why: Option<String>,
    problem: String,
    expected: Option<String>,
    got: Option<String>,
    reply: Option<String>,
}

impl Failure {
    /// A failure in words.
    pub fn of(problem: impl Into<String>) -> Self {
        Self(Box::new(Details { problem: problem.into(), ..Details::default() }))
    }

    /// Something is not as expected: where, what was expected, and what was there.
    #[must_use]
    pub fn unlike(what: &str, mismatch: Mismatch) -> Self {
        let place = if mismatch.path.is_empty() { String::new() } else { format!(" at `{}`", mismatch.path) };
        let problem = format!("{what}{place} is not as expected");
        let Mismatch { expected, got, .. } = mismatch;
        Self(Box::new(Details { problem, expected: Some(expected), got: Some(got), ..Details::default() }))
    }

    /// With what the server said, unless that is told already.
    #[must_use]
    pub fn upon(mut self, reply: impl Into<String>) -> Self {
        self.0.reply.get_or_insert(reply.into());
        self
    }

    /// With words before the problem.
    #[must_use]
    pub fn after(mut self, words: &str) -> Self {
        self.0.problem = format!("{words}: {}", self.0.problem);
        self
    }

    /// Within a step, or within a part of one; the innermost reason stands.
    #[must_use]
    pub fn within(mut self, step: &str, why: Option<&String>) -> Self {
        let inner = std::mem::take(&mut self.0.step);
        self.0.step = if inner.is_empty() { step.to_owned() } else { format!("{step}, {inner}") };
        self.0.why = self.0.why.or_else(|| why.cloned());
        self
    }

    /// As an object of the report.
    #[must_use]
    pub fn value(&self) -> Value {
        let Details { step, why, problem, expected, got, reply } = &*self.0;
        json!({"step": step, "why": why, "problem": problem, "expected": expected, "got": got, "reply": reply})
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Details { step, why, problem, expected, got, reply } = &*self.0;
        let place = if step.is_empty() { "before the first step" } else { step };
        writeln!(formatter, "{place}: {problem}")?;
        for (name, text) in [("why", why), ("expected", expected), ("got", got), ("reply", reply)] {
            if let Some(text) = text {
                writeln!(formatter, "  {name}: {text}")?;
            }
        }
        Ok(())
    }
}
