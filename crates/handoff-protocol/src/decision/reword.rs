//! Rewording: what a person is shown changes, at the next version. Amending comes to it (R2), and so does a raise that
//! joins (rule K-1, case 3).

use super::{
    context::{Context, Policy},
    effects::{Effects, EventType, Rendering},
    error::DecisionError,
    request::Request,
    terms::OnExpiry,
    values,
};
use crate::json::Json;

/// Replaces the given parts of a pending request and keeps a copy of the version that goes, which somebody may have been
/// shown (rule D-8).
///
/// # Errors
///
/// [`DecisionError::InvalidRequest`] if the request's default answer could not settle what is required now.
pub(super) fn reword(
    pending: &Request,
    prompt: Option<&Json>,
    requires: Option<&Json>,
    cause: &str,
    context: &mut Context<'_>,
) -> Result<Effects, DecisionError> {
    let mut request = pending.clone();
    if let Some(prompt) = prompt {
        request.prompt = prompt.clone();
    }
    if let Some(requires) = requires {
        request.requires = requires.clone();
    }
    request.version = request.version.saturating_add(1);
    check_default_answer(&request, context.policy)?;
    let before = Rendering::of(pending, context.mint)?;
    let mut effects = Effects::of(request);
    effects.event(
        EventType::RequestAmended,
        [("cause", Json::from(cause)), ("rendering_before", Json::from(before.id.to_string()))],
    );
    effects.renderings.push(before);
    Ok(effects)
}

/// The deadline and its policy stay as they were declared first, so what they answer with must fit the newer fields.
fn check_default_answer(request: &Request, policy: &Policy) -> Result<(), DecisionError> {
    let schemas = policy.schemas.as_ref();
    let policy = request.ttl_policy.as_ref().filter(|policy| policy.on_expiry == OnExpiry::Default);
    let Some(answer) = policy.and_then(|policy| policy.default_answer.as_ref()).and_then(Json::as_object) else {
        return Ok(());
    };
    values::check(&request.requires()?, answer, schemas).map_err(|_| {
        DecisionError::invalid(
            "requires.answer",
            "must accept the default answer that the pending request was raised with; supersede that request, or cancel it \
             and raise anew",
        )
    })
}
