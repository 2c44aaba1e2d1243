//! A partial answer (R12, rule S-3): some of the fields now, the rest later, by this person or another.

use super::{
    answer::{Answer, act_through},
    attempt::rearm,
    context::Context,
    effects::{Effects, EventType, Rendering},
    error::DecisionError,
    field::{Field, FieldKind},
    limits,
    progress::{Contributor, Step},
    receipt::ReceiptStep,
    request::Request,
    requires::Requires,
    values,
};
use crate::{
    id::DeliveryId,
    json::{Json, Object},
    principal::Principal,
    timestamp::Timestamp,
};

/// Records a step of a request that stays pending. Only what was submitted is judged; what is served from now on asks for
/// the rest, at the next version, and the attempt's window begins afresh (rule CL-1). Nobody is signalled.
///
/// # Errors
///
/// [`DecisionError::AnswerValidationFailed`] with every faulty field; [`DecisionError::InvalidRequest`] for a step that
/// gives nothing and for one too many.
pub(super) fn record(
    pending: &Request,
    answer: &Answer,
    requires: &Requires,
    principal: &Principal,
    context: &mut Context<'_>,
) -> Result<Effects, DecisionError> {
    values::check_submitted(requires, &answer.values, context.policy.schemas.as_ref())
        .map_err(|fields| DecisionError::AnswerValidationFailed { request_id: Some(pending.id), fields })?;
    if answer.values.iter().all(|(_, value)| value.is_null()) {
        return Err(DecisionError::invalid("values", "must give at least one field in a partial answer"));
    }
    if pending.progress.steps.len() >= limits::STEPS {
        return Err(DecisionError::invalid(
            "partial",
            format!("must be false by now: {} steps were recorded; give all that is left at once", limits::STEPS),
        ));
    }
    let now = context.now;
    let before = Rendering::of(pending, context.mint)?;
    let mut request = pending.clone();
    let via = act_through(&mut request, answer, principal, context);
    let step = step(pending, answer, requires, via.delivery_id, now);
    let declared = pending.declared().clone();
    request.progress.given = pending.progress.merged(&answer.values);
    request.requires = without(declared.clone(), &request.progress.given);
    request.progress.declared = Some(declared);
    request.progress.steps.push(Step { recorded: step.clone(), by: Contributor::new(principal) });
    request.version = request.version.saturating_add(1);
    let window = rearm(&mut request, None, now);
    let mut effects = Effects::of(request);
    effects.event(
        EventType::RequestStepRecorded,
        [
            ("n", Json::from(step.n)),
            ("principal_id", principal.id().map(|id| id.to_string()).into()),
            ("delivery_id", step.via_delivery_id.map(|id| id.to_string()).into()),
            ("rendering_before", Json::from(before.id.to_string())),
        ],
    );
    effects.timers.push(window);
    effects.renew_grants(context.capabilities, now);
    effects.renderings.push(before);
    Ok(effects)
}

/// What the receipt says of an answer as a step: the names of what it gave, never the values.
pub(super) fn step(
    pending: &Request,
    answer: &Answer,
    requires: &Requires,
    via: Option<DeliveryId>,
    now: Timestamp,
) -> ReceiptStep {
    let given = |field: &&Field| answer.values.get(&field.name).is_some_and(|value| !value.is_null());
    let named = |field: &Field| field.name.clone();
    let fields = || requires.fields.iter().filter(given);
    ReceiptStep {
        n: pending.progress.next_step(),
        at: now,
        fields_provided: fields().map(named).collect(),
        secret_fields: fields().filter(|field| is_secret(&field.kind)).map(named).collect(),
        via_delivery_id: via,
    }
}

/// Whether what is given to such a field is known by its name alone.
const fn is_secret(kind: &FieldKind) -> bool {
    match kind {
        FieldKind::Secret => true,
        FieldKind::Choice { .. }
        | FieldKind::Text { .. }
        | FieldKind::Number { .. }
        | FieldKind::Boolean
        | FieldKind::Attestation
        | FieldKind::Document { .. }
        | FieldKind::FileRef => false,
    }
}

/// The declaration without the fields that were given; null gave nothing.
fn without(mut declared: Json, given: &Object) -> Json {
    let answer = declared.as_object_mut().and_then(|members| members.get_mut("answer"));
    if let Some(Json::Array(fields)) = answer.and_then(Json::as_object_mut).and_then(|answer| answer.get_mut("fields"))
    {
        let is_open = |field: &Json| {
            let name = field.get("name").and_then(Json::as_str);
            name.and_then(|name| given.get(name)).is_none_or(Json::is_null)
        };
        fields.retain(is_open);
    }
    declared
}
