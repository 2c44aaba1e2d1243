//! Where a test wants the process to die (section 24). Never set in production.

use std::{
    io::{self, Write as _},
    process,
    sync::Arc,
};

use handoff_store_sqlite::LabelHook;

use crate::LIFECYCLE;

/// A place at which the process aborts itself, inside a transaction.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum CrashPoint {
    /// In the transaction of an answer, when its state is written and its events are not.
    AnswerAfterStateWrite,
}

impl CrashPoint {
    /// The name of the one point, which is also the label of its write-set.
    pub const NAME: &'static str = "answer_after_state_write";

    /// Reads the name of a point.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        (name == Self::NAME).then_some(Self::AnswerAfterStateWrite)
    }

    /// What the store calls at each label.
    pub(crate) fn hook(self) -> LabelHook {
        Arc::new(move |label| match self {
            Self::AnswerAfterStateWrite if label == Self::NAME => abort(label),
            Self::AnswerAfterStateWrite => {}
        })
    }
}

fn abort(label: &str) -> ! {
    tracing::error!(target: LIFECYCLE, "HANDOFF_CRASH_POINT reached: {label}");
    // What was logged must be out before the process is gone; there is nobody left to tell of a failure.
    let _ = io::stdout().flush();
    let _ = io::stderr().flush();
    process::abort()
}
