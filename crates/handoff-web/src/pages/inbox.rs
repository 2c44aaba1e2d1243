//! The inbox: every pending request of the tenant, oldest first.

use askama::Template;
use axum::{
    extract::{RawQuery, State},
    http::{HeaderMap, StatusCode},
    response::Response,
};
use handoff_engine::decision::RequestFilter;
use handoff_protocol::{
    decision::{Requires, directory::Directory, terms::RequestState, view::RequestView},
    id::RequestId,
    json::Json,
    timestamp::Timestamp,
};

use super::request::asker;
use crate::{
    form::Form,
    page::{self, Frame},
    session::Visitor,
    site::Site,
    when::{Deadline, When},
    words,
};

/// How many requests a page lists.
const PAGE: usize = 25;

#[derive(Template)]
#[template(path = "inbox.html")]
struct InboxPage {
    frame: Frame,
    rows: Vec<Row>,
    /// What brings the next page.
    next: Option<String>,
}

struct Row {
    id: RequestId,
    title: String,
    asked_by: Option<String>,
    asked_at: When,
    deadline: Option<Deadline>,
    urgency: Option<&'static str>,
    can_answer: bool,
}

/// `GET /`, with `?after=` for the pages behind the first.
pub(crate) async fn show(State(site): State<Site>, RawQuery(query): RawQuery, headers: HeaderMap) -> Response {
    let visitor = match Visitor::find(&site, &headers).await {
        Ok(Some(visitor)) => visitor,
        Ok(None) => return page::sign_in(),
        Err(error) => return page::refuse(&error, None),
    };
    // A cursor that is none shows the first page.
    let query = Form::read(query.unwrap_or_default().as_bytes()).unwrap_or_default();
    let after = query.get("after").and_then(|cursor| RequestId::parse(cursor).ok());
    let filter =
        RequestFilter { states: vec![RequestState::Pending], after, limit: Some(PAGE), ..RequestFilter::default() };
    let people = match site.engine.people(visitor.principal.tenant).await {
        Ok(people) => people,
        Err(error) => return page::refuse(&error, Some(&visitor)),
    };
    match site.engine.requests(&visitor.principal, &filter).await {
        Ok(listing) => {
            let now = site.engine.now();
            let rows = listing.data.iter().map(|view| Row::new(view, &visitor, &people, now)).collect();
            let page = InboxPage { frame: Frame::new(Some(&visitor)), rows, next: listing.next_cursor };
            page::render(StatusCode::OK, &page)
        }
        Err(error) => page::refuse(&error, Some(&visitor)),
    }
}

impl Row {
    fn new(view: &RequestView, visitor: &Visitor, people: &Directory, now: Timestamp) -> Self {
        let authority = Requires::read(&view.requires).map(|requires| requires.authority);
        Self {
            id: view.id,
            title: view.prompt.get("title").and_then(Json::as_str).unwrap_or_default().to_owned(),
            asked_by: asker(view),
            asked_at: When(view.created_at),
            deadline: view.expires_at.map(|at| Deadline { at: When(at), now }),
            urgency: words::urgency(view.urgency),
            can_answer: authority
                .is_ok_and(|authority| authority.check(&visitor.principal, &view.also_assigned, people, now).is_ok()),
        }
    }
}
