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
    session::Visitor,
    site::Site,
    submission,
    words::{self, Saying},
};

/// `POST /requests/{id}`.
pub(crate) async fn submit(
    State(site): State<Site>,
    path: Result<Path<String>, PathRejection>,
    headers: HeaderMap,
    body: Result<Bytes, BytesRejection>,
) -> Response {
    let visitor = match Visitor::find(&site, &headers).await {
        Ok(Some(visitor)) => visitor,
        Ok(None) => return page::say(StatusCode::UNAUTHORIZED, words::SIGN_IN_AGAIN, None),
        Err(error) => return page::refuse(&error, None),
    };
    if !origin::is_ours(&site, &headers) {
        return not_ours(Some(&visitor));
    }
    let form = match read_form(&headers, body, Some(&visitor)) {
        Ok(form) => form,
        Err(refusal) => return *refusal,
    };
    if !visitor.made_form(form.get("csrf")) {
        return not_ours(Some(&visitor));
    }
    let loaded = match request::load(&site, &visitor, path).await {
        Ok(loaded) => loaded,
        Err(error) => return page::refuse(&error, Some(&visitor)),
    };
    // Without its nonce a second press would be a second answer.
    let Some(Ok(key)) = form.get("nonce").map(IdempotencyKey::parse) else {
        return page::say(StatusCode::BAD_REQUEST, words::FORM_MALFORMED, Some(&visitor));
    };
    let id = loaded.view.id;
    let answer = submission::answer(&form, &loaded.requires);
    if let Err(error) = hand_over(&site, &visitor, &form, &loaded, &answer, &key).await {
        return explain(&site, &visitor, id, &form, &error).await;
    }
    match site.engine.answer(&visitor.principal, id, answer, Some(&key)).await {
        Ok(_) => page::see_other(&format!("/requests/{id}")),
        Err(error) => explain(&site, &visitor, id, &form, &error).await,
    }
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
    let fits = values.is_some_and(|values| values::check(&loaded.requires, values, schemas).is_ok());
    for (place, values) in secrets.into_iter().filter(|_| fits) {
        site.engine.submit_values(&visitor.principal, &place, values, Some(key)).await?;
    }
    Ok(())
}

/// Shows the request as it stands now, which may not be as it stood when the answer was sent, and what is wrong.
async fn explain(site: &Site, visitor: &Visitor, id: RequestId, form: &Form, error: &DecisionError) -> Response {
    if matches!(error, DecisionError::Internal) {
        // Perhaps it was recorded all the same; only sending it again tells.
        return page::refuse(error, Some(visitor));
    }
    let loaded = match request::load_by_id(site, visitor, id).await {
        Ok(loaded) => loaded,
        Err(error) => return page::refuse(&error, Some(visitor)),
    };
    // Whatever else is wrong with it, an answer to a request that ended is too late.
    if let Some(saying) = too_late(visitor, &loaded.view) {
        let occasion = Occasion::Refused { saying, detail: loaded.view.cancel_reason.clone() };
        return request::respond(StatusCode::CONFLICT, site, visitor, loaded, &occasion);
    }
    // The engine holds that against an answer under strict binding alone (rule S-5). To people it is said either way.
    let is_stale = form.get("rendered_digest") != Some(loaded.view.rendered_digest.to_string().as_str());
    let faults = submission::faults(form, &loaded.requires, error.fields());
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
            let detail = Some(words::lacking(*lacking));
            (StatusCode::FORBIDDEN, Occasion::Refused { saying: words::may_not_answer(*lacking), detail })
        }
        DecisionError::AuthStrengthNotPermitted { .. } => {
            let detail = Some(words::lacking(Lacking::Strength(AuthStrength::Session)));
            (StatusCode::FORBIDDEN, Occasion::Refused { saying: words::NOT_ENOUGH_AUTHORITY, detail })
        }
        other => return page::refuse(other, Some(visitor)),
    };
    request::respond(status, site, visitor, loaded, &occasion)
}

/// What to say to somebody whose answer came after the end; nothing while the request is pending.
fn too_late(visitor: &Visitor, view: &RequestView) -> Option<Saying> {
    match view.state {
        RequestState::Pending => None,
        RequestState::Answered => {
            let receipt: Option<Receipt> = view.receipt.clone().and_then(|sealed| from_json(sealed).ok());
            let decider = receipt.and_then(|receipt| receipt.actor.principal_id);
            let is_visitor = decider.is_some() && decider == visitor.principal.id();
            Some(if is_visitor { words::TOO_LATE_YOURS } else { words::TOO_LATE_OTHERS })
        }
        RequestState::Expired => Some(words::TOO_LATE_EXPIRED),
        RequestState::Cancelled => Some(words::TOO_LATE_CANCELLED),
        RequestState::Superseded => Some(words::TOO_LATE_SUPERSEDED),
    }
}
