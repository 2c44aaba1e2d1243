//! One file a page.

pub(crate) mod answer;
pub(crate) mod besides;
pub(crate) mod enter;
pub(crate) mod events;
pub(crate) mod inbox;
pub(crate) mod leave;
pub(crate) mod proof;
pub(crate) mod request;
pub(crate) mod settings;

use axum::{
    body::Bytes,
    extract::rejection::BytesRejection,
    http::{HeaderMap, StatusCode, header::CONTENT_TYPE},
    response::{IntoResponse as _, Response},
};

use zeroize::Zeroize as _;

use crate::{form::Form, page, reader::Reader, session::Visitor, submission};

/// The inputs that each page has once. A form that has one of them twice was not made by a page.
const SINGLE: [&str; 9] =
    ["csrf", "nonce", "rendered_digest", "note", "back", "language", "zone", submission::PART, "to"];

const FORM_TYPE: &str = "application/x-www-form-urlencoded";

/// The page for a method that a path does not take.
pub(crate) async fn method_not_allowed(reader: Reader) -> Response {
    let reader = Reader { path: "/".to_owned(), ..reader };
    page::say(&reader, StatusCode::METHOD_NOT_ALLOWED, reader.words.wrong_method, None)
}

/// Reads a submitted form, or says why it cannot be read.
fn read_form(
    reader: &Reader,
    headers: &HeaderMap,
    body: Result<Bytes, BytesRejection>,
    visitor: Option<&Visitor>,
) -> Result<Form, Box<Response>> {
    let refuse = |status, saying| Box::new(page::say(reader, status, saying, visitor));
    let body = body.map_err(|rejection| match rejection.into_response().status() {
        StatusCode::PAYLOAD_TOO_LARGE => refuse(StatusCode::PAYLOAD_TOO_LARGE, reader.words.form_too_large),
        _ => refuse(StatusCode::BAD_REQUEST, reader.words.form_malformed),
    })?;
    let media_type = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let essence = media_type.split(';').next().unwrap_or_default().trim();
    if !essence.eq_ignore_ascii_case(FORM_TYPE) {
        return Err(refuse(StatusCode::UNSUPPORTED_MEDIA_TYPE, reader.words.form_malformed));
    }
    let form = Form::read(&body).ok().filter(|form| SINGLE.iter().all(|name| form.count(name) < 2));
    // What was typed may be secret, and where nobody else refers to this memory it can be wiped.
    if let Ok(mut spent) = body.try_into_mut() {
        spent.as_mut().zeroize();
    }
    form.ok_or_else(|| refuse(StatusCode::BAD_REQUEST, reader.words.form_malformed))
}

/// The page for a form that does not come from a page of ours.
fn not_ours(reader: &Reader, visitor: Option<&Visitor>) -> Response {
    page::say(reader, StatusCode::FORBIDDEN, reader.words.form_not_ours, visitor)
}
