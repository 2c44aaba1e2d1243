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

#[tokio::test]
async fn what_cannot_wait_stands_first_and_only_what_one_may_answer_is_for_one() {
    let world = World::new().await;
    let raise = async |title: &str, more: &str, authority: &str| {
        let body = format!(
            r#"{{"waiter_ref":"w:{title}","prompt":{{"title":"{title}"}},"requires":{{"v":1,"authority":{{{authority}}}}}{more}}}"#
        );
        world.raise(&body).await
    };
    let person = world.person("Ada", Role::Editor).await;
    let ttl = |ttl: &str| format!(r#","ttl":"{ttl}","ttl_policy":{{"on_expiry":"expire_and_deny"}}"#);
    raise("low", r#","urgency":"low""#, "").await;
    raise("normal-old", "", "").await;
    raise("normal-late", &ttl("P1D"), "").await;
    raise("normal-soon", &ttl("PT1H"), "").await;
    raise("critical", r#","urgency":"critical""#, "").await;
    raise("high", r#","urgency":"high""#, r#""min_role":"editor""#).await;
    raise("admins", r#","urgency":"critical""#, r#""min_role":"admin""#).await;
    raise(
        "mine",
        "",
        &format!(r#""assignees":[{{"kind":"principal","value":"{person}"}},{{"kind":"role","value":"viewer"}}]"#),
    )
    .await;
    raise("another", "", r#""assignees":[{"kind":"principal","value":"usr_01K3M7QW8ZC4YRXB2N6VD9FTHE"}]"#).await;
    raise("fresh", "", r#""auth_strength":"reauth""#).await;
    let mut ada = world.browser();
    ada.post(&world.link(person, None).await, &[], "").await.is(303);
    let titles = |body: &str| {
        let tags = html::tags(body);
        let links = tags.windows(2).filter(|pair| pair[0].get("href").starts_with("/requests/"));
        links.map(|pair| pair[1].text.clone()).collect::<Vec<_>>()
    };
    let mine = titles(&ada.get("/").await.body);
    assert_eq!(mine, ["critical", "high", "normal-soon", "normal-late", "normal-old", "mine", "fresh", "low"]);
    let all = titles(&ada.get("/?show=all").await.body);
    assert_eq!(all[..3], ["critical", "admins", "high"]);
    assert_eq!(all.len(), 10);
}
