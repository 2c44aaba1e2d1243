//! `/v1/openapi.json`: the API as a document. No credential is looked at.

use std::{
    future::{Ready, ready},
    sync::LazyLock,
};

use axum::http::StatusCode;

use crate::{
    openapi::openapi,
    reply::{self, Reply},
};

/// The document never changes while the server runs.
static TEXT: LazyLock<String> = LazyLock::new(|| openapi().to_text());

pub(super) fn read() -> Ready<Reply> {
    ready(Ok(reply::text(StatusCode::OK, TEXT.clone())))
}
