//! Expire (R6): nobody answered, and the declared policy decides. A person is never named (rule E-2).

use super::{
    context::Context,
    effects::{Effects, EventType, Fired, Rendering},
    error::DecisionError,
    ladder::{self, Cause},
    receipt::{Actor, Clearance, Receipt, RecordedAuthority, RecordedDecision, Rendered, Satisfied, Via},
    request::{ReceiptPointer, Request},
    signal::{Decision, Signal},
    terms::{
        ActorType, ClearanceSource, DecisionSource, Disposition, Effective, OnExpiry, ReceiptKind, RequestState,
        SignalType,
    },
    waiter::Waiter,
};
use crate::{
    chain::Head,
    json::{Json, Object},
};

/// Expires a request whose deadline passed (R6).
///
/// Under `escalate` the next rung fires and the deadline is put off; without a further rung it comes to denial (R4, rule
/// CL-6). Expiry mints no authorization. Repeating this is harmless: a request that ended is not due.
///
/// # Errors
///
/// [`DecisionError::Internal`] alone.
pub fn expire(
    request: &Request,
    waiter: &Waiter,
    head: &Head,
    context: &mut Context<'_>,
) -> Result<Fired, DecisionError> {
    let now = context.now;
    #[cfg(feature = "planted-faults")]
    if crate::planted::Fault::DeadlineNeverActs.is_planted() {
        return Ok(Fired::NotDue { again: None });
    }
    let again = request.deadline().filter(|_| !request.state.is_final());
    if again.is_none_or(|deadline| now < deadline) {
        return Ok(Fired::NotDue { again });
    }
    let declared = request.ttl_policy.as_ref();
    let escalates = declared.is_some_and(|policy| policy.on_expiry == OnExpiry::Escalate);
    let rung = request.further_rung();
    #[cfg(feature = "planted-faults")]
    let escalates = escalates && !crate::planted::Fault::DeadlineClimbsNoRung.is_planted();
    if escalates && request.routing.rung(rung).is_some() {
        return Ok(Fired::Acted(Box::new(climb(request, rung, context))));
    }
    #[cfg(feature = "planted-faults")]
    let declared = declared.filter(|_| !crate::planted::Fault::DefaultAnswerIgnored.is_planted());
    let (effective, values) = match declared.map(|policy| (policy.on_expiry, policy.default_answer.as_ref())) {
        Some((OnExpiry::Default, Some(answer))) => (Effective::Default, answer.clone()),
        Some((OnExpiry::Park, _)) => return Ok(Fired::NotDue { again: None }),
        Some((OnExpiry::Escalate | OnExpiry::ExpireAndDeny | OnExpiry::Default, _)) | None => {
            (Effective::Deny, Json::Object(Object::new()))
        }
    };
    let requires = request.requires()?;
    let rendering = Rendering::of(request, context.mint)?;
    let receipt = Receipt {
        id: context.mint.next(),
        request_id: request.id,
        org_id: request.org_id,
        kind: ReceiptKind::Policy,
        corrects: None,
        decision: RecordedDecision {
            values: values.clone(),
            disposition: Disposition::Decide,
            note: Some("no answer within the declared time".to_owned()),
            delegated_to: request.progress.delegated_to.clone(),
            effective: Some(effective),
        },
        actor: Actor {
            actor_type: ActorType::Policy,
            principal_id: None,
            display: Some("expiry policy".to_owned()),
            role_at_decision: None,
            auth_strength: None,
            reauth_at: None,
            mfa_at: None,
            ip_digest: None,
            user_agent_digest: None,
            on_behalf_of: None,
        },
        decided_at: now,
        attempt_id: None,
        request_version: request.version,
        request_digest: request.request_digest().map_err(|_| DecisionError::Internal)?,
        rendered: Rendered {
            digest: rendering.digest,
            reference: Some(rendering.id),
            binding: request.presentation_binding,
            diverged: false,
        },
        via: Via::default(),
        authority: RecordedAuthority {
            required: requires.authority,
            satisfied: Satisfied::None,
            endorsements: Vec::new(),
        },
        steps: request.progress.recorded_steps(),
        capabilities_exercised: context.capabilities.exercised(now),
        clearance: Clearance { source: ClearanceSource::Timeout, actor: None, at: now },
        waiter_state_at_decision: request.waiter.state.at_decision(),
    };
    #[cfg(feature = "planted-faults")]
    let receipt = super::planted::embellished(receipt);
    let sealed = receipt.seal(head).map_err(|_| DecisionError::Internal)?;
    let mut next = request.clone();
    let mut waiter = waiter.clone();
    let decision = Decision {
        values,
        effective: Some(effective),
        receipt_id: Some(receipt.id),
        ..Decision::bare(RequestState::Expired, DecisionSource::Policy)
    };
    let signal = Signal::enqueue(&next, &mut waiter, SignalType::Expired, Some(decision), context.mint, now);
    next.settle(RequestState::Expired, SignalType::Expired, now);
    next.receipt = Some(ReceiptPointer { id: sealed.id, height: sealed.link.height });
    let mut effects = Effects::of(next);
    effects.event(
        EventType::RequestExpired,
        [
            ("effective", Json::from(effective.as_str())),
            ("receipt_id", Json::from(receipt.id.to_string())),
            ("signal_id", Json::from(signal.id.to_string())),
        ],
    );
    effects.clear_attempt();
    effects.close_capabilities(context.capabilities, now);
    effects.waiter = Some(waiter);
    effects.receipt = Some(sealed);
    effects.signals.push(signal);
    effects.renderings.push(rendering);
    #[cfg(feature = "planted-faults")]
    super::planted::authorize(&mut effects, context);
    #[cfg(feature = "planted-faults")]
    super::planted::signal_twice(&mut effects, context.mint);
    #[cfg(feature = "planted-faults")]
    if crate::planted::Fault::ReceiptOfExpiryMissing.is_planted() {
        (effects.receipt, effects.request.receipt) = (None, None);
    }
    Ok(Fired::Acted(Box::new(effects)))
}

/// Fires the next rung at the deadline, and puts that off (R4).
fn climb(request: &Request, rung: u32, context: &mut Context<'_>) -> Effects {
    let mut next = request.clone();
    let fired = ladder::fire(&mut next, rung, context);
    let deadline = ladder::put_off_deadline(&mut next, context);
    let mut effects = Effects::of(next);
    effects.escalated(fired, Cause::Deadline);
    effects.timers.extend(deadline);
    effects
}
