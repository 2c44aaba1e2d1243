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
    decision::{
        DecisionError, Lacking, Receipt, idempotency::IdempotencyKey, terms::RequestState, values, view::RequestView,
    },
    id::RequestId,
    json::{Json, from_json},
    principal::AuthStrength,
};

use super::{
    not_ours, read_form,
    request::{self, LoadedRequest, Occasion},
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

/// What came with a form, once everything about it was checked that is about no question.
pub(super) struct Sent {
    pub(super) visitor: Visitor,
    pub(super) form: Form,
    pub(super) loaded: LoadedRequest,
    pub(super) key: IdempotencyKey,
}

/// What somebody meant to do with a form.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Act {
    /// To answer, in whole or in part.
    Answer,
    /// To do something besides.
    Besides,
}

/// `POST /requests/{id}`.
pub(crate) async fn submit(
    State(site): State<Site>,
    reader: Reader,
    path: Result<Path<String>, PathRejection>,
    headers: HeaderMap,
    body: Result<Bytes, BytesRejection>,
) -> Response {
    let Sent { visitor, form, loaded, key } = match receive(&site, &reader, path, &headers, body).await {
        Ok(sent) => sent,
        Err(refusal) => return *refusal,
    };
    let id = loaded.view.id;
    // What a form of an earlier version holds was for other fields; the engine refuses it as stale.
    let is_current = form.get("rendered_digest") == Some(loaded.view.rendered_digest.to_string().as_str());
    if is_current && submission::is_ambiguous(&form, &loaded.requires) {
        return page::say(&reader, StatusCode::BAD_REQUEST, reader.words.form_malformed, Some(&visitor));
    }
    // Over the whole declaration: pressing twice is the same part also once its fields are not asked for any more.
    let answer = submission::answer(&form, &loaded.whole);
    if let Err(error) = hand_over(&site, &visitor, &form, &loaded, &answer, &key).await {
        return explain(&site, &reader, &visitor, id, &form, Act::Answer, &error).await;
    }
    match site.engine.answer_as_shown(&visitor.principal, id, answer, Some(&key)).await {
        Ok(_) => page::see_other(&format!("/requests/{id}")),
        Err(error) => explain(&site, &reader, &visitor, id, &form, Act::Answer, &error).await,
    }
}

/// Takes a form in: who sent it, from where, for which request, and what a second press of its button is known by.
pub(super) async fn receive(
    site: &Site,
    reader: &Reader,
    path: Result<Path<String>, PathRejection>,
    headers: &HeaderMap,
    body: Result<Bytes, BytesRejection>,
) -> Result<Sent, Box<Response>> {
    let visitor = match Visitor::find(site, headers).await {
        Ok(Some(visitor)) => visitor,
        Ok(None) if reader.has_two_sessions => return Err(Box::new(page::sign_in(reader))),
        Ok(None) => {
            // What was written goes back to whoever sent it, from our own pages alone: no other site puts words on them.
            let form = Some(()).filter(|()| origin::is_ours(site, headers));
            let form = form.and_then(|()| read_form(reader, headers, body, None).ok()).unwrap_or_default();
            let (saying, written) = (reader.words.sign_in_again, submission::written(&form));
            return Err(Box::new(page::give_back(reader, StatusCode::UNAUTHORIZED, saying, None, written)));
        }
        Err(error) => return Err(Box::new(page::refuse(reader, &error, None))),
    };
    if !origin::is_ours(site, headers) {
        return Err(Box::new(not_ours(reader, Some(&visitor))));
    }
    let form = read_form(reader, headers, body, Some(&visitor))?;
    if !visitor.made_form(form.get("csrf")) {
        return Err(Box::new(not_ours(reader, Some(&visitor))));
    }
    let loaded = match request::load(site, &visitor, path).await {
        Ok(loaded) => loaded,
        Err(error) => return Err(Box::new(page::refuse(reader, &error, Some(&visitor)))),
    };
    // Without its nonce a second press would be a second answer.
    let Some(Ok(key)) = form.get("nonce").map(IdempotencyKey::parse) else {
        let saying = reader.words.form_malformed;
        return Err(Box::new(page::say(reader, StatusCode::BAD_REQUEST, saying, Some(&visitor))));
    };
    Ok(Sent { visitor, form, loaded, key })
}

