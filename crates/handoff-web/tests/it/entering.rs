//! One-time links, sessions, leaving.

use std::time::Duration;

use handoff_protocol::principal::Role;

use crate::{
    html,
    world::{World, YES_NO},
};

#[tokio::test]
async fn a_link_shows_whom_it_is_for_and_is_used_up_by_the_press_alone() {
    let world = World::new().await;
    let person = world.person("Ada", Role::Editor).await;
    let id = world.ask(YES_NO).await;
    let link = world.link(person, Some(id)).await;
    let mut browser = world.browser();
    for _ in 0..3 {
        let page = browser.get(&link).await;
        page.is(200).says("This link is for Ada").says("It works once");
        assert!(!page.body.contains("Go on?"), "whoever opens links before their person reads nothing");
        assert_eq!(browser.cookie, None);
    }
    let reply = browser.post(&link, &[], "").await;
    assert_eq!(reply.header("location"), Some(format!("/requests/{id}").as_str()));
    let cookie = reply.header("set-cookie").unwrap();
    let (_, attributes) = cookie.split_once("; ").unwrap();
    assert_eq!(attributes, "Path=/; Max-Age=43200; HttpOnly; SameSite=Lax");
    browser.follow(&reply).await.is(200).says("Go on?").says("Ada");
}

#[tokio::test]
async fn a_used_a_lapsed_and_an_unknown_link_say_the_same() {
    let world = World::new().await;
    let person = world.person("Ada", Role::Editor).await;
    let (used, lapsed) = (world.link(person, None).await, world.link(person, None).await);
    let mut first = world.browser();
    first.post(&used, &[], "").await.is(303);
    let mut second = world.browser();
    let refusal = second.post(&used, &[], "").await;
    refusal.is(404).says("This link does not work any more").says("ask whoever sent it for a new one");
    assert!(refusal.body.contains(r#"<a class="more" href="/">"#), "the person may still be signed in");
    assert_eq!(second.cookie, None);
    world.clock.advance(Duration::from_secs(601));
    for path in [used.as_str(), &lapsed, "/enter/hl_nothing", "/enter/%ff"] {
        assert_eq!(second.get(path).await.body, refusal.body, "{path}");
        assert_eq!(second.post(path, &[], "").await.body, refusal.body, "{path}");
    }
}

#[tokio::test]
async fn a_link_without_a_request_leads_to_the_inbox() {
    let world = World::new().await;
    let person = world.person("Ada", Role::Editor).await;
    let link = world.link(person, None).await;
    let page = world.browser().get(&link).await;
    page.is(200);
    let reply = world.browser().post(&link, &[], "").await;
    assert_eq!(reply.is(303).header("location"), Some("/"));
}

#[tokio::test]
async fn cookies_are_kept_to_tls_where_the_public_base_has_it() {
    let world = World::at("https://handoff.test").await;
    let person = world.person("Ada", Role::Editor).await;
    let link = world.link(person, None).await;
    let reply = world.browser().post(&link, &[("Origin", "https://handoff.test")], "").await;
    assert!(reply.is(303).header("set-cookie").unwrap().ends_with("; Secure"));
}

#[tokio::test]
async fn leaving_ends_the_session_on_the_server_too() {
    let world = World::new().await;
    let mut browser = world.entered("Ada", Role::Editor).await;
    let page = browser.get("/").await;
    page.is(200).says("Ada").says("Sign out");
    let mut thief = browser.clone();
    let reply = browser.send(&html::form(&page.body, "/leave")).await;
    assert!(reply.header("set-cookie").unwrap().contains("Max-Age=0"));
    assert_eq!(browser.cookie, None);
    browser.follow(&reply).await.is(401).says("You are not signed in");
    thief.get("/").await.is(401);
}

#[tokio::test]
async fn a_session_ends_by_itself() {
    let world = World::new().await;
    let mut browser = world.entered("Ada", Role::Editor).await;
    world.clock.advance(Duration::from_secs(12 * 60 * 60));
    browser.get("/").await.is(401).says("You are not signed in");
}

#[tokio::test]
async fn a_machine_with_a_cookie_is_not_signed_in() {
    let world = World::new().await;
    let holder = world.machine.id().unwrap();
    let key = world.engine.issue_key(world.tenant, holder, handoff_engine::identity::NewCredential::default()).await;
    let mut browser = world.browser();
    browser.cookie = Some(key.unwrap().expose().clone());
    browser.get("/").await.is(401).says("Open your one-time link");
}
