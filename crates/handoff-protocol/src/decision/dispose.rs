//! Dispositions that decide nothing (R13, rule S-2): a person passes a request on, or says that they are unable.

use super::{
    answer::Answer,
    context::Context,
    effects::{Effects, EventType},
    error::{DecisionError, MissingScope},
    known::check_target,
    limits,
    progress::{Contributor, RecordedDisposition},
    reach::reach,
    request::Request,
    target::Target,
    terms::Disposition,
};
use crate::{json::Json, principal::Principal};

/// Records that a person passed the request on. Whom it was passed to may answer now as well (rule A-4), and is reached.
/// The request stays as it is: nothing is decided, and nobody is signalled. What values came along are not kept.
///
/// # Errors
///
/// [`DecisionError::InsufficientScope`] for a link, which may only answer; [`DecisionError::InvalidRequest`] for a
/// target that can mean nobody, once the request was passed on to too many, and while there is no room for more
/// deliveries.
pub(super) fn delegate(
    pending: &Request,
    answer: &Answer,
    to: &Target,
    principal: &Principal,
    context: &mut Context<'_>,
) -> Result<Effects, DecisionError> {
    if principal.id().is_none() {
        return Err(DecisionError::InsufficientScope(MissingScope::NotForLinks));
    }
    check_target(to, &context.policy.directory, "delegate_to")?;
    let mut request = pending.clone();
    if !request.let_answer(to) {
        return Err(DecisionError::invalid(
            "delegate_to",
            format!(
                "must name one of those it was passed on to already: {} are as many as one request can have",
                limits::ASSIGNEES
            ),
        ));
    }
    let delivery_id = reach(&mut request, to, "delegate_to", context)?;
    request.progress.delegated_to = Some(to.clone());
    let passed_on = RecordedDisposition {
        delegate_to: Some(to.clone()),
        delivery_id,
        ..disposition(&request, Disposition::Delegate, answer, principal, context)
    };
    Ok(recorded(request, passed_on))
}

/// Records that a person is unable to answer. The request stays as it is, for others or for another time.
pub(super) fn unable(pending: &Request, answer: &Answer, principal: &Principal, context: &Context<'_>) -> Effects {
    recorded(pending.clone(), disposition(pending, Disposition::Unable, answer, principal, context))
}

fn disposition(
    request: &Request,
    disposition: Disposition,
    answer: &Answer,
    principal: &Principal,
    context: &Context<'_>,
) -> RecordedDisposition {
    RecordedDisposition {
        request_id: request.id,
        n: request.progress.dispositions.saturating_add(1),
        disposition,
        by: Contributor::new(principal),
        note: answer.note.clone(),
        delegate_to: None,
        delivery_id: None,
        at: context.now,
    }
}

fn recorded(mut request: Request, disposition: RecordedDisposition) -> Effects {
    request.progress.dispositions = disposition.n;
    let mut effects = Effects::of(request);
    effects.event(
        EventType::RequestDispositionRecorded,
        [
            ("n", Json::from(disposition.n)),
            ("disposition", Json::from(disposition.disposition.as_str())),
            ("principal_id", disposition.by.principal_id.map(|id| id.to_string()).into()),
            ("delivery_id", disposition.delivery_id.map(|id| id.to_string()).into()),
        ],
    );
    effects.disposition = Some(disposition);
    effects
}
