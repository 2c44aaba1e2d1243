//! The inbox: what waits for the visitor, or everything that is pending, most urgent first.

use askama::Template;
use axum::{
    extract::{RawQuery, State},
    http::{HeaderMap, StatusCode},
    response::Response,
};
use handoff_engine::decision::{InboxPlace, InboxScope};
use handoff_protocol::{
    decision::{DecisionError, Lacking, Requires, terms::Urgency, view::RequestView},
    id::RequestId,
    json::Json,
    timestamp::Timestamp,
};

use super::request::asker;
use crate::{
    form::Form,
    page::{self, Frame},
    reader::Reader,
    session::Visitor,
    site::Site,
    visible,
    when::{Deadline, When},
    words::Words,
};

/// How many requests a page lists.
const PAGE: usize = 25;

/// What the query calls the list of everything.
const ALL: &str = "all";

#[derive(Template)]
#[template(path = "inbox.html")]
struct InboxPage {
    words: &'static Words,
    frame: Frame,
    is_all: bool,
    rows: Vec<Row>,
    /// What brings the next page.
    next: Option<String>,
    /// Whether this is a page behind the first.
    is_later: bool,
    /// Where the events of this list go on.
    cursor: u64,
}

struct Row {
    id: RequestId,
    title: String,
    is_test: bool,
    asked_by: Option<String>,
    asked_at: When,
    deadline: Option<Deadline>,
    /// What the urgency is called in the stylesheet.
    tone: &'static str,
    urgency: Option<&'static str>,
    /// Why the visitor cannot answer it as they are signed in now.
    obstacle: Option<String>,
}

/// `GET /`, with `?show=all` for everything and `&after=` for the pages behind the first.
pub(crate) async fn show(
    State(site): State<Site>,
    reader: Reader,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Response {
    let visitor = match Visitor::find(&site, &headers).await {
        Ok(Some(visitor)) => visitor,
        Ok(None) => return page::sign_in(&reader),
        Err(error) => return page::refuse(&reader, &error, None),
    };
    // What is none of ours shows the first page.
    let query = Form::read(query.unwrap_or_default().as_bytes()).unwrap_or_default();
    match list(&site, &reader, &visitor, &query).await {
        Ok(page) => page::render(StatusCode::OK, &page),
        Err(error) => page::refuse(&reader, &error, Some(&visitor)),
    }
}

async fn list(site: &Site, reader: &Reader, visitor: &Visitor, query: &Form) -> Result<InboxPage, DecisionError> {
    let is_all = query.get("show") == Some(ALL);
    let scope = if is_all { InboxScope::All } else { InboxScope::Mine };
    let after = query.get("after").and_then(InboxPlace::parse);
    // Before the list, so that what changes meanwhile is told rather than missed.
    let cursor = site.engine.event_head(&visitor.principal).await?;
    let inbox = site.engine.inbox(&visitor.principal, scope, after, PAGE).await?;
    let now = site.engine.now();
    let next = inbox.next.map(|place| format!("/?{}after={place}", if is_all { "show=all&" } else { "" }));
    Ok(InboxPage {
        words: reader.words,
        frame: Frame::new(reader, Some(visitor)),
        is_all,
        rows: inbox.requests.iter().map(|view| Row::new(reader, view, visitor, now)).collect(),
        next,
        is_later: after.is_some(),
        cursor,
    })
}

impl Row {
    fn new(reader: &Reader, view: &RequestView, visitor: &Visitor, now: Timestamp) -> Self {
        let authority = Requires::read(&view.requires).map(|requires| requires.authority);
        let lacking =
            authority.ok().and_then(|authority| authority.check(&visitor.principal, &view.also_assigned, now).err());
        Self {
            id: view.id,
            title: visible::line(view.prompt.get("title").and_then(Json::as_str).unwrap_or_default()),
            is_test: view.test_mode,
            asked_by: asker(view),
            asked_at: When::new(reader, view.created_at),
            deadline: view.expires_at.map(|at| Deadline::new(reader, at, now)),
            tone: tone(view.urgency),
            urgency: reader.words.urgency(view.urgency),
            obstacle: lacking.map(|lacking| match lacking {
                Lacking::Strength(_) => reader.words.can_only_read(lacking).title.to_owned(),
                Lacking::Role(_) | Lacking::Assignment => reader.words.inbox_read_only.to_owned(),
            }),
        }
    }
}

/// What an urgency is called in the stylesheet.
pub(super) fn tone(urgency: Urgency) -> &'static str {
    match urgency {
        Urgency::Low => "low",
        Urgency::Normal => "normal",
        Urgency::High => "high",
        Urgency::Critical => "critical",
    }
}
