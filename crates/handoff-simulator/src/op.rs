//! What clients do, and how often each is chosen.

use crate::script::Step;

/// One operation of a client. What it is done on is chosen when it is done, from what clients know by then.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Op {
    /// Raise a request.
    Raise,
    /// Ask a waiter's signals, and perhaps wait for one.
    Poll,
    /// Acknowledge a signal.
    Acknowledge,
    /// Answer, or give a part.
    Answer,
    /// Pass on, or say that one is unable.
    Dispose,
    /// Withdraw.
    Cancel,
    /// Mend the words.
    Amend,
    /// Put another request in its place.
    Supersede,
    /// Fire a rung.
    Escalate,
    /// Ask somebody else.
    Reassign,
    /// Arm an attempt.
    Arm,
    /// Spend an authorization.
    Redeem,
    /// Correct a receipt.
    Correct,
    /// Read a request.
    Read,
    /// Wait for the end of a request.
    Await,
    /// Come back.
    Reattach,
    /// Say that the runtime ended.
    EndWaiter,
    /// Open a session of a grant.
    Resolve,
    /// Renew a session.
    Renew,
    /// Give a session back.
    Release,
    /// Take a grant back.
    Revoke,
    /// Submit secret values.
    Submit,
    /// Ask for one more attempt of a delivery or a push.
    Redeliver,
    /// Report how far a delivery got, or that it came back.
    Grade,
    /// Open the page of a request.
    Look,
    /// Tell of words or a change that came in.
    Observe,
    /// Read an inbox.
    Inbox,
    /// Read receipts and the head of their chain.
    Receipts,
    /// A step of a script.
    Scripted(Step),
}

impl Op {
    /// How often each is chosen.
    pub const WEIGHTS: &'static [(u64, Self)] = &[
        (200, Self::Raise),
        (120, Self::Poll),
        (110, Self::Acknowledge),
        (190, Self::Answer),
        (20, Self::Dispose),
        (22, Self::Cancel),
        (24, Self::Amend),
        (12, Self::Supersede),
        (14, Self::Escalate),
        (12, Self::Reassign),
        (20, Self::Arm),
        (40, Self::Redeem),
        (12, Self::Correct),
        (36, Self::Read),
        (20, Self::Await),
        (14, Self::Reattach),
        (10, Self::EndWaiter),
        (28, Self::Resolve),
        (14, Self::Renew),
        (8, Self::Release),
        (8, Self::Revoke),
        (16, Self::Submit),
        (14, Self::Redeliver),
        (22, Self::Grade),
        (12, Self::Look),
        (8, Self::Observe),
        (10, Self::Inbox),
        (12, Self::Receipts),
    ];

    /// Its name in a trace.
    #[must_use]
    pub fn name(self) -> String {
        format!("{self:?}").to_lowercase()
    }
}
