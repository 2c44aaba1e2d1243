//! Following along: server-sent events that say when a page that is open is not up to date any more.
//!
//! An event says that something changed and where the page stands now, its cursor; what changed is on the page alone,
//! which the browser fetches as ever. So a stream tells nothing that its person may not read. A stream goes on after the
//! cursor that the browser brings along, ends with its session, and says nothing every 15 seconds, so that both sides
//! notice when the other is gone.

use std::{convert::Infallible, time::Duration};

use axum::{
    extract::{Path, RawQuery, State, rejection::PathRejection},
    http::{HeaderMap, HeaderName, StatusCode, header::RETRY_AFTER},
    response::{
        IntoResponse as _, Response,
        sse::{Event, Sse},
    },
};
use futures::stream;
use handoff_engine::decision::{Change, InboxFeed, RequestFeed, Standing};
use handoff_protocol::{
    decision::{DecisionError, terms::RequestState},
    id::RequestId,
};

use crate::{form::Form, page, reader::Reader, session::Visitor, site::Site, streams::OpenStream};

/// How often a stream on which nothing happens says so.
const HEARTBEAT: Duration = Duration::from_secs(15);
/// How long after an event the next may come: a busy tenant makes pages fetch themselves twice a second at the most.
const PAUSE: Duration = Duration::from_millis(500);
/// How long browsers wait before they come back.
const RETRY: Duration = Duration::from_secs(2);

const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

/// `GET /events`: what is pending changed.
pub(crate) async fn inbox(
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
    let after = cursor(&headers, query.as_deref(), "after", |text| text.parse().ok());
    match site.engine.follow_inbox(&visitor.principal, after).await {
        Ok(feed) => open(site, visitor, Feed::Inbox(feed)),
        Err(error) => page::refuse(&reader, &error, Some(&visitor)),
    }
}

/// `GET /requests/{id}/events`: the request changed, or ended.
pub(crate) async fn request(
    State(site): State<Site>,
    reader: Reader,
    path: Result<Path<String>, PathRejection>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Response {
    let visitor = match Visitor::find(&site, &headers).await {
        Ok(Some(visitor)) => visitor,
        Ok(None) => return page::sign_in(&reader),
        Err(error) => return page::refuse(&reader, &error, None),
    };
    let seen = cursor(&headers, query.as_deref(), "seen", parse_standing);
    let id = path.ok().and_then(|Path(text)| RequestId::parse(&text).ok());
    let feed = match id {
        Some(id) => site.engine.follow_request(&visitor.principal, id, seen).await,
        None => Err(DecisionError::RequestNotFound),
    };
    match feed {
        Ok(feed) => open(site, visitor, Feed::Request(feed)),
        Err(error) => page::refuse(&reader, &error, Some(&visitor)),
    }
}

/// Where a page of a request stands, as its stream spells it: `2-pending`.
pub(crate) fn standing(version: u64, state: RequestState) -> String {
    format!("{version}-{}", state.as_str())
}

fn parse_standing(text: &str) -> Option<Standing> {
    let (version, state) = text.split_once('-')?;
    let (_, state) = RequestState::ALL.iter().find(|(name, _)| *name == state)?;
    Some(Standing { version: version.parse().ok()?, state: *state })
}

/// What a browser that comes back has seen last; on its first visit, and where what it says cannot be read, the page says
/// it in the address.
fn cursor<T>(headers: &HeaderMap, query: Option<&str>, name: &str, read: impl Fn(&str) -> Option<T>) -> Option<T> {
    let last = headers.get(LAST_EVENT_ID).and_then(|value| value.to_str().ok()).and_then(&read);
    last.or_else(|| read(Form::read(query.unwrap_or_default().as_bytes()).ok()?.get(name)?))
}

enum Feed {
    Inbox(InboxFeed),
    Request(RequestFeed),
}

/// A stream on its way.
struct Following {
    site: Site,
    visitor: Visitor,
    feed: Feed,
    step: Step,
    _open: OpenStream,
}

#[derive(Clone, Copy, Eq, PartialEq)]
enum Step {
    Begin,
    Wait,
    Pause,
}

fn open(site: Site, visitor: Visitor, feed: Feed) -> Response {
    let counted = visitor.principal.id().and_then(|person| site.streams.open(visitor.principal.tenant, person));
    let Some(counted) = counted else {
        return (StatusCode::TOO_MANY_REQUESTS, [(RETRY_AFTER, "60")]).into_response();
    };
    let following = Following { site, visitor, feed, step: Step::Begin, _open: counted };
    Sse::new(stream::unfold(following, |mut following| async move {
        let event = following.next().await?;
        Some((Ok::<_, Infallible>(event), following))
    }))
    .into_response()
}

impl Following {
    /// The next thing to send; nothing ends the stream.
    async fn next(&mut self) -> Option<Event> {
        match self.step {
            Step::Begin => {
                self.step = Step::Wait;
                return Some(Event::default().retry(RETRY).comment("following"));
            }
            Step::Pause => tokio::time::sleep(PAUSE).await,
            Step::Wait => {}
        }
        let change = match &mut self.feed {
            Feed::Inbox(feed) => feed.next(HEARTBEAT).await.ok().map(|change| match change {
                Change::To(sequence) => Change::To(sequence.to_string()),
                Change::Nothing => Change::Nothing,
                Change::Closed => Change::Closed,
            }),
            Feed::Request(feed) => feed.next(HEARTBEAT).await.ok().map(|change| match change {
                Change::To(stands) => Change::To(standing(stands.version, stands.state)),
                Change::Nothing => Change::Nothing,
                Change::Closed => Change::Closed,
            }),
        };
        // Whoever signed out meanwhile, here or everywhere, follows no more.
        if !self.visitor.is_still_in(&self.site).await {
            return None;
        }
        match change? {
            Change::To(id) => {
                self.step = Step::Pause;
                Some(Event::default().event("change").data(&id).id(id))
            }
            Change::Nothing => {
                self.step = Step::Wait;
                Some(Event::default().comment("nothing new"))
            }
            Change::Closed => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_standing_is_read_as_it_is_written() {
        for (name, state) in RequestState::ALL {
            assert_eq!(standing(3, *state), format!("3-{name}"));
            assert_eq!(parse_standing(&format!("3-{name}")), Some(Standing { version: 3, state: *state }));
        }
        for text in ["", "3", "x-pending", "3-", "3-asleep", "-1-pending"] {
            assert_eq!(parse_standing(text), None, "{text}");
        }
    }
}
