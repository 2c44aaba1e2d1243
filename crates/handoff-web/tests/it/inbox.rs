//! The inbox.

use std::time::Duration;

use handoff_protocol::principal::Role;

use crate::{html, world::World};

async fn ask(world: &World, number: usize) {
    let body =
        format!(r#"{{"waiter_ref":"run:{number}","prompt":{{"title":"Question {number}"}},"requires":{{"v":1}}}}"#);
    world.raise(&body).await;
}

#[tokio::test]
async fn equally_urgent_requests_are_listed_oldest_first_page_by_page() {
    let world = World::new().await;
    let mut ada = world.entered("Ada", Role::Viewer).await;
    ada.get("/").await.is(200).says("Nothing waits for you.");
    for number in 1..=30 {
        ask(&world, number).await;
    }
    let mut seen = Vec::new();
    let mut path = "/".to_owned();
    for _ in 0..2 {
        let page = ada.get(&path).await;
        assert!(page.is(200).body.len() < 40_000);
        let tags = html::tags(&page.body);
        let titles = tags.iter().filter(|tag| tag.name == "bdi" && tag.text.starts_with("Question"));
        seen.extend(titles.map(|tag| tag.text.clone()));
        let next = tags.iter().find(|tag| tag.get("href").starts_with("/?after="));
        path = next.map(|tag| tag.get("href").to_owned()).unwrap_or_default();
    }
    let expected: Vec<String> = (1..=30).map(|number| format!("Question {number}")).collect();
    assert_eq!(seen, expected);
    assert_eq!(path, "", "the last page leads nowhere");
}

#[tokio::test]
async fn a_deadline_is_told_with_the_time_that_is_left() {
    let world = World::new().await;
    world.raise(r#"{"waiter_ref":"w","prompt":{"title":"Soon"},"requires":{"v":1},"ttl":"PT90M"}"#).await;
    let mut ada = world.entered("Ada", Role::Viewer).await;
    world.clock.advance(Duration::from_secs(61));
    ada.get("/").await.is(200).says("(1 hour 28 minutes left) Asked by Deploy bot , 1 January 2026, 00:00 UTC");
    ada.get("/").await.is(200).says("Answer by 1 January 2026, 01:30 UTC (1 hour 28 minutes left)");
}

#[tokio::test]
async fn a_cursor_that_is_none_shows_the_first_page() {
    let world = World::new().await;
    ask(&world, 1).await;
    let mut ada = world.entered("Ada", Role::Viewer).await;
    for query in ["after=x", "after=%ff", "after=%", "="] {
        ada.get(&format!("/?{query}")).await.is(200).says("Question 1");
    }
}
