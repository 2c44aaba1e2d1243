//! What browsers are told about every page: run our own script alone, load nothing from elsewhere, keep nothing.

use std::sync::LazyLock;

use axum::{
    http::{
        HeaderName, HeaderValue,
        header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS},
    },
    response::Response,
};

use crate::assets;

static POLICY: LazyLock<HeaderValue> = LazyLock::new(|| {
    let policy = format!(
        "default-src 'none'; script-src 'self'; connect-src 'self'; style-src {}; img-src data:; form-action 'self'; \
         base-uri 'none'; frame-ancestors 'none'",
        assets::style_source()
    );
    // Digests are base64, so this is a value; a policy that forbids everything is the safe one if it ever is not.
    HeaderValue::try_from(policy).unwrap_or(HeaderValue::from_static("default-src 'none'"))
});

/// Keeps a page that opened ours, and one that ours opened, from reaching in.
const OPENER: HeaderName = HeaderName::from_static("cross-origin-opener-policy");

/// Adds the headers to a response; one that says how long it may be kept, as the script does, keeps that.
pub(crate) async fn protect(mut response: Response) -> Response {
    let headers = response.headers_mut();
    headers.insert(CONTENT_SECURITY_POLICY, POLICY.clone());
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(OPENER, HeaderValue::from_static("same-origin"));
    // For browsers that do not know `frame-ancestors`.
    headers.insert(X_FRAME_OPTIONS, HeaderValue::from_static("DENY"));
    headers.entry(CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    response
}
