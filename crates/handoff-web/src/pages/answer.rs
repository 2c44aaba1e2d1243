//! Answering by form (section 8): the engine decides, this says in words what it decided.

use axum::{
    body::Bytes,
    extract::{
        Path, State,
        rejection::{BytesRejection, PathRejection},
    },
    http::{HeaderMap, StatusCode},
    response::Response,
};
use handoff_protocol::{
    decision::{DecisionError, Lacking, Receipt, idempotency::IdempotencyKey, terms::RequestState, view::RequestView},
    id::RequestId,
    json::from_json,
    principal::AuthStrength,
};

use super::{
    not_ours, read_form,
    request::{self, Occasion},
};
use crate::{
    answer_form::Faulty,
    form::Form,
    origin, page,
    reader::Reader,
    session::Visitor,
    site::Site,
    submission, visible,
    when::When,
    words::{Saying, fill},
};

/// `POST /requests/{id}`.
pub(crate) async fn submit(
    State(site): State<Site>,
    reader: Reader,
    path: Result<Path<String>, PathRejection>,
    headers: HeaderMap,
    body: Result<Bytes, BytesRejection>,
) -> Response {
    let visitor = match Visitor::find(&site, &headers).await {
        Ok(Some(visitor)) => visitor,
        Ok(None) if reader.has_two_sessions => return page::sign_in(&reader),
        Ok(None) => {
            // What was written goes back to whoever sent it, from our own pages alone: no other site puts words on them.
            let form = Some(()).filter(|()| origin::is_ours(&site, &headers));
            let form = form.and_then(|()| read_form(&reader, &headers, body, None).ok()).unwrap_or_default();
            let (saying, written) = (reader.words.sign_in_again, submission::written(&form));
            return page::give_back(&reader, StatusCode::UNAUTHORIZED, saying, None, written);
        }
        Err(error) => return page::refuse(&reader, &error, None),
    };
    if !origin::is_ours(&site, &headers) {
        return not_ours(&reader, Some(&visitor));
    }
    let form = match read_form(&reader, &headers, body, Some(&visitor)) {
        Ok(form) => form,
        Err(refusal) => return *refusal,
    };
    if !visitor.made_form(form.get("csrf")) {
        return not_ours(&reader, Some(&visitor));
    }
    let loaded = match request::load(&site, &visitor, path).await {
        Ok(loaded) => loaded,
        Err(error) => return page::refuse(&reader, &error, Some(&visitor)),
    };
    // Without its nonce a second press would be a second answer.
    let Some(Ok(key)) = form.get("nonce").map(IdempotencyKey::parse) else {
        return page::say(&reader, StatusCode::BAD_REQUEST, reader.words.form_malformed, Some(&visitor));
    };
    let id = loaded.view.id;
    // What a form of an earlier version holds was for other fields; the engine refuses it as stale.
    let is_current = form.get("rendered_digest") == Some(loaded.view.rendered_digest.to_string().as_str());
    if is_current && submission::is_ambiguous(&form, &loaded.requires) {
        return page::say(&reader, StatusCode::BAD_REQUEST, reader.words.form_malformed, Some(&visitor));
    }
    let answer = submission::answer(&form, &loaded.requires);
    match site.engine.answer_as_shown(&visitor.principal, id, answer, Some(&key)).await {
        Ok(_) => page::see_other(&format!("/requests/{id}")),
        Err(error) => explain(&site, &reader, &visitor, id, &form, &error).await,
    }
}

