//! Timers: every wait in the product is a row, claimed under a lease with an epoch that only rises.

use std::sync::Arc;

use handoff_protocol::{id::TenantId, timestamp::Timestamp};

use super::TimerKey;

/// A change to a timer of the tenant.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum TimerWrite {
    /// Removes a claimed timer, if it still has the epoch it was claimed under. Otherwise the whole write fails with
    /// [`StoreError::StaleTimer`](super::StoreError::StaleTimer): somebody else holds the timer, or it changed.
    Settle {
        /// Which timer.
        key: TimerKey,
        /// The epoch it was claimed under.
        epoch: u64,
    },
    /// Removes a timer if it is there, whoever holds it.
    Remove {
        /// Which timer.
        key: TimerKey,
    },
    /// Sets a timer, replacing the one under this key and any claim on it.
    Put {
        /// Which timer.
        key: TimerKey,
        /// When it can be claimed.
        due: Timestamp,
        /// JSON text that says what to do then.
        action: Arc<str>,
    },
}

/// What a claim brought.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Claimed {
    /// The store's time of the claim.
    pub now: Timestamp,
    /// The timers now held, the longest overdue first.
    pub timers: Vec<ClaimedTimer>,
    /// When to look again at the latest: the earliest due time or lapsing claim among the timers not held by this call;
    /// `None` when there are none.
    pub next: Option<Timestamp>,
}

/// One timer, held until its lease lapses.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ClaimedTimer {
    /// Whose it is.
    pub tenant: TenantId,
    /// Which timer.
    pub key: TimerKey,
    /// When it became due.
    pub due: Timestamp,
    /// What to do.
    pub action: Arc<str>,
    /// What to settle it under. Higher than every epoch that any timer of the store was claimed under before.
    pub epoch: u64,
}
