//! Secret fields on the page: what is typed goes to the sink, and the answer says that it was given.

use handoff_protocol::principal::Role;

use crate::world::{World, answer_form};

const FIELDS: &str = r#"[{"name":"user","label":"User","type":"text","required":true,"max_len":20},
    {"name":"password","label":"Password","type":"secret","required":true,"sink_ref":"snk_01K3M7QW8ZC4YRXB2N6VD9FTHF"}]"#;

#[tokio::test]
async fn what_is_typed_into_a_secret_goes_to_its_sink_and_never_comes_back() {
    let world = World::new().await;
    let id = world.ask(FIELDS).await;
    let mut ada = world.entered("Ada", Role::Admin).await;
    let page = ada.get(&format!("/requests/{id}")).await;
    assert!(page.is(200).body.contains(r#"type="password""#));
    page.says("is not kept with the answer");
    let form = answer_form(&page, id);

    // An answer that cannot be accepted sends nothing, and what was typed is not filled in again.
    let faulty = form.clone().fill("v.user", &"x".repeat(21)).fill("v.password", "c4nary-hunter2");
    let reply = ada.send(&faulty).await;
    assert!(!reply.is(422).body.contains("c4nary"));
    assert_eq!(world.vault.count(), 0);

    let form = answer_form(&reply, id).fill("v.user", "dana").fill("v.password", "c4nary-hunter2");
    let reply = ada.send(&form).await;
    let settled = ada.follow(&reply).await;
    settled.is(200).says("Password Given, and not kept here").says("User dana");
    assert!(!settled.body.contains("c4nary"));
    let given = world.vault.look(|all| all.iter().map(|one| one.values.expose().to_text()).collect::<Vec<_>>());
    assert_eq!(given, [r#"{"password":"c4nary-hunter2"}"#]);
    assert_eq!(world.decided(id).await.unwrap(), r#"{"user":"dana","password":{"provided":true}}"#);
}

#[tokio::test]
async fn a_secret_goes_to_the_request_of_its_page_whatever_newer_one_declares_the_same_place() {
    let world = World::new().await;
    let id = world.ask(FIELDS).await;
    let mut ada = world.entered("Ada", Role::Admin).await;
    let page = ada.get(&format!("/requests/{id}")).await;
    let newer = format!(
        r#"{{"waiter_ref":"run:2","prompt":{{"title":"Other?"}},"requires":{{"v":1,"answer":{{"fields":{FIELDS}}}}}}}"#
    );
    let newer = world.raise(&newer).await;
    let form = answer_form(&page, id).fill("v.user", "dana").fill("v.password", "hunter2");
    ada.send(&form).await.is(303);
    let requests = world.vault.look(|all| all.iter().map(|one| one.request).collect::<Vec<_>>());
    assert_eq!(requests, [id]);
    assert!(world.decided(newer).await.is_none());
}

#[tokio::test]
async fn a_place_that_does_not_take_a_secret_is_said_to_and_nothing_was_answered() {
    let world = World::new().await;
    let id = world.ask(FIELDS).await;
    let mut ada = world.entered("Ada", Role::Admin).await;
    let page = ada.get(&format!("/requests/{id}")).await;
    world.vault.fail(true);
    let reply = ada.send(&answer_form(&page, id).fill("v.user", "dana").fill("v.password", "c4nary-hunter2")).await;
    reply.is(503).says("The place for the secret did not take it").says("that is safe");
    assert!(!reply.body.contains("c4nary") && world.decided(id).await.is_none());
    // What was filled in stays, but for the secret.
    world.vault.fail(false);
    let form = answer_form(&reply, id).fill("v.password", "c4nary-hunter2");
    ada.send(&form).await.is(303);
    assert_eq!(world.decided(id).await.unwrap(), r#"{"user":"dana","password":{"provided":true}}"#);
}

#[tokio::test]
async fn pressing_twice_hands_a_secret_over_once() {
    let world = World::new().await;
    let id = world.ask(FIELDS).await;
    let mut ada = world.entered("Ada", Role::Admin).await;
    let page = ada.get(&format!("/requests/{id}")).await;
    let form = answer_form(&page, id).fill("v.user", "dana").fill("v.password", "hunter2");
    for _ in 0..2 {
        ada.send(&form).await.is(303);
    }
    assert_eq!(world.vault.count(), 1);
}

#[tokio::test]
async fn a_secret_without_a_place_is_ticked_once_it_was_given_elsewhere() {
    let world = World::new().await;
    let id = world.ask(r#"[{"name":"password","label":"Password","type":"secret","required":true}]"#).await;
    let mut ada = world.entered("Ada", Role::Admin).await;
    let page = ada.get(&format!("/requests/{id}")).await;
    page.says("There is no place here to type it.");
    let form = answer_form(&page, id).tick("v.password", "I confirm this");
    ada.send(&form).await.is(303);
    assert_eq!(world.decided(id).await.unwrap(), r#"{"password":{"provided":true}}"#);
    assert_eq!(world.vault.count(), 0);
}

#[tokio::test]
async fn whoever_may_not_answer_can_hand_nothing_over() {
    let world = World::new().await;
    let id = world.ask(FIELDS).await;
    let mut ada = world.entered("Ada", Role::Admin).await;
    let page = ada.get(&format!("/requests/{id}")).await;
    let form = answer_form(&page, id).fill("v.user", "dana").fill("v.password", "hunter2");
    let mut emil = world.entered("Emil", Role::Editor).await;
    let shown = emil.get(&format!("/requests/{id}")).await;
    assert!(!shown.is(200).body.contains(r#"type="password""#), "an editor cannot give a secret");
    ada.cookie = emil.cookie;
    ada.send(&form).await;
    assert_eq!(world.vault.count(), 0);
}
