//! Coming too late, or without the authority: pages that say so.

use std::time::Duration;

use handoff_engine::identity::NewCredential;
use handoff_protocol::{
    id::{PrincipalId, ReceiptId},
    json::{Json, read_str},
    principal::Role,
};

use crate::world::{World, YES_NO, answer_form};

#[tokio::test]
async fn of_two_people_the_second_learns_whose_answer_stands() {
    let world = World::new().await;
    let id = world.ask(YES_NO).await;
    let path = format!("/requests/{id}");
    let (mut ada, mut bob) = (world.entered("Ada", Role::Editor).await, world.entered("Bob", Role::Editor).await);
    let (seen_by_ada, seen_by_bob) = (ada.get(&path).await, bob.get(&path).await);
    ada.send(&answer_form(&seen_by_ada, id).pick("v.decision", "Refund it")).await.is(303);
    let page = bob.send(&answer_form(&seen_by_bob, id).pick("v.decision", "Don't refund")).await;
    page.is(409)
        .says("Somebody answered before you")
        .says("Your answer was not recorded.")
        .says("Decision Refund it")
        .says("Decided by Ada");
    assert_eq!(world.decided(id).await.unwrap(), r#"{"decision":"approve"}"#);
}

#[tokio::test]
async fn a_late_answer_with_faults_of_its_own_is_too_late_all_the_same() {
    let world = World::new().await;
    let id = world.ask(r#"[{"name":"n","label":"N","type":"number"}]"#).await;
    let path = format!("/requests/{id}");
    let (mut ada, mut bob) = (world.entered("Ada", Role::Editor).await, world.entered("Bob", Role::Editor).await);
    let (seen_by_ada, seen_by_bob) = (ada.get(&path).await, bob.get(&path).await);
    ada.send(&answer_form(&seen_by_ada, id).fill("v.n", "1")).await.is(303);
    for late in ["0.5", "x", "1e99"] {
        let page = bob.send(&answer_form(&seen_by_bob, id).fill("v.n", late)).await;
        page.is(409).says("Somebody answered before you").says("N 1");
    }
}

#[tokio::test]
async fn one_person_with_two_pages_is_told_that_they_answered() {
    let world = World::new().await;
    let id = world.ask(YES_NO).await;
    let mut ada = world.entered("Ada", Role::Editor).await;
    let (first, second) = (ada.get(&format!("/requests/{id}")).await, ada.get(&format!("/requests/{id}")).await);
    ada.send(&answer_form(&first, id).pick("v.decision", "Refund it")).await.is(303);
    let page = ada.send(&answer_form(&second, id).pick("v.decision", "Don't refund")).await;
    page.is(409).says("You answered this already").says("Decision Refund it");
    // The same page with another answer is a second answer too.
    let page = ada.send(&answer_form(&first, id).pick("v.decision", "Don't refund")).await;
    page.is(409).says("You answered this already").says("Decision Refund it");
}

#[tokio::test]
async fn a_corrected_decision_names_the_receipt_that_corrects_it() {
    let world = World::new().await;
    let id = world.ask(YES_NO).await;
    let person = PrincipalId::User(world.person("Eve", Role::Editor).await);
    let token = world.engine.issue_key(world.tenant, person, NewCredential::default()).await.unwrap();
    let eve = world.engine.authenticate(Some(token.expose())).await.unwrap();
    let json = |text: &str| read_str(text).unwrap();
    world.engine.answer(&eve, id, json(r#"{"values":{"decision":"approve"}}"#), None).await.unwrap();
    let mut ada = world.entered("Ada", Role::Viewer).await;
    assert!(!ada.get(&format!("/requests/{id}")).await.body.contains("corrected"));

    let decided = world.engine.surface(&eve, id).await.unwrap().receipt.unwrap();
    let decided = ReceiptId::parse(decided.get("id").and_then(Json::as_str).unwrap()).unwrap();
    let correction = json(r#"{"values":{"decision":"reject"},"note":"a slip"}"#);
    let corrected = world.engine.correct(&eve, decided, correction, None).await.unwrap();
    let corrected = corrected.get("id").and_then(Json::as_str).unwrap().to_owned();
    let page = ada.get(&format!("/requests/{id}")).await;
    page.is(200).says("This decision was corrected").says(&corrected).says("Decision Refund it");
    page.says("What it should have been Decision Don't refund a slip Decided by Eve");
}

#[tokio::test]
async fn an_expired_request_says_what_silence_came_to() {
    let world = World::new().await;
    let ask = |waiter: &str, policy: &str| {
        format!(
            r#"{{"waiter_ref":"{waiter}","prompt":{{"title":"Go on?"}},"ttl":"PT1H","ttl_policy":{policy},"requires":{{"v":1,"answer":{{"fields":{YES_NO}}}}}}}"#
        )
    };
    let denied = world.raise(&ask("a", r#"{"on_expiry":"expire_and_deny"}"#)).await;
    let default = r#"{"on_expiry":"default","default_answer":{"decision":"reject"}}"#;
    let defaulted = world.raise(&ask("b", default)).await;
    let mut ada = world.entered("Ada", Role::Editor).await;
    let before = ada.get(&format!("/requests/{denied}")).await;
    ada.get(&format!("/requests/{defaulted}")).await.says("If nobody answers The declared default counts.");
    world.clock.advance(Duration::from_secs(3600));
    world.engine.run_due_timers().await.unwrap();
    let late = ada.send(&answer_form(&before, denied).pick("v.decision", "Refund it")).await;
    late.is(409).says("The time to answer is over").says("Your answer was not recorded.").says("counts as a refusal");
    let page = ada.get(&format!("/requests/{denied}")).await;
    page.is(200).says("Expired").says("counts as a refusal").says("Decided by Nobody: the time ran out");
    let page = ada.get(&format!("/requests/{defaulted}")).await;
    page.is(200).says("without an answer. The declared default counts.").says("Decision Don't refund");
}

#[tokio::test]
async fn a_withdrawn_request_gives_its_owners_reason() {
    let world = World::new().await;
    let id = world.ask(YES_NO).await;
    let mut ada = world.entered("Ada", Role::Editor).await;
    let before = ada.get(&format!("/requests/{id}")).await;
    let reason = read_str(r#"{"reason":"The run was <stopped>."}"#).unwrap();
    world.engine.cancel(&world.machine, id, reason, None).await.unwrap();
    let page = ada.get(&format!("/requests/{id}")).await;
    page.is(200).says("Withdrawn").says("No answer is needed any more. The reason given: The run was <stopped>.");
    let page = ada.send(&answer_form(&before, id).pick("v.decision", "Refund it")).await;
    page.is(409)
        .says("This request was withdrawn")
        .says("Your answer was not recorded. The reason given: The run was <stopped>.");
}

#[tokio::test]
async fn without_the_authority_a_person_reads_and_cannot_answer() {
    let world = World::new().await;
    let id = world
        .raise(
            r#"{"waiter_ref":"w","prompt":{"title":"Go on?"},"requires":{"v":1,"authority":{"min_role":"admin"},"answer":{"fields":[]}}}"#,
        )
        .await;
    let path = format!("/requests/{id}");
    let mut bob = world.entered("Bob", Role::Viewer).await;
    let page = bob.get(&path).await;
    page.is(200).says("Go on?").says("You can read this request, but not answer it").says("“admin”");
    assert!(!page.body.contains("name=\"nonce\""));
    bob.get("/").await.says("Nothing waits for you.");
    bob.get("/?show=all").await.says("you can read this one, not answer it");
}

#[tokio::test]
async fn authority_that_was_lost_in_between_is_missed_at_the_answer() {
    let world = World::new().await;
    let id = world
        .raise(
            r#"{"waiter_ref":"w","prompt":{"title":"Go on?"},"requires":{"v":1,"authority":{"min_role":"editor"},"answer":{"fields":[]}}}"#,
        )
        .await;
    let person = world.person("Ada", Role::Editor).await;
    let link = world.link(person, None).await;
    let mut ada = world.browser();
    ada.post(&link, &[], "").await.is(303);
    let page = ada.get(&format!("/requests/{id}")).await;
    world.engine.set_role(world.tenant, person, Role::Viewer).await.unwrap();
    let page = ada.send(&answer_form(&page, id)).await;
    page.is(403).says("You may not answer this request").says("“editor”");
    assert_eq!(world.decided(id).await, None);
}
