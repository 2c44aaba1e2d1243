//! Attempts (CL-1, CL-2, R3): a window in which somebody is at it, and the one nudge when it lapses.

use super::{
    body,
    context::{Context, check_scope},
    effects::{Effects, EventType, Fired, TimerChange},
    error::DecisionError,
    owner::check_test_key,
    request::Request,
    signal::Signal,
    terms::{RequestState, SignalType, UrgencyState, WaiterState},
    waiter::Waiter,
};
use crate::{
    digest::Digest,
    duration::ExactDuration,
    json::{Json, ObjectReader},
    principal::{Principal, Scope},
    timestamp::Timestamp,
};

/// The arming of an attempt that can be carried out.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Arm {
    digest: Digest,
    ttl: Option<ExactDuration>,
}

impl Arm {
    /// Reads the body of an arming by a principal; an empty one arms the declared window.
    ///
    /// # Errors
    ///
    /// [`DecisionError::InsufficientScope`], then [`DecisionError::InvalidRequest`].
    pub fn read(principal: &Principal, mut body: Json) -> Result<Self, DecisionError> {
        check_scope(principal, Scope::RequestsWrite)?;
        let reader = ObjectReader::new(&body, "")?;
        let ttl = super::raise::duration(&reader, "ttl")?;
        reader.finish()?;
        let digest = body::digest(&mut body)?;
        Ok(Self { digest, ttl })
    }

    /// What a repeat under the same idempotency key must equal (rule K-5).
    #[must_use]
    pub fn digest(&self) -> Digest {
        self.digest
    }
}

/// Arms a full fresh window, whatever was left of the one before (CL-1).
///
/// # Errors
///
/// [`DecisionError::InsufficientScope`] for a test key on what is no test; the settled conflict of a request that ended.
pub fn arm(
    pending: &Request,
    arm: &Arm,
    principal: &Principal,
    context: &Context<'_>,
) -> Result<Effects, DecisionError> {
    check_test_key(principal, pending.test_mode)?;
    pending.check_pending()?;
    let mut request = pending.clone();
    let window = rearm(&mut request, arm.ttl, context.now);
    let mut effects = Effects::of(request);
    effects.event(EventType::AttemptArmed, []);
    effects.timers.push(window);
    effects.renew_grants(context.capabilities, context.now);
    Ok(effects)
}

/// Begins a full fresh window, of the declared length unless another is given.
pub(super) fn rearm(request: &mut Request, ttl: Option<ExactDuration>, now: Timestamp) -> TimerChange {
    let lapses_at = now.saturating_add(ttl.unwrap_or(request.attempt_ttl));
    #[cfg(feature = "planted-faults")]
    let lapses_at = match request.attempt_expires_at {
        Some(standing) if crate::planted::Fault::ArmingKeepsTheOldWindow.is_planted() => standing,
        _ => lapses_at,
    };
    request.attempt_expires_at = Some(lapses_at);
    request.attempt_notified = false;
    request.urgency_state = UrgencyState::Attention;
    TimerChange::SetAttempt(lapses_at)
}

/// Tells the waiter that a window lapsed: once a window, and it changes urgency only (R3, CL-2).
///
/// # Errors
///
/// [`DecisionError::Internal`] alone.
pub fn lapse(request: &Request, waiter: &Waiter, context: &mut Context<'_>) -> Result<Fired, DecisionError> {
    let now = context.now;
    let waiting = request.state == RequestState::Pending && !request.attempt_notified;
    let again = request.attempt_expires_at.filter(|_| waiting);
    if again.is_none_or(|lapses_at| now < lapses_at) {
        return Ok(Fired::NotDue { again });
    }
    #[cfg(feature = "planted-faults")]
    if crate::planted::Fault::LapseSettles.is_planted() {
        let withdrawn = super::cancel::withdraw(request, waiter, "the attempt lapsed", [], context);
        return Ok(Fired::Acted(Box::new(withdrawn)));
    }
    let mut next = request.clone();
    let mut waiter = waiter.clone();
    let signal = Signal::enqueue(&next, &mut waiter, SignalType::AttemptLapsed, None, context.mint, now);
    next.attempt_notified = true;
    next.urgency_state = UrgencyState::Waiting;
    next.waiter.unacked = next.waiter.unacked.saturating_add(1);
    if next.waiter.state != WaiterState::Orphaned {
        next.waiter.state = WaiterState::Signalled;
    }
    let mut effects = Effects::of(next);
    effects.event(EventType::AttemptLapsed, [("signal_id", Json::from(signal.id.to_string()))]);
    effects.waiter = Some(waiter);
    effects.signals.push(signal);
    #[cfg(feature = "planted-faults")]
    super::planted::lapse_again(&mut effects, now);
    Ok(Fired::Acted(Box::new(effects)))
}
