//! The frame around every page, and pages that only say something.

use askama::Template;
use axum::{
    http::{
        StatusCode,
        header::{CONTENT_TYPE, LOCATION},
    },
    response::{IntoResponse as _, Response},
};
use handoff_protocol::decision::DecisionError;

use crate::{
    assets,
    session::Visitor,
    words::{self, Saying},
};

/// What every page shows around its content.
#[derive(Debug)]
pub(crate) struct Frame {
    pub(crate) stylesheet: &'static str,
    pub(crate) person: Option<Person>,
}

/// Who is signed in, and the token with which they can leave.
#[derive(Debug)]
pub(crate) struct Person {
    pub(crate) name: String,
    pub(crate) csrf: String,
}

impl Frame {
    pub(crate) fn new(visitor: Option<&Visitor>) -> Self {
        let person = visitor.map(|visitor| Person { name: visitor.name(), csrf: visitor.csrf() });
        Self { stylesheet: assets::stylesheet_path(), person }
    }
}

#[derive(Template)]
#[template(path = "saying.html")]
struct SayingPage {
    frame: Frame,
    saying: Saying,
    /// Whether it links to the inbox: not where that would only say once more that nobody is signed in.
    leads_on: bool,
}

/// A page that only says something.
pub(crate) fn say(status: StatusCode, saying: Saying, visitor: Option<&Visitor>) -> Response {
    render(status, &SayingPage { frame: Frame::new(visitor), saying, leads_on: status != StatusCode::UNAUTHORIZED })
}

/// The page for a refusal that is about no field and no state of a request.
pub(crate) fn refuse(error: &DecisionError, visitor: Option<&Visitor>) -> Response {
    let (status, saying) = match error {
        DecisionError::AuthenticationRequired | DecisionError::InvalidApiKey => {
            (StatusCode::UNAUTHORIZED, words::SIGN_IN)
        }
        DecisionError::RequestNotFound => (StatusCode::NOT_FOUND, words::NOT_FOUND),
        DecisionError::InsufficientScope(_) => (StatusCode::FORBIDDEN, words::FORBIDDEN),
        DecisionError::InvalidRequest(_) => (StatusCode::BAD_REQUEST, words::FORM_MALFORMED),
        _ => (StatusCode::INTERNAL_SERVER_ERROR, words::BROKEN),
    };
    say(status, saying, visitor)
}

/// The page for somebody without a session. It is the same whatever they asked for.
pub(crate) fn sign_in() -> Response {
    say(StatusCode::UNAUTHORIZED, words::SIGN_IN, None)
}

/// Turns a template into a response.
pub(crate) fn render(status: StatusCode, page: &impl Template) -> Response {
    match page.render() {
        Ok(html) => (status, [(CONTENT_TYPE, "text/html; charset=utf-8")], html).into_response(),
        Err(error) => {
            tracing::error!(error = &error as &dyn std::error::Error, "a page could not be rendered");
            (StatusCode::INTERNAL_SERVER_ERROR, words::BROKEN.title).into_response()
        }
    }
}

/// Sends the browser on after a form, so that reloading does not send it again.
pub(crate) fn see_other(location: &str) -> Response {
    (StatusCode::SEE_OTHER, [(LOCATION, location)]).into_response()
}