/// Shows the request as it stands now, which may not be as it stood when the answer was sent, and what is wrong.
async fn explain(
    site: &Site,
    reader: &Reader,
    visitor: &Visitor,
    id: RequestId,
    form: &Form,
    error: &DecisionError,
) -> Response {
    let words = reader.words;
    if matches!(error, DecisionError::Internal) {
        // Perhaps it was recorded all the same; only sending it again tells.
        return page::refuse(reader, error, Some(visitor));
    }
    let loaded = match request::load_by_id(site, visitor, id).await {
        Ok(loaded) => loaded,
        Err(error) => return page::refuse(reader, &error, Some(visitor)),
    };
    // Whatever else is wrong with it, an answer to a request that ended is too late.
    if let Some((saying, detail)) = too_late(reader, visitor, &loaded.view) {
        let occasion = Occasion::Refused { saying, detail, written: submission::written(form) };
        return request::respond(StatusCode::CONFLICT, site, reader, visitor, loaded, &occasion).await;
    }
    // It may have changed since the engine looked at the answer; then that is said along with what was wrong with it.
    let is_stale = form.get("rendered_digest") != Some(loaded.view.rendered_digest.to_string().as_str());
    let faults = submission::faults(form, &loaded.requires, error.fields(), site.engine.policy().schemas.as_ref());
    let faulty = Faulty { form, fields: &faults, note_too_long: false, is_stale };
    let (status, occasion) = match error {
        // What was made of the values of another question is not held against this one's.
        DecisionError::PresentationStale { .. } => {
            (StatusCode::CONFLICT, Occasion::Faulty(Faulty { fields: &[], is_stale: true, ..faulty }))
        }
        DecisionError::AnswerValidationFailed { .. } => (StatusCode::UNPROCESSABLE_ENTITY, Occasion::Faulty(faulty)),
        DecisionError::InvalidRequest(fault) if fault.path == "note" => {
            (StatusCode::UNPROCESSABLE_ENTITY, Occasion::Faulty(Faulty { note_too_long: true, ..faulty }))
        }
        DecisionError::InsufficientAuthority { lacking, .. } => {
            let detail = Some(words.lacking(*lacking));
            (
                StatusCode::FORBIDDEN,
                Occasion::Refused {
                    saying: words.answered_without(*lacking),
                    detail,
                    written: submission::written(form),
                },
            )
        }
        DecisionError::AuthStrengthNotPermitted { .. } => {
            let detail = Some(words.lacking(Lacking::Strength(AuthStrength::Session)));
            (
                StatusCode::FORBIDDEN,
                Occasion::Refused { saying: words.not_enough_authority, detail, written: submission::written(form) },
            )
        }
        other => return page::refuse(reader, other, Some(visitor)),
    };
    request::respond(status, site, reader, visitor, loaded, &occasion).await
}

/// What to say to somebody whose answer came after the end; nothing while the request is pending.
fn too_late(reader: &Reader, visitor: &Visitor, view: &RequestView) -> Option<(Saying, Option<String>)> {
    let words = reader.words;
    let receipt: Option<Receipt> = view.receipt.clone().and_then(|sealed| from_json(sealed).ok());
    Some(match view.state {
        RequestState::Pending => return None,
        RequestState::Answered => {
            let decider = receipt.as_ref().and_then(|receipt| receipt.actor.principal_id);
            if decider.is_some() && decider == visitor.principal.id() {
                return Some((words.too_late_yours, None));
            }
            let who = receipt.as_ref().and_then(|receipt| receipt.actor.display.as_deref()).map(visible::line);
            let at = receipt.map(|receipt| When::new(reader, receipt.decided_at).text);
            let detail = who.zip(at).map(|(who, at)| fill(words.answered_by, &[&who, &at]));
            (words.too_late_others, detail)
        }
        RequestState::Expired => {
            let at = receipt.map(|receipt| receipt.decided_at).or(view.expires_at);
            let at = at.map(|at| When::new(reader, at).text);
            (words.too_late_expired, at.map(|at| fill(words.lapsed_nothing_done, &[&at])))
        }
        RequestState::Cancelled => (words.too_late_cancelled, reason(reader, view)),
        RequestState::Superseded => (words.too_late_superseded, None),
    })
}

/// The reason that was given for withdrawing a request.
pub(super) fn reason(reader: &Reader, view: &RequestView) -> Option<String> {
    let reason = view.cancel_reason.as_deref().filter(|reason| !reason.trim().is_empty())?;
    Some(fill(reader.words.reason_given, &[&visible::lines(reason)]))
}
