//! Answers that need a fresh sign-in, or a second factor.

use std::time::Duration;

use handoff_protocol::{
    id::{PrincipalId, RequestId},
    principal::{AuthStrength, Role},
};

use crate::world::{World, answer_form};

async fn ask(world: &World, strength: &str) -> RequestId {
    let body = format!(
        r#"{{"waiter_ref":"run:1","prompt":{{"title":"Go on?"}},"requires":{{"v":1,"authority":{{"auth_strength":"{strength}"}},"answer":{{"fields":[]}}}}}}"#
    );
    world.raise(&body).await
}

#[tokio::test]
async fn who_just_entered_answers_what_needs_a_fresh_sign_in() {
    let world = World::new().await;
    let id = ask(&world, "reauth").await;
    let mut ada = world.entered("Ada", Role::Editor).await;
    world.clock.advance(Duration::from_secs(60));
    let page = ada.get(&format!("/requests/{id}")).await;
    page.is(200).says("Your sign-in is fresh until 1 January 2026, 00:05 UTC (4 minutes left)");
    world.clock.advance(Duration::from_secs(240));
    ada.send(&answer_form(&page, id)).await.is(303);
    let receipt = world.engine.surface(&world.machine, id).await.unwrap().receipt.unwrap();
    let actor = receipt.get("actor").unwrap();
    assert_eq!(actor.get("auth_strength").unwrap().as_str(), Some("reauth"));
    assert_eq!(actor.get("reauth_at").unwrap().as_str(), Some("2026-01-01T00:00:00Z"));
}

#[tokio::test]
async fn whose_sign_in_is_older_reads_and_is_told_how_to_enter_again() {
    let world = World::new().await;
    let id = ask(&world, "reauth").await;
    let path = format!("/requests/{id}");
    let person = world.person("Ada", Role::Editor).await;
    let link = world.link(person, None).await;
    let mut ada = world.browser();
    ada.post(&link, &[], "").await.is(303);
    let seen = ada.get(&path).await;
    world.clock.advance(Duration::from_secs(301));
    let page = ada.get(&path).await;
    page.is(200)
        .says("You can read this request, but not answer it yet")
        .says("Open a new one-time link to enter again, then answer within five minutes.");
    assert!(!page.body.contains("name=\"nonce\"") && !page.text().contains("fresh until"));
    ada.get("/").await.says("· You can read this request, but not answer it yet");
    let page = ada.send(&answer_form(&seen, id)).await;
    page.is(403)
        .says("You may not answer this request yet")
        .says("Your answer was not recorded.")
        .says("one-time link");
    assert_eq!(world.decided(id).await, None);

    let again = world.link(person, Some(id)).await;
    let reply = ada.post(&again, &[], "").await;
    let page = ada.follow(&reply).await;
    ada.send(&answer_form(&page, id)).await.is(303);
}

#[tokio::test]
async fn a_second_factor_is_nothing_that_these_pages_can_take() {
    let world = World::new().await;
    let id = ask(&world, "mfa").await;
    let mut ada = world.entered("Ada", Role::Admin).await;
    let page = ada.get(&format!("/requests/{id}")).await;
    page.is(200)
        .says("You can read this request, but not answer it here")
        .says("It needs a second factor of the last five minutes, and these pages have no way to take one.");
    assert!(!page.body.contains("name=\"nonce\""));
}

#[tokio::test]
async fn a_person_whose_token_is_worth_a_link_is_refused_in_words() {
    let world = World::new().await;
    let id = ask(&world, "link_only").await;
    let person = world.person("Ada", Role::Editor).await;
    let weak = handoff_engine::identity::NewCredential { strength: AuthStrength::LinkOnly, ..Default::default() };
    let token = world.engine.issue_key(world.tenant, PrincipalId::User(person), weak).await.unwrap();
    let mut ada = world.browser();
    ada.cookie = Some(token.expose().clone());
    let page = ada.get(&format!("/requests/{id}")).await;
    let page = ada.send(&answer_form(page.is(200), id)).await;
    page.is(403).says("You may not answer this request").says("It needs a full sign-in.");
    assert_eq!(world.decided(id).await, None);
}
