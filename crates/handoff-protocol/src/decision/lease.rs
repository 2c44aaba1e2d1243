//! Leases (W6, W7, X-10): a waiter that shows that it lives, one that fell silent, and one that came back.

use super::{
    cancel::withdraw,
    context::Context,
    effects::{Effects, EventType},
    error::{DecisionError, MissingScope},
    limits,
    request::Request,
    terms::{Liveness, RequestState, WaiterState, WaiterTerminal},
    waiter::Waiter,
};
use crate::{duration::ExactDuration, json::Json, principal::Principal, timestamp::Timestamp};

/// What a sign of life asks of whoever saw it. Signs come with every poll, so most of them are only remembered.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum SignOfLife {
    /// Nothing waits on a lease here.
    Ignore,
    /// A recent one is written: remember this one, and write it at this time unless a later one took its place.
    Remember {
        /// The earliest time to write.
        until: Timestamp,
    },
    /// Write it now.
    Write,
}

/// Why a waiter is given up.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum WaiterLoss {
    /// It was silent for longer than its lease.
    Silent,
    /// Its runtime said that it ended.
    Reported,
}

/// What to do about a sign of life of a waiter: one write in half a minute says enough (rule X-10).
#[must_use]
pub fn sign_of_life(waiter: &Waiter, now: Timestamp) -> SignOfLife {
    if waiter.orphaned {
        return SignOfLife::Write;
    }
    match waiter.seen_at.map(write_again) {
        None => SignOfLife::Ignore,
        Some(until) if now < until => SignOfLife::Remember { until },
        Some(_) => SignOfLife::Write,
    }
}

/// The waiter after a sign of life at a time, and after its orphans were taken up again.
#[must_use]
pub fn seen(waiter: &Waiter, at: Timestamp) -> Waiter {
    Waiter { seen_at: waiter.seen_at.max(Some(at)), orphaned: false, ..waiter.clone() }
}

/// The waiter once nothing leased waits under it any more.
#[must_use]
pub fn released(waiter: &Waiter) -> Waiter {
    Waiter { seen_at: None, ..waiter.clone() }
}

/// The waiter once it is given up (W6).
#[must_use]
pub fn lost(waiter: &Waiter) -> Waiter {
    Waiter { orphaned: true, ..waiter.clone() }
}

/// When the next sign of life is worth a write, after one was written.
#[must_use]
pub fn write_again(seen_at: Timestamp) -> Timestamp {
    seen_at.saturating_add(ExactDuration::from_seconds(limits::LEASE_WRITE_SECONDS))
}

/// When a lease that was last renewed at a time runs out.
#[must_use]
pub fn lease_end(seen_at: Timestamp) -> Timestamp {
    seen_at.saturating_add(ExactDuration::from_seconds(limits::LEASE_SECONDS))
}

/// When the lease of a waiter runs out, for a server that has been listening since a time: silence that nobody could
/// have heard is not held against it.
#[must_use]
pub fn lease_ends(waiter: &Waiter, listening_since: Timestamp) -> Option<Timestamp> {
    waiter.seen_at.map(|seen_at| lease_end(seen_at.max(listening_since)))
}

/// Gives up the waiter of a request (W6): the request is kept, answerable still, or cancelled, as it declared. Nothing
/// follows for a request that ended, for one that was given up already, and for a durable one whose waiter is only
/// silent.
pub fn orphan(request: &Request, waiter: &Waiter, loss: WaiterLoss, context: &mut Context<'_>) -> Option<Effects> {
    let is_waiting = request.state == RequestState::Pending && request.waiter.state != WaiterState::Orphaned;
    let may_be_silent = request.liveness == Liveness::Durable && loss == WaiterLoss::Silent;
    if !is_waiting || may_be_silent {
        return None;
    }
    let reason = match loss {
        WaiterLoss::Silent => "the program that asked stopped showing that it waits",
        WaiterLoss::Reported => "the program that asked has ended",
    };
    if request.on_waiter_terminal == WaiterTerminal::Cancel {
        return Some(withdraw(request, waiter, reason, [("cause", Json::from(loss.as_str()))], context));
    }
    let mut next = request.clone();
    next.waiter.state = WaiterState::Orphaned;
    let mut effects = Effects::of(next);
    effects.event(EventType::WaiterOrphaned, [("cause", Json::from(loss.as_str()))]);
    Some(effects)
}

/// Takes an orphaned request up again (W7): nothing was lost. Nothing follows for any other.
#[must_use]
pub fn rearm(request: &Request) -> Option<Effects> {
    if request.state != RequestState::Pending || request.waiter.state != WaiterState::Orphaned {
        return None;
    }
    #[cfg(feature = "planted-faults")]
    if crate::planted::Fault::OrphansStayOrphans.is_planted() {
        return None;
    }
    let mut next = request.clone();
    next.waiter.state = if next.waiter.unacked == 0 { WaiterState::Armed } else { WaiterState::Signalled };
    let mut effects = Effects::of(next);
    effects.event(EventType::WaiterRearmed, []);
    Some(effects)
}

/// Checks that the principal raised under the waiter, and so may say that it ended.
///
/// # Errors
///
/// [`DecisionError::InsufficientScope`].
pub fn check_waiter_owner(waiter: &Waiter, principal: &Principal) -> Result<(), DecisionError> {
    if principal.id().is_some_and(|id| waiter.is_owned_by(id)) {
        return Ok(());
    }
    Err(DecisionError::InsufficientScope(MissingScope::WaiterOwnerOnly))
}

impl WaiterLoss {
    /// The code that events give.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Silent => "waiter_silent",
            Self::Reported => "waiter_reported",
        }
    }
}
