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
    reader::Reader,
    session::Visitor,
    submission::Written,
    words::{LANGUAGES, Saying, Words, fill},
};

/// What every page shows around its content.
#[derive(Debug)]
pub(crate) struct Frame {
    pub(crate) style: &'static str,
    pub(crate) script: &'static str,
    pub(crate) person: Option<Person>,
    /// The page's own address.
    pub(crate) path: String,
    /// The zone that times are written in, if the browser told one.
    pub(crate) zone: Option<String>,
    pub(crate) times_in: String,
    pub(crate) languages: [&'static Words; 2],
}

/// Who is signed in, and the token with which they can leave.
#[derive(Debug)]
pub(crate) struct Person {
    pub(crate) name: String,
    pub(crate) csrf: String,
}

impl Frame {
    pub(crate) fn new(reader: &Reader, visitor: Option<&Visitor>) -> Self {
        let person = visitor.map(|visitor| Person { name: visitor.name(), csrf: visitor.csrf() });
        Self {
            style: assets::style(),
            script: assets::script_path(),
            person,
            path: reader.path.clone(),
            times_in: fill(reader.words.times_in, &[reader.zone_name.as_deref().unwrap_or("UTC")]),
            zone: reader.zone_name.clone(),
            languages: LANGUAGES,
        }
    }
}

#[derive(Template)]
#[template(path = "saying.html")]
struct SayingPage {
    words: &'static Words,
    frame: Frame,
    saying: Saying,
    /// Whether it links to the inbox: not where that would only say once more that nobody is signed in.
    leads_on: bool,
    /// What was written into a form that came to nothing.
    written: Vec<Written>,
}

/// A page that only says something.
pub(crate) fn say(reader: &Reader, status: StatusCode, saying: Saying, visitor: Option<&Visitor>) -> Response {
    give_back(reader, status, saying, visitor, Vec::new())
}

/// The same, with what was written into the form that came to nothing.
pub(crate) fn give_back(
    reader: &Reader,
    status: StatusCode,
    saying: Saying,
    visitor: Option<&Visitor>,
    written: Vec<Written>,
) -> Response {
    let leads_on = status != StatusCode::UNAUTHORIZED && status != StatusCode::OK;
    render(status, &SayingPage { words: reader.words, frame: Frame::new(reader, visitor), saying, leads_on, written })
}

/// The page for a refusal that is about no field and no state of a request.
pub(crate) fn refuse(reader: &Reader, error: &DecisionError, visitor: Option<&Visitor>) -> Response {
    let words = reader.words;
    // What was asked for is not repeated: pages of what is not there and of what is another's are the same to the byte.
    let reader = &Reader { path: "/".to_owned(), ..reader.clone() };
    let (status, saying) = match error {
        DecisionError::AuthenticationRequired | DecisionError::InvalidApiKey => {
            (StatusCode::UNAUTHORIZED, words.sign_in)
        }
        DecisionError::RequestNotFound => (StatusCode::NOT_FOUND, words.not_found),
        DecisionError::InsufficientScope(_) => (StatusCode::FORBIDDEN, words.forbidden),
        DecisionError::InvalidRequest(_) => (StatusCode::BAD_REQUEST, words.form_malformed),
        _ => (StatusCode::INTERNAL_SERVER_ERROR, words.broken),
    };
    say(reader, status, saying, visitor)
}

/// The page for somebody without a session. It is the same whatever they asked for.
pub(crate) fn sign_in(reader: &Reader) -> Response {
    // Nor does it remember what that was.
    let reader = Reader { path: "/".to_owned(), ..reader.clone() };
    let saying = if reader.has_two_sessions { reader.words.two_sessions } else { reader.words.sign_in };
    say(&reader, StatusCode::UNAUTHORIZED, saying, None)
}

/// Turns a template into a response.
pub(crate) fn render(status: StatusCode, page: &impl Template) -> Response {
    match page.render() {
        Ok(html) => (status, [(CONTENT_TYPE, "text/html; charset=utf-8")], html).into_response(),
        Err(error) => {
            tracing::error!(error = &error as &dyn std::error::Error, "a page could not be rendered");
            StatusCode::INTERNAL_SERVER_ERROR.into_response()
        }
    }
}

/// Sends the browser on after a form, so that reloading does not send it again.
pub(crate) fn see_other(location: &str) -> Response {
    (StatusCode::SEE_OTHER, [(LOCATION, location)]).into_response()
}
