//! Several people on one request: each page says what was recorded and what is still needed.

use handoff_protocol::{json::read_str, principal::Role};

use crate::world::{World, YES_NO, answer_form};

#[tokio::test]
async fn who_agreed_is_told_that_others_must_and_may_change_their_mind() {
    let world = World::new().await;
    let id = world
        .raise(&format!(
            r#"{{"waiter_ref":"run:1","prompt":{{"title":"Go on?"}},"requires":{{"v":1,"answer":{{"fields":{YES_NO}}},"authority":{{"quorum":2}}}}}}"#
        ))
        .await;
    let path = format!("/requests/{id}");
    let (mut ada, mut bob) = (world.entered("Ada", Role::Editor).await, world.entered("Bob", Role::Editor).await);
    let page = ada.get(&path).await;
    page.says("It counts once 2 people give the same answer");
    assert!(!page.text().contains("An answer is final"));
    ada.send(&answer_form(&page, id).pick("v.decision", "Refund it")).await.is(303);
    let page = ada.get(&path).await;
    page.says("Your answer is recorded").says("1 person has answered so far; 2 must agree.");
    assert_eq!(world.decided(id).await, None);
    // Another page of hers is another answer, in the place of the first.
    ada.send(&answer_form(&page, id).pick("v.decision", "Don't refund")).await.is(303);
    let page = bob.get(&path).await;
    assert!(!page.text().contains("Your answer is recorded"));
    bob.send(&answer_form(&page, id).pick("v.decision", "Don't refund")).await.is(303);
    bob.get(&path).await.says("Decided by Bob, and 1 other who agreed");
    assert_eq!(world.decided(id).await.unwrap(), r#"{"decision":"reject"}"#);
}

#[tokio::test]
async fn what_was_given_already_is_not_asked_for_again() {
    let world = World::new().await;
    let id = world
        .ask(r#"[{"name":"sum","label":"The sum","type":"number","required":true},{"name":"who","label":"Paid to","type":"text","required":true}]"#)
        .await;
    let person = world.person("Cy", Role::Editor).await;
    let link =
        world.engine.issue_link(world.tenant, person, handoff_protocol::duration::ExactDuration::from_hours(1), None);
    let entered = world.engine.enter(link.await.unwrap().expose()).await.unwrap();
    let cy = world.engine.authenticate(Some(entered.session.expose())).await.unwrap();
    let part = read_str(r#"{"values":{"sum":3},"partial":true}"#).unwrap();
    world.engine.answer(&cy, id, part, None).await.unwrap();
    let mut ada = world.entered("Ada", Role::Editor).await;
    let page = ada.get(&format!("/requests/{id}")).await;
    page.says("A part of this was answered already").says("Paid to");
    page.says("Cy gave: The sum");
    assert!(!page.body.contains("v.sum"));
    ada.send(&answer_form(&page, id).fill("v.who", "Acme")).await.is(303);
    assert_eq!(world.decided(id).await.unwrap(), r#"{"sum":3,"who":"Acme"}"#);
}

#[tokio::test]
async fn who_it_was_passed_on_to_finds_the_form() {
    let world = World::new().await;
    let (ada, bob) = (world.person("Ada", Role::Editor).await, world.person("Bob", Role::Editor).await);
    let id = world
        .raise(&format!(
            r#"{{"waiter_ref":"run:1","prompt":{{"title":"Go on?"}},"requires":{{"v":1,"answer":{{"fields":{YES_NO}}},"authority":{{"assignees":[{{"kind":"principal","value":"{ada}"}}]}}}}}}"#
        ))
        .await;
    let mut browser = world.browser();
    let link = world.link(bob, None).await;
    browser.post(&link, &[], "").await.is(303);
    let path = format!("/requests/{id}");
    browser.get(&path).await.says("You can read this request, but not answer it");
    let hour = handoff_protocol::duration::ExactDuration::from_hours(1);
    let link = world.engine.issue_link(world.tenant, ada, hour, None).await.unwrap();
    let entered = world.engine.enter(link.expose()).await.unwrap();
    let ada = world.engine.authenticate(Some(entered.session.expose())).await.unwrap();
    let pass_on =
        format!(r#"{{"values":{{}},"disposition":"delegate","delegate_to":{{"kind":"principal","value":"{bob}"}}}}"#);
    world.engine.answer(&ada, id, read_str(&pass_on).unwrap(), None).await.unwrap();
    let page = browser.get(&path).await;
    browser.send(&answer_form(&page, id).pick("v.decision", "Refund it")).await.is(303);
    browser.get(&path).await.says("Decided by Bob");
}
