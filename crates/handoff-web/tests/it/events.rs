//! Following along by server-sent events, as a browser's event source reads them.

use std::time::Duration;

use handoff_protocol::{json::read_str, principal::Role};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader},
    net::TcpStream,
};

use crate::{
    browser::Browser,
    html,
    world::{World, YES_NO, answer_form},
};

/// A stream of events.
struct Source(BufReader<TcpStream>);

impl Source {
    async fn open(world: &World, browser: &Browser, path: &str, headers: &str) -> Self {
        let mut stream = TcpStream::connect(world.address).await.unwrap();
        let cookie = browser.cookie.clone().unwrap_or_default();
        let call = format!(
            "GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nCookie: handoff_session={cookie}\r\n{headers}\r\n"
        );
        stream.write_all(call.as_bytes()).await.unwrap();
        Self(BufReader::new(stream))
    }

    /// The next line that begins with this; none if the stream ends before.
    async fn line(&mut self, beginning: &str) -> Option<String> {
        loop {
            let mut line = String::new();
            let read = tokio::time::timeout(Duration::from_secs(30), self.0.read_line(&mut line)).await;
            if read.expect("the stream goes on").unwrap() == 0 {
                return None;
            }
            if let Some(rest) = line.trim_end().strip_prefix(beginning) {
                return Some(rest.to_owned());
            }
        }
    }
}

fn feed(page: &str) -> String {
    let tags = html::tags(page);
    tags.iter().find(|tag| tag.get("id") == "live").unwrap().get("data-feed").to_owned()
}

#[tokio::test]
async fn the_inbox_is_told_of_each_change_by_a_cursor_and_of_nothing_else() {
    let world = World::new().await;
    let mut ada = world.entered("Ada", Role::Editor).await;
    let page = ada.get("/").await;
    let mut source = Source::open(&world, &ada, &feed(&page.body), "").await;
    assert_eq!(source.line("content-type: ").await.unwrap(), "text/event-stream");
    let id = world.raise(r#"{"waiter_ref":"secret-ref","prompt":{"title":"Secret title"},"requires":{"v":1}}"#).await;
    assert_eq!(source.line("event: ").await.unwrap(), "change");
    let data = source.line("data: ").await.unwrap();
    let cursor = source.line("id: ").await.unwrap();
    assert_eq!(data, cursor, "a cursor, and no word of what changed");

    // Whoever was away learns at once that there was something, and where it ends.
    drop(source);
    world.engine.cancel(&world.machine, id, read_str(r#"{"reason":"x"}"#).unwrap(), None).await.unwrap();
    let mut source = Source::open(&world, &ada, "/events?after=0", &format!("Last-Event-ID: {cursor}\r\n")).await;
    let later: u64 = source.line("id: ").await.unwrap().parse().unwrap();
    assert!(later > cursor.parse().unwrap());
    // What cannot be read says nothing, and the address counts.
    let mut source = Source::open(&world, &ada, "/events?after=0", "Last-Event-ID: nonsense\r\n").await;
    assert_eq!(source.line("id: ").await.unwrap(), later.to_string());
    // A cursor from beyond the end is the end.
    let mut source = Source::open(&world, &ada, "/events?after=99999999", "").await;
    source.line("retry: ").await.unwrap();
    world.ask(YES_NO).await;
    assert!(source.line("id: ").await.is_some());
}

#[tokio::test]
async fn a_request_tells_when_it_changes_and_when_it_ends_also_to_who_was_away() {
    let world = World::new().await;
    let id = world.ask(YES_NO).await;
    let (mut ada, mut bob) = (world.entered("Ada", Role::Editor).await, world.entered("Bob", Role::Editor).await);
    let page = ada.get(&format!("/requests/{id}")).await;
    let mut source = Source::open(&world, &ada, &feed(&page.body), "").await;
    source.line("retry: ").await.unwrap();
    world.amend(id, r#"{"prompt":{"title":"Go on now?"}}"#).await;
    assert_eq!(source.line("id: ").await.unwrap(), "2-pending");
    let seen = bob.get(&format!("/requests/{id}")).await;
    bob.send(&answer_form(&seen, id).pick("v.decision", "Refund it")).await.is(303);
    assert_eq!(source.line("id: ").await.unwrap(), "2-answered");
    let mut late = Source::open(&world, &ada, &feed(&page.body), "Last-Event-ID: 2-pending\r\n").await;
    assert_eq!(late.line("id: ").await.unwrap(), "2-answered");
    assert!(!ada.get(&format!("/requests/{id}")).await.body.contains("id=\"live\""), "what ended changes no more");
}

#[tokio::test]
async fn streams_are_for_people_of_the_tenant_and_end_with_their_session() {
    let world = World::new().await;
    let id = world.ask(YES_NO).await;
    let mut stranger = world.browser();
    stranger.get("/events").await.is(401);
    stranger.get(&format!("/requests/{id}/events")).await.is(401);
    let mut ada = world.entered("Ada", Role::Editor).await;
    ada.get("/requests/req_01K3M7QW8ZC4YRXB2N6VD9FTHE/events").await.is(404);
    let mut source = Source::open(&world, &ada, "/events", "").await;
    source.line("retry: ").await.unwrap();
    world.engine.revoke(ada.cookie.as_ref().unwrap()).await.unwrap();
    world.ask(r#"[{"name":"a","type":"boolean"}]"#).await;
    assert_eq!(source.line("event: ").await, None, "who signed out hears no more");
}

#[tokio::test]
async fn a_server_that_stops_ends_its_streams() {
    let world = World::new().await;
    let ada = world.entered("Ada", Role::Editor).await;
    let mut source = Source::open(&world, &ada, "/events", "").await;
    source.line("retry: ").await.unwrap();
    world.engine.stop_waiting();
    assert_eq!(source.line("event: ").await, None);
}

#[tokio::test]
async fn one_person_holds_no_more_than_so_many_streams() {
    let world = World::new().await;
    let mut ada = world.entered("Ada", Role::Editor).await;
    let mut open = Vec::new();
    for _ in 0..16 {
        let mut source = Source::open(&world, &ada, "/events", "").await;
        source.line("retry: ").await.unwrap();
        open.push(source);
    }
    let refused = ada.get("/events").await;
    assert_eq!(refused.is(429).header("retry-after"), Some("60"));
}