/// Hands the values of secret fields to their sinks, before the answer says that they were given. An answer that cannot
/// be accepted sends nothing: the engine then says what is wrong with it.
async fn hand_over(
    site: &Site,
    visitor: &Visitor,
    form: &Form,
    loaded: &LoadedRequest,
    answer: &Json,
    key: &IdempotencyKey,
) -> Result<(), DecisionError> {
    let secrets = submission::secrets(form, &loaded.requires);
    let values = answer.get("values").and_then(Json::as_object);
    let schemas = site.engine.policy().schemas.as_ref();
    let is_current = form.get("rendered_digest") == Some(loaded.view.rendered_digest.to_string().as_str());
    let check = if submission::gives_part(form) { values::check_submitted } else { values::check };
    let fits = is_current && values.is_some_and(|values| check(&loaded.requires, values, schemas).is_ok());
    for (place, values) in secrets.into_iter().filter(|_| fits) {
        // For this request and no other, whatever else declares the same place.
        site.engine.submit_values_for(&visitor.principal, loaded.view.id, &place, values, Some(key)).await?;
    }
    Ok(())
}

/// Shows the request as it stands now, which may not be as it stood when the answer was sent, and what is wrong.
pub(super) async fn explain(
    site: &Site,
    reader: &Reader,
    visitor: &Visitor,
    id: RequestId,
    form: &Form,
    act: Act,
    error: &DecisionError,
) -> Response {
    let words = reader.words;
    if error.is_ours() {
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
    let faulty = Faulty { form, fields: &faults, note_too_long: false, is_stale, saying: None };
    let undone = |saying| Occasion::Undone { saying, written: submission::written(form) };
    let (status, occasion) = match error {
        // What was done besides answering has no place in the form for an answer.
        DecisionError::PresentationStale { .. } if act == Act::Besides => {
            (StatusCode::CONFLICT, undone(words.stale_besides))
        }
        DecisionError::IdempotencyKeyReused { .. } if act == Act::Besides => {
            (StatusCode::CONFLICT, undone(words.sent_before))
        }
        DecisionError::InvalidRequest(fault) if act == Act::Besides && fault.path == "note" => {
            let saying = Saying { title: words.not_done, text: words.note_too_long };
            (StatusCode::UNPROCESSABLE_ENTITY, undone(saying))
        }
        // The button was pressed before, with something else filled in. A fresh form takes it as another answer.
        DecisionError::IdempotencyKeyReused { .. } => {
            (StatusCode::CONFLICT, Occasion::Faulty(Faulty { saying: Some(words.sent_before), ..faulty }))
        }
        DecisionError::InvalidRequest(fault) if fault.path == "values" && submission::gives_part(form) => {
            let saying = Some(words.nothing_given);
            (StatusCode::UNPROCESSABLE_ENTITY, Occasion::Faulty(Faulty { saying, ..faulty }))
        }
        // What was made of the values of another question is not held against this one's.
        DecisionError::PresentationStale { .. } => {
            (StatusCode::CONFLICT, Occasion::Faulty(Faulty { fields: &[], is_stale: true, ..faulty }))
        }
        // The place that a secret was for is none of this version's.
        DecisionError::InvalidRequest(fault) if is_stale && fault.path == "request_id" => {
            (StatusCode::CONFLICT, Occasion::Faulty(Faulty { fields: &[], ..faulty }))
        }
        DecisionError::AnswerValidationFailed { .. } => (StatusCode::UNPROCESSABLE_ENTITY, Occasion::Faulty(faulty)),
        // The form again, filled in but for the secret, which is kept nowhere.
        DecisionError::SinkUnavailable { .. } => (
            StatusCode::SERVICE_UNAVAILABLE,
            Occasion::Faulty(Faulty { saying: Some(words.sink_unavailable), ..faulty }),
        ),
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
