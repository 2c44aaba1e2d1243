//! Sessions: a new one at each sign-in, and an end of all of them.

use handoff_protocol::{id::PrincipalId, principal::Role};

use crate::{
    html,
    world::{World, YES_NO, answer_form},
};

#[tokio::test]
async fn entering_again_ends_the_session_that_the_browser_had() {
    let world = World::new().await;
    let (ada, bob) = (world.person("Ada", Role::Editor).await, world.person("Bob", Role::Editor).await);
    let mut browser = world.browser();
    browser.post(&world.link(ada, None).await, &[], "").await.is(303);
    let mut earlier = browser.clone();
    browser.post(&world.link(ada, None).await, &[], "").await.is(303);
    assert_ne!(browser.cookie, earlier.cookie);
    earlier.get("/").await.is(401);
    let mut second = browser.clone();
    browser.post(&world.link(bob, None).await, &[], "").await.is(303);
    browser.get("/").await.is(200).says("Bob");
    second.get("/").await.is(401);
    // A link that does not work ends nothing.
    browser.post("/enter/hl_nothing", &[], "").await.is(404);
    browser.get("/").await.is(200);
}

#[tokio::test]
async fn signing_out_everywhere_ends_every_session_of_the_person_and_of_nobody_else() {
    let world = World::new().await;
    let person = world.person("Ada", Role::Editor).await;
    let mut devices = Vec::new();
    for _ in 0..3 {
        let mut browser = world.browser();
        browser.post(&world.link(person, None).await, &[], "").await.is(303);
        devices.push(browser);
    }
    let unused = world.link(person, None).await;
    let mut bob = world.entered("Bob", Role::Editor).await;
    let page = devices[0].get("/settings").await;
    page.is(200).says("Ends your sessions on all devices");
    let form = html::form(&page.body, "/leave/everywhere");
    devices[0].send(&form.clone().forge("csrf", "")).await.is(403);
    devices[1].get("/").await.is(200);
    let reply = devices[0].send(&form).await;
    reply.is(200).says("You are signed out everywhere");
    assert_eq!(devices[0].cookie, None);
    for device in &mut devices {
        device.get("/").await.is(401);
    }
    bob.get("/").await.is(200);
    let mut again = world.browser();
    again.post(&unused, &[], "").await.is(303);
    again.get("/").await.is(200).says("Ada");
}

#[tokio::test]
async fn leaving_with_a_token_of_a_program_in_the_cookie_forgets_the_cookie_and_ends_no_token() {
    let world = World::new().await;
    let person = world.person("Ada", Role::Editor).await;
    let new = handoff_engine::identity::NewCredential::default();
    let key = world.engine.issue_key(world.tenant, PrincipalId::User(person), new).await.unwrap();
    let mut browser = world.browser();
    browser.cookie = Some(key.expose().clone());
    let page = browser.get("/settings").await;
    let reply = browser.send(&html::form(&page.body, "/leave")).await;
    reply.is(303);
    assert_eq!(browser.cookie, None);
    world.engine.authenticate(Some(key.expose())).await.unwrap();
}

#[tokio::test]
async fn two_sessions_at_once_are_none_and_an_empty_one_is_not_there() {
    let world = World::new().await;
    let id = world.ask(YES_NO).await;
    let (mut ada, bob) = (world.entered("Ada", Role::Editor).await, world.entered("Bob", Role::Editor).await);
    let page = ada.get(&format!("/requests/{id}")).await;
    let form = answer_form(&page, id).pick("v.decision", "Refund it");
    let (own, other) = (ada.cookie.clone().unwrap(), bob.cookie.unwrap());
    for second in [format!("{own}; handoff_session={other}"), format!("{other}; handoff_session={own}")] {
        ada.cookie = Some(second);
        ada.get("/").await.is(401).says("Clear the cookies of this site");
        ada.send(&form).await.is(401).says("Clear the cookies of this site");
    }
    assert_eq!(world.decided(id).await, None);
    for same in [
        format!("; handoff_session={own}"),
        format!("{own}; handoff_session="),
        format!("{own}; handoff_session={own}"),
    ] {
        ada.cookie = Some(same);
        ada.get("/").await.is(200).says("Ada");
    }
}

#[tokio::test]
async fn without_a_session_there_are_settings_and_nothing_to_sign_out_of() {
    let world = World::new().await;
    let mut stranger = world.browser();
    let page = stranger.get("/settings").await;
    page.is(200).says("Language");
    assert!(!page.body.contains("/leave/everywhere"));
    stranger.post("/leave/everywhere", &[], "").await.is(303);
}
