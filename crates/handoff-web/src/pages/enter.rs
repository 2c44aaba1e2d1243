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
    session,
    site::Site,
    when::When,
    words,
};

#[derive(Template)]
#[template(path = "enter.html")]
struct EnterPage {
    frame: Frame,
    name: Option<String>,
    /// What the request asks that the link leads to.
    asks: Option<String>,
    expires_at: When,
}

/// `GET /enter/{token}`.
pub(crate) async fn show(State(site): State<Site>, path: Result<Path<String>, PathRejection>) -> Response {
    let Ok(Path(token)) = path else { return refuse(&IdentityError::LinkNotValid) };
    match site.engine.invitation(&token).await {
        Ok(invitation) => {
            let page = EnterPage {
                frame: Frame::new(None),
                name: invitation.display,
                asks: invitation.request_title,
                expires_at: When(invitation.expires_at),
            };
            page::render(StatusCode::OK, &page)
        }
        Err(error) => refuse(&error),
    }
}

/// `POST /enter/{token}`. The link itself shows that the visitor may; the origin shows that they meant to.
pub(crate) async fn submit(
    State(site): State<Site>,
    path: Result<Path<String>, PathRejection>,
    headers: HeaderMap,
) -> Response {
    if !origin::is_ours(&site, &headers) {
        return not_ours(None);
    }
    let Ok(Path(token)) = path else { return refuse(&IdentityError::LinkNotValid) };
    match site.engine.enter(&token).await {
        Ok(entered) => {
            let Some(cookie) = session::begin(&site, &entered) else {
                return page::refuse(&DecisionError::Internal, None);
            };
            let target = entered.request_id.map_or_else(|| "/".to_owned(), |id| format!("/requests/{id}"));
            let mut response = page::see_other(&target);
            response.headers_mut().insert(SET_COOKIE, cookie);
            response
        }
        Err(error) => refuse(&error),
    }
}

fn refuse(error: &IdentityError) -> Response {
    match error {
        IdentityError::LinkNotValid | IdentityError::NotFound(_) => {
            page::say(StatusCode::NOT_FOUND, words::LINK_NOT_VALID, None)
        }
        other => {
            tracing::error!(error = other as &dyn std::error::Error, "a link could not be looked at");
            page::refuse(&DecisionError::Internal, None)
        }
    }
}
