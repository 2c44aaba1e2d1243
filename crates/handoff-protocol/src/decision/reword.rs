//! Rewording: what a person is shown changes, at the next version. Amending comes to it (R2), and so does a raise that
//! joins (rule K-1, case 3).

use super::{
    capability::{Declared, granted},
    context::{Context, Policy},
    effects::{Effects, EventType, Rendering},
    error::DecisionError,
    known::check_assignees,
    request::Request,
    requires::Requires,
    terms::OnExpiry,
    values,
};
use crate::json::Json;

/// Replaces the given parts of a pending request and keeps a copy of the version that goes, which somebody may have been
/// shown (rule D-8).
///
/// # Errors
///
/// [`DecisionError::InvalidRequest`] if the request's default answer could not settle what is required now, or if a
/// capability goes beyond what the tenant's policy accepts.
pub(super) fn reword(
    pending: &Request,
    prompt: Option<&Json>,
    declared: Option<&Declared>,
    cause: &str,
    context: &mut Context<'_>,
) -> Result<Effects, DecisionError> {
    let mut request = pending.clone();
    if let Some(prompt) = prompt {
        request.prompt = prompt.clone();
    }
    let there = &context.capabilities.grants;
    let limits = pending.terms.as_ref().map(|terms| terms.capabilities.clone()).unwrap_or_default();
    if let Some(declared) = declared {
        check_assignees(&Requires::read(&declared.json)?, &context.policy.directory)?;
    }
    let granted = declared
        .map(|declared| granted(declared, there, pending.id, pending.attempt_ttl, &limits, context))
        .transpose()?;
    let (mut minted, mut dropped) = (Vec::new(), Vec::new());
    if let Some(granted) = granted {
        dropped.extend(there.iter().filter(|grant| !granted.open.contains(&grant.handle)));
        request.granted |= !granted.open.is_empty();
        request.open_grants = granted.open;
        request.requires = granted.requires;
        request.asked_secret |= request.requires()?.has_secrets();
        minted = granted.minted;
    }
    request.version = request.version.saturating_add(1);
    #[cfg(feature = "planted-faults")]
    if crate::planted::Fault::VersionNotCounted.is_planted() {
        request.version = pending.version;
    }
    check_default_answer(&request, context.policy)?;
    let before = Rendering::of(pending, context.mint)?;
    let mut effects = Effects::of(request);
    effects.grants = minted;
    for grant in dropped {
        effects.revoke_grant(grant, context.capabilities, None, cause, context.now);
    }
    effects.event(
        EventType::RequestAmended,
        [("cause", Json::from(cause)), ("rendering_before", Json::from(before.id.to_string()))],
    );
    effects.renderings.push(before);
    Ok(effects)
}

/// The deadline and its policy stay as they were declared first, so what they answer with must fit the newer fields; and
/// one that is never used must hold no secret all the same.
fn check_default_answer(request: &Request, policy: &Policy) -> Result<(), DecisionError> {
    let schemas = policy.schemas.as_ref();
    let policy = request.ttl_policy.as_ref();
    let Some(answer) = policy.and_then(|policy| policy.default_answer.as_ref()).and_then(Json::as_object) else {
        return Ok(());
    };
    let requires = request.requires()?;
    let fits = match policy.map(|policy| policy.on_expiry) {
        Some(OnExpiry::Default) => values::check(&requires, answer, schemas).is_ok(),
        _ => values::raw_secrets(&requires, answer).is_empty(),
    };
    fits.then_some(()).ok_or_else(|| {
        DecisionError::invalid(
            "requires.answer",
            "must accept the default answer that the pending request was raised with; supersede that request, or cancel it \
             and raise anew",
        )
    })
}
