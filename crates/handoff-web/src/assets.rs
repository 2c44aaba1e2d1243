//! The stylesheet, under a name that changes with its content so that browsers may keep it for good.

use std::sync::LazyLock;

use axum::{
    http::header::{CACHE_CONTROL, CONTENT_TYPE},
    response::IntoResponse,
};
use handoff_protocol::digest::Digest;

const STYLESHEET: &str = include_str!("../assets/handoff.css");

static STYLESHEET_PATH: LazyLock<String> =
    LazyLock::new(|| format!("/assets/handoff-{}.css", Digest::of(STYLESHEET).hex().get(..16).unwrap_or("0")));

/// Where the stylesheet of this build is.
pub(crate) fn stylesheet_path() -> &'static str {
    &STYLESHEET_PATH
}

/// `GET` of the stylesheet.
pub(crate) async fn stylesheet() -> impl IntoResponse {
    let headers = [(CONTENT_TYPE, "text/css; charset=utf-8"), (CACHE_CONTROL, "public, max-age=31536000, immutable")];
    (headers, STYLESHEET)
}
