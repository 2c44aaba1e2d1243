//! Entering by a one-time link. Mail scanners and previews open links, so opening one uses nothing up; pressing does.

use askama::Template;
use axum::{
    extract::{Path, State, rejection::PathRejection},
    http::{HeaderMap, StatusCode, header::SET_COOKIE},
    response::Response,
};
use handoff_engine::IdentityError;
use handoff_protocol::decision::DecisionError;

use super::not_ours;
use crate::{
    origin,
    page::{self, Frame},
    reader::Reader,
    session,
    site::Site,
    visible,
    when::When,
    words::Words,
};

#[derive(Template)]
#[template(path = "enter.html")]
struct EnterPage {
    words: &'static Words,
    frame: Frame,
    name: Option<String>,
    expires_at: When,
}

/// `GET /enter/{token}`. What the request asks is not told: scanners and previews open links too.
pub(crate) async fn show(
    State(site): State<Site>,
    reader: Reader,
    path: Result<Path<String>, PathRejection>,
) -> Response {
    let Ok(Path(token)) = path else { return refuse(&reader, &IdentityError::LinkNotValid) };
    match site.engine.invitation(&token).await {
        Ok(invitation) => {
            let page = EnterPage {
                words: reader.words,
                frame: Frame::new(&reader, None),
                name: invitation.display.as_deref().map(visible::line),
                expires_at: When::new(&reader, invitation.expires_at),
            };
            page::render(StatusCode::OK, &page)
        }
        Err(error) => refuse(&reader, &error),
    }
}

/// `POST /enter/{token}`. The link itself shows that the visitor may; the origin shows that they meant to.
pub(crate) async fn submit(
    State(site): State<Site>,
    reader: Reader,
    path: Result<Path<String>, PathRejection>,
    headers: HeaderMap,
) -> Response {
    // Nothing that is shown here needs the token, and no form may carry it on.
    let reader = Reader { path: "/".to_owned(), ..reader };
    if !origin::is_ours(&site, &headers) {
        return not_ours(&reader, None);
    }
    let Ok(Path(token)) = path else { return refuse(&reader, &IdentityError::LinkNotValid) };
    // The session that this browser had ends with the sign-in, whoever's it was.
    let earlier = session::session_token(&headers);
    match site.engine.enter_anew(&token, earlier.as_ref().map(|token| token.expose().as_str())).await {
        Ok(entered) => {
            let Some(cookie) = session::begin(&site, &entered) else {
                return page::refuse(&reader, &DecisionError::Internal, None);
            };
            let target = entered.request_id.map_or_else(|| "/".to_owned(), |id| format!("/requests/{id}"));
            let mut response = page::see_other(&target);
            response.headers_mut().insert(SET_COOKIE, cookie);
            response
        }
        Err(error) => refuse(&reader, &error),
    }
}

fn refuse(reader: &Reader, error: &IdentityError) -> Response {
    let reader = &Reader { path: "/".to_owned(), ..reader.clone() };
    match error {
        IdentityError::LinkNotValid | IdentityError::NotFound(_) => {
            page::say(reader, StatusCode::NOT_FOUND, reader.words.link_not_valid, None)
        }
        other => {
            tracing::error!(error = other as &dyn std::error::Error, "a link could not be looked at");
            page::refuse(reader, &DecisionError::Internal, None)
        }
    }
}
