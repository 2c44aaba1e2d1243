//! Leaving: the session ends on the server, and the browser forgets it.

use axum::{
    body::Bytes,
    extract::{State, rejection::BytesRejection},
    http::{HeaderMap, header::SET_COOKIE},
    response::Response,
};
use handoff_protocol::decision::DecisionError;

use super::{not_ours, read_form};
use crate::{origin, page, session, session::Visitor, site::Site};

/// `POST /leave`. Without a session there is nothing to end, and the browser is told to forget what it has.
pub(crate) async fn submit(
    State(site): State<Site>,
    headers: HeaderMap,
    body: Result<Bytes, BytesRejection>,
) -> Response {
    if !origin::is_ours(&site, &headers) {
        return not_ours(None);
    }
    match Visitor::find(&site, &headers).await {
        Ok(None) => {}
        Ok(Some(visitor)) => {
            let form = match read_form(&headers, body, Some(&visitor)) {
                Ok(form) => form,
                Err(refusal) => return *refusal,
            };
            if !visitor.made_form(form.get("csrf")) {
                return not_ours(Some(&visitor));
            }
            if let Err(error) = site.engine.revoke(visitor.token()).await {
                tracing::error!(error = &error as &dyn std::error::Error, "a session could not be ended");
                return page::refuse(&DecisionError::Internal, Some(&visitor));
            }
        }
        Err(error) => return page::refuse(&error, None),
    }
    let mut response = page::see_other("/");
    if let Some(cookie) = session::end(&site) {
        response.headers_mut().insert(SET_COOKIE, cookie);
    }
    response
}
