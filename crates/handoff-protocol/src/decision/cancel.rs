//! Cancel (R7): the owner withdraws the question.

use super::{
    body,
    context::{Context, check_machine},
    effects::{Effects, EventType},
    error::DecisionError,
    limits,
    owner::check_owner,
    request::Request,
    signal::{Decision, Signal},
    terms::{DecisionSource, RequestState, SignalType},
    waiter::Waiter,
};
use crate::{
    digest::Digest,
    json::{Json, ObjectReader},
    principal::{Principal, Scope},
};

/// A cancellation that can be carried out.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Cancel {
    digest: Digest,
    reason: String,
}

impl Cancel {
    /// Reads the body of a cancellation by a principal.
    ///
    /// # Errors
    ///
    /// [`DecisionError::InsufficientScope`], then [`DecisionError::InvalidRequest`].
    pub fn read(principal: &Principal, mut body: Json) -> Result<Self, DecisionError> {
        check_machine(principal, Scope::RequestsWrite)?;
        let reader = ObjectReader::new(&body, "")?;
        let reason = reader.text("reason", 1, limits::REASON_CHARS)?.to_owned();
        reader.finish()?;
        let digest = body::digest(&mut body)?;
        Ok(Self { digest, reason })
    }

    /// What a repeat under the same idempotency key must equal (rule K-5).
    #[must_use]
    pub fn digest(&self) -> Digest {
        self.digest
    }
}

/// Cancels a pending request (R7). A person's answer that landed first stands (R11).
///
/// # Errors
///
/// [`DecisionError::InsufficientScope`] for whoever never raised under the request's waiter, then the settled conflict
/// of a request that ended.
pub fn cancel(
    pending: &Request,
    cancel: &Cancel,
    principal: &Principal,
    waiter: &Waiter,
    context: &mut Context<'_>,
) -> Result<Effects, DecisionError> {
    check_owner(pending, principal, waiter)?;
    #[cfg(feature = "planted-faults")]
    let pending = &super::planted::overlooking_the_answer(crate::planted::Fault::CancelBeatsAnAnswer, pending);
    pending.check_pending()?;
    Ok(withdraw(pending, waiter, &cancel.reason, [], context))
}

/// Ends a pending request without an outcome, whoever had a reason to (R7).
pub(super) fn withdraw<const N: usize>(
    pending: &Request,
    waiter: &Waiter,
    reason: &str,
    more: [(&str, Json); N],
    context: &mut Context<'_>,
) -> Effects {
    let now = context.now;
    let mut request = pending.clone();
    let mut waiter = waiter.clone();
    let decision = Decision::bare(RequestState::Cancelled, DecisionSource::Policy);
    let signal = Signal::enqueue(&request, &mut waiter, SignalType::Cancelled, Some(decision), context.mint, now);
    request.settle(RequestState::Cancelled, SignalType::Cancelled, now);
    request.cancel_reason = Some(reason.to_owned());
    let mut effects = Effects::of(request);
    let of_signal = [("signal_id", Json::from(signal.id.to_string()))];
    effects.event(EventType::RequestCancelled, of_signal.into_iter().chain(more));
    effects.clear_timers();
    effects.close_capabilities(context.capabilities, now);
    effects.waiter = Some(waiter);
    effects.signals.push(signal);
    #[cfg(feature = "planted-faults")]
    super::planted::signal_twice(&mut effects, context.mint);
    #[cfg(feature = "planted-faults")]
    if crate::planted::Fault::SignalOfCancelMissing.is_planted() {
        effects.signals.clear();
    }
    #[cfg(feature = "planted-faults")]
    if crate::planted::Fault::CancelTellsOfAnAnswer.is_planted() {
        effects.event(EventType::RequestAnswered, []);
    }
    effects
}
