//! Leaving: the session ends on the server, and the browser forgets it.

use axum::{
    body::Bytes,
    extract::{State, rejection::BytesRejection},
    http::{HeaderMap, StatusCode, header::SET_COOKIE},
    response::Response,
};
use handoff_engine::IdentityError;
use handoff_protocol::decision::DecisionError;

use super::{not_ours, read_form};
use crate::{origin, page, reader::Reader, session, session::Visitor, site::Site};

/// `POST /leave`. Without a session there is nothing to end, and the browser is told to forget what it has.
pub(crate) async fn submit(
    State(site): State<Site>,
    reader: Reader,
    headers: HeaderMap,
    body: Result<Bytes, BytesRejection>,
) -> Response {
    match end(&site, &reader, &headers, body, Which::This).await {
        Ok(_) => forget(&site, page::see_other("/")),
        Err(refusal) => *refusal,
    }
}

/// `POST /leave/everywhere`: every session of the person ends, on every device.
pub(crate) async fn submit_everywhere(
    State(site): State<Site>,
    reader: Reader,
    headers: HeaderMap,
    body: Result<Bytes, BytesRejection>,
) -> Response {
    match end(&site, &reader, &headers, body, Which::Every).await {
        Ok(true) => {
            let reader = Reader { path: "/".to_owned(), ..reader };
            forget(&site, page::say(&reader, StatusCode::OK, reader.words.left_everywhere, None))
        }
        Ok(false) => forget(&site, page::see_other("/")),
        Err(refusal) => *refusal,
    }
}

/// Which sessions end.
#[derive(Clone, Copy)]
enum Which {
    This,
    Every,
}

/// Ends sessions; tells whether there was one.
async fn end(
    site: &Site,
    reader: &Reader,
    headers: &HeaderMap,
    body: Result<Bytes, BytesRejection>,
    which: Which,
) -> Result<bool, Box<Response>> {
    if !origin::is_ours(site, headers) {
        return Err(Box::new(not_ours(reader, None)));
    }
    let visitor = match Visitor::find(site, headers).await {
        Ok(None) => return Ok(false),
        Ok(Some(visitor)) => visitor,
        Err(error) => return Err(Box::new(page::refuse(reader, &error, None))),
    };
    let form = read_form(reader, headers, body, Some(&visitor))?;
    if !visitor.made_form(form.get("csrf")) {
        return Err(Box::new(not_ours(reader, Some(&visitor))));
    }
    let ended = match (which, visitor.principal.id()) {
        (Which::Every, Some(person)) => site.engine.end_sessions(visitor.principal.tenant, person).await,
        // The cookie may hold a token of another kind, which programs go on using.
        (Which::Every, None) | (Which::This, _) => site.engine.end_session(visitor.token()).await,
    };
    ended.map(|()| true).map_err(|error: IdentityError| {
        tracing::error!(error = &error as &dyn std::error::Error, "a session could not be ended");
        Box::new(page::refuse(reader, &DecisionError::Internal, Some(&visitor)))
    })
}

/// Tells the browser to forget its session.
fn forget(site: &Site, mut response: Response) -> Response {
    if let Some(cookie) = session::end(site) {
        response.headers_mut().insert(SET_COOKIE, cookie);
    }
    response
}
