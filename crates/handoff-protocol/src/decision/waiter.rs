//! Waiters: the durable row behind a waiter reference (section 13).

use serde::{Deserialize, Serialize};

use super::waiter_ref::WaiterRef;
use crate::{id::PrincipalId, timestamp::Timestamp};

/// What is kept of a waiter reference across its requests.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Waiter {
    /// The reference.
    pub waiter_ref: WaiterRef,
    /// The sequence of the last signal; they start at 1 (rule X-4).
    pub last_sequence: u64,
    /// Everybody who raised under it: the owners of its requests (section 9).
    pub raised_by: Vec<PrincipalId>,
    /// When it last showed that it lives, as far as that is written; none while nothing leased waits under it (rule
    ///
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seen_at: Option<Timestamp>,
    /// Whether it was given up, and has not shown itself since (W6, W7).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub orphaned: bool,
}

impl Waiter {
    /// A waiter that nobody raised under yet.
    #[must_use]
    pub fn new(waiter_ref: WaiterRef) -> Self {
        Self { waiter_ref, last_sequence: 0, raised_by: Vec::new(), seen_at: None, orphaned: false }
    }

    /// Whether the principal owns the requests of this waiter.
    #[must_use]
    pub fn is_owned_by(&self, principal: PrincipalId) -> bool {
        self.raised_by.contains(&principal)
    }

    pub(super) fn add_owner(&mut self, principal: PrincipalId) {
        if !self.is_owned_by(principal) {
            self.raised_by.push(principal);
        }
    }
}
