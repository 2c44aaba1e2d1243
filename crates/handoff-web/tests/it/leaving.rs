//! Sessions: a new one at each sign-in, and an end of all of them.

use handoff_protocol::principal::Role;

use crate::{html, world::World};

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
async fn without_a_session_there_are_settings_and_nothing_to_sign_out_of() {
    let world = World::new().await;
    let mut stranger = world.browser();
    let page = stranger.get("/settings").await;
    page.is(200).says("Language");
    assert!(!page.body.contains("/leave/everywhere"));
    stranger.post("/leave/everywhere", &[], "").await.is(303);
}
