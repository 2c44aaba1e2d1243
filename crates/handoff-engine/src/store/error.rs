//! How a store fails.

use super::TimerKey;

/// A failure of the store. None of them is the caller's fault, so surfaces answer 5xx.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The store cannot be reached or cannot take work now. Nothing was written; trying again later is right.
    #[error("the store is unavailable: {0}")]
    Unavailable(String),

    /// The answer to a commit was lost. The write may or may not have happened; read before acting on either.
    #[error("it is unknown whether the write happened: {0}")]
    Unknown(String),

    /// The step itself panicked. Nothing was written; this is a defect of the engine.
    #[error("a step of the engine panicked: {0}")]
    StepPanicked(String),

    /// The timer to settle is held under another epoch, or gone. Nothing was written; whoever holds it acts.
    #[error("the timer {key} is no longer held under this epoch")]
    StaleTimer {
        /// Which timer.
        key: TimerKey,
    },

    /// The write-set does not fit what is stored: a version not seen, a chain entry that does not continue the head, a
    /// blob that is gone. Nothing was written; this is a defect of the engine or of the store.
    #[error("the write does not continue what is stored: {0}")]
    Conflict(String),

    /// A step kept asking for more after being given what it asked for. Nothing was written; a defect of the engine.
    #[error("a step of the engine asked for more too many times")]
    TooManyReads,

    /// What is stored cannot be read as what it must be.
    #[error("the store holds something unreadable: {0}")]
    Corrupt(String),

    /// The database was written by a newer version of this program.
    #[error(
        "the database has schema version {found}, this program knows versions up to {known}; run the newer program"
    )]
    NewerSchema {
        /// The version found.
        found: u32,
        /// The newest version known here.
        known: u32,
    },
}
