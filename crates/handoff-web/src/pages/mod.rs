//! One file a page.

pub(crate) mod answer;
pub(crate) mod enter;
pub(crate) mod inbox;
pub(crate) mod leave;
pub(crate) mod request;

use axum::{
    body::Bytes,
    extract::rejection::BytesRejection,
    http::{HeaderMap, StatusCode, header::CONTENT_TYPE},
    response::{IntoResponse as _, Response},
};

use zeroize::Zeroize as _;

use crate::{form::Form, page, session::Visitor, words};

const FORM_TYPE: &str = "application/x-www-form-urlencoded";

/// The page for a method that a path does not take.
pub(crate) async fn method_not_allowed() -> Response {
    page::say(StatusCode::METHOD_NOT_ALLOWED, words::WRONG_METHOD, None)
}

/// Reads a submitted form, or says why it cannot be read.
fn read_form(
    headers: &HeaderMap,
    body: Result<Bytes, BytesRejection>,
    visitor: Option<&Visitor>,
) -> Result<Form, Box<Response>> {
    let refuse = |status, saying| Box::new(page::say(status, saying, visitor));
    let body = body.map_err(|rejection| match rejection.into_response().status() {
        StatusCode::PAYLOAD_TOO_LARGE => refuse(StatusCode::PAYLOAD_TOO_LARGE, words::FORM_TOO_LARGE),
        _ => refuse(StatusCode::BAD_REQUEST, words::FORM_MALFORMED),
    })?;
    let media_type = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let essence = media_type.split(';').next().unwrap_or_default().trim();
    if !essence.eq_ignore_ascii_case(FORM_TYPE) {
        return Err(refuse(StatusCode::UNSUPPORTED_MEDIA_TYPE, words::FORM_MALFORMED));
    }
    let form = Form::read(&body).map_err(|_| refuse(StatusCode::BAD_REQUEST, words::FORM_MALFORMED));
    // What was typed may be secret, and where nobody else refers to this memory it can be wiped.
    if let Ok(mut spent) = body.try_into_mut() {
        spent.as_mut().zeroize();
    }
    form
}

/// The page for a form that does not come from a page of ours.
fn not_ours(visitor: Option<&Visitor>) -> Response {
    page::say(StatusCode::FORBIDDEN, words::FORM_NOT_OURS, visitor)
}
