//! How a success is written: compact JSON by our own writer, so that numbers and member order stay as they are kept.

use axum::{
    BoxError,
    body::Body,
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse as _, Response},
};
use futures::Stream;
use handoff_protocol::json::to_text;
use serde::Serialize;

use crate::refusal::Refusal;

/// What a handler returns.
pub(crate) type Reply = Result<Response, Refusal>;

/// What was asked for, under 200.
pub(crate) fn ok(value: &impl Serialize) -> Reply {
    json(StatusCode::OK, value)
}

/// A value of ours as JSON.
pub(crate) fn json(status: StatusCode, value: &impl Serialize) -> Reply {
    match to_text(value) {
        Ok(json) => Ok(text(status, json)),
        Err(error) => {
            tracing::error!(%error, "a response has no JSON form");
            Err(Refusal::internal())
        }
    }
}

/// A JSON text as it is, byte for byte: a sealed receipt is served exactly as it was sealed (rule E-8).
pub(crate) fn text(status: StatusCode, text: String) -> Response {
    let content_type = [(header::CONTENT_TYPE, HeaderValue::from_static("application/json"))];
    (status, content_type, Body::from(text)).into_response()
}

/// A JSON text that is written while it is sent; a failure breaks it off, and nobody takes the half for the whole.
pub(crate) fn pieces<E>(pieces: impl Stream<Item = Result<String, E>> + Send + 'static) -> Response
where
    E: Into<BoxError> + 'static,
{
    let content_type = [(header::CONTENT_TYPE, HeaderValue::from_static("application/json"))];
    (content_type, Body::from_stream(pieces)).into_response()
}

/// Nothing, under 204: a wait that ended without a signal (rule X-6).
pub(crate) fn nothing() -> Response {
    StatusCode::NO_CONTENT.into_response()
}

/// Lets anyone keep a response for a minute: only what is the same for everyone (section 21).
pub(crate) fn cacheable(mut response: Response) -> Response {
    let public = HeaderValue::from_static("public, max-age=60");
    response.headers_mut().insert(header::CACHE_CONTROL, public);
    response
}
