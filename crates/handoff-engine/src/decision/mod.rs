//! Decisions: raise, answer, correct, cancel, expire, wait, acknowledge, redeem, read.
//!
//! Each use case here loads what a transition of `handoff_protocol::decision` needs, runs it under the tenant's lock, and
//! carries out what it returns. Nothing is decided here.

mod acknowledge;
mod amend;
mod answer;
pub(crate) mod apply;
mod attempt;
mod cancel;
mod capabilities;
mod correct;
mod deliver;
mod deliveries;
mod dispositions;
pub(crate) mod documents;
mod escalate;
mod follow;
mod grade;
mod held;
mod inbox;
pub(crate) mod keys;
mod known;
mod lease;
mod list;
mod observe;
mod operate;
pub(crate) mod policies;
mod proof;
mod push;
mod raise;
mod read;
mod reassign;
mod redeem;
mod redeliver;
mod replay;
mod resume;
mod send;
mod sink;
mod supersede;
mod timers;
mod wait;

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use handoff_protocol::{decision::DecisionError, id::TenantId, principal::Principal};

pub use self::keys::RECEIPTS;
pub use self::{
    follow::{Change, InboxFeed, RequestFeed, Standing},
    inbox::{Inbox, InboxPlace, InboxScope},
    list::{RequestFilter, Span},
    observe::Noted,
    policies::PolicyError,
    raise::Raised,
    read::ReceiptFilter,
    resume::{ContinuationError, ContinuationKeyUse, Forget, Resealed, Sealings, Unreadable},
};
pub(crate) use self::{
    keys::{TimerAction, read_action},
    lease::SignsOfLife,
};
use crate::{
    engine::Engine,
    store::{Moment, Reads, StoreError},
    transaction::{self, Failure, Halt, Outcome, View},
};

impl Engine {
    /// Runs a step of this domain and says what came of it in this domain's errors. What the commit leaves to do at once
    /// is done soon.
    pub(crate) async fn decide<R, F>(&self, tenant: TenantId, reads: Reads, step: F) -> Result<R, DecisionError>
    where
        R: Send + 'static,
        F: Fn(&View<'_>, &Moment) -> Result<Outcome<R>, Halt<DecisionError>> + Send + Sync + 'static,
    {
        let due_now = Arc::new(AtomicBool::new(false));
        let noticed = Arc::clone(&due_now);
        let step = move |view: &View<'_>, moment: &Moment| {
            let outcome = step(view, moment)?;
            let due = matches!(&outcome, Outcome::Write(writes, _) if writes.leaves_work(moment.now));
            noticed.store(due, Ordering::Relaxed);
            Ok(outcome)
        };
        match transaction::run(self.inner.store.as_ref(), tenant, reads, step).await {
            Ok(reply) => {
                if due_now.load(Ordering::Relaxed) {
                    self.inner.due_now.tell();
                }
                Ok(reply)
            }
            Err(Failure::Refused(refusal)) => Err(refusal),
            // A race that the other side won: whoever holds the timer now acts.
            Err(Failure::Store(error @ StoreError::StaleTimer { .. })) => {
                tracing::debug!(%error, "a step came too late");
                Err(DecisionError::Internal)
            }
            Err(Failure::Store(error)) => Err(internal(&error)),
        }
    }
}

/// A failure of ours: the log has the words, the caller a code (section 20).
///
/// A store that cannot be reached fails every call, and says so in the log itself, once.
pub(crate) fn internal(error: &(dyn std::error::Error + 'static)) -> DecisionError {
    match error.downcast_ref() {
        Some(StoreError::Unavailable(_)) => {
            tracing::debug!(error, "a decision operation found no store");
            DecisionError::StoreUnavailable
        }
        Some(StoreError::Unknown(_)) => {
            tracing::warn!(error, "nobody knows whether a decision operation was kept");
            DecisionError::OutcomeUnknown
        }
        _ => {
            tracing::error!(error, "a decision operation failed");
            DecisionError::Internal
        }
    }
}

fn tenant_of(principal: &Principal) -> TenantId {
    TenantId::Org(principal.tenant)
}
