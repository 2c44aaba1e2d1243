//! A question that changes while somebody reads it.

use handoff_protocol::{id::RequestId, principal::Role};

use crate::world::{World, answer_form};

const BEFORE: &str = r#"{"name":"decision","label":"Decision","type":"choice","required":true,"options":[{"id":"a","label":"Pay"},{"id":"b","label":"Wait"}]},
    {"name":"many","type":"choice","multi":true,"initial":["y"],"options":[{"id":"x","label":"X"},{"id":"y","label":"Y"}]},
    {"name":"why","label":"Why","type":"text"},
    {"name":"turned","label":"Turned","type":"text","initial":"before"},
    {"name":"gone","label":"Gone","type":"text"},
    {"name":"sum","label":"Sum","type":"number"},
    {"name":"sure","label":"I pay 10","type":"attestation"}"#;

const AFTER: &str = r#"{"name":"decision","label":"Decision","type":"choice","required":true,"options":[{"id":"a","label":"Pay"},{"id":"b","label":"Wait"}]},
    {"name":"many","type":"choice","multi":true,"initial":["y"],"options":[{"id":"x","label":"X"},{"id":"y","label":"Y"}]},
    {"name":"why","label":"Why","type":"text"},
    {"name":"turned","label":"Turned","type":"number","initial":3},
    {"name":"fresh","label":"Fresh","type":"boolean","initial":true},
    {"name":"sum","label":"Sum","type":"number"},
    {"name":"sure","label":"I pay 1000","type":"attestation"}"#;

async fn ask(world: &World, binding: &str) -> RequestId {
    let body = format!(
        r#"{{"waiter_ref":"run:1","presentation_binding":"{binding}","prompt":{{"title":"Pay 10?"}},"requires":{{"v":1,"answer":{{"fields":[{BEFORE}]}}}}}}"#
    );
    world.raise(&body).await
}

async fn change(world: &World, id: RequestId) {
    let body = format!(r#"{{"prompt":{{"title":"Pay 1000?"}},"requires":{{"v":1,"answer":{{"fields":[{AFTER}]}}}}}}"#);
    world.amend(id, &body).await;
}

#[tokio::test]
async fn under_strict_binding_an_answer_to_what_it_was_before_comes_back_with_the_question_as_it_is() {
    let world = World::new().await;
    let id = ask(&world, "strict").await;
    let mut ada = world.entered("Ada", Role::Editor).await;
    let page = ada.get(&format!("/requests/{id}")).await;
    let form = answer_form(&page, id)
        .pick("v.decision", "Pay")
        .forge("v.many", "")
        .fill("v.why", "We owe it.")
        .fill("v.turned", "typed")
        .fill("v.gone", "lost")
        .fill("v.sum", "10")
        .fill("note", "Checked.")
        .tick("v.sure", "I confirm this");
    change(&world, id).await;
    let page = ada.send(&form).await;
    page.is(409)
        .says("The question changed while you were reading")
        .says("So your answer was not recorded.")
        .says("Pay 1000?");
    assert!(!page.text().contains("Pay 10?"));
    assert_eq!(world.decided(id).await, None);

    let fresh = answer_form(&page, id);
    assert_ne!(fresh.get("rendered_digest"), form.get("rendered_digest"));
    assert_ne!(fresh.get("nonce"), form.get("nonce"));
    assert_eq!(fresh.picked("v.decision"), ["Pay"]);
    assert_eq!(fresh.picked("v.many"), Vec::<&str>::new(), "what was released is not picked again");
    assert_eq!(fresh.get("v.why"), Some("We owe it."));
    assert_eq!(fresh.get("v.turned"), Some("3"), "a field that became another begins anew");
    assert_eq!(fresh.picked("v.fresh"), ["Yes"], "a new field begins with what it declares");
    assert_eq!((fresh.get("v.gone"), fresh.get("v.sum")), (None, Some("10")));
    assert_eq!(fresh.get("note"), Some("Checked."));
    assert_eq!(fresh.picked("v.sure"), Vec::<&str>::new(), "who affirmed 10 did not affirm 1000");
    let reply = ada.send(&fresh).await;
    ada.follow(&reply).await.is(200).says("Answered").says("Decision Pay");
}

#[tokio::test]
async fn an_echo_that_is_missing_is_as_stale_as_a_wrong_one() {
    let world = World::new().await;
    let id = ask(&world, "strict").await;
    let mut ada = world.entered("Ada", Role::Editor).await;
    let page = ada.get(&format!("/requests/{id}")).await;
    let form = answer_form(&page, id).pick("v.decision", "Pay");
    ada.send(&form.clone().without("rendered_digest")).await.is(409).says("Read the question again");
    ada.send(&form).await.is(303);
}

#[tokio::test]
async fn faults_of_an_answer_to_an_earlier_version_are_not_held_against_it() {
    let world = World::new().await;
    let id = ask(&world, "advisory").await;
    let mut ada = world.entered("Ada", Role::Editor).await;
    let page = ada.get(&format!("/requests/{id}")).await;
    let form = answer_form(&page, id).fill("v.sum", "much");
    change(&world, id).await;
    let page = ada.send(&form.fill("v.turned", "2")).await;
    page.is(409).says("The question changed while you were reading");
    assert!(!page.text().contains("Choose one."));
    assert_eq!(answer_form(&page, id).get("v.sum"), Some("much"));
}

#[tokio::test]
async fn under_advisory_binding_too_an_answer_to_an_earlier_version_brings_the_question_back() {
    let world = World::new().await;
    let id = ask(&world, "advisory").await;
    let mut ada = world.entered("Ada", Role::Editor).await;
    let page = ada.get(&format!("/requests/{id}")).await;
    let form = answer_form(&page, id).pick("v.decision", "Pay");
    world.amend(id, r#"{"prompt":{"title":"Pay a thousand?"}}"#).await;
    ada.send(&form.clone().without("rendered_digest")).await.is(409);
    let page = ada.send(&form).await;
    page.is(409).says("The question changed while you were reading").says("Pay a thousand?");
    assert_eq!(world.decided(id).await, None);
    ada.send(&answer_form(&page, id)).await.is(303);
    let receipt = world.engine.surface(&world.machine, id).await.unwrap().receipt.unwrap();
    assert_eq!(receipt.get("rendered").unwrap().get("diverged").unwrap().as_bool(), Some(false));
}

#[tokio::test]
async fn what_was_chosen_is_not_kept_for_a_choice_that_means_something_else_now() {
    let world = World::new().await;
    let fields = |pay: &str, sure: &str| {
        format!(
            r#"[{{"name":"decision","type":"choice","options":[{{"id":"a","label":"{pay}"}},{{"id":"b","label":"Wait"}}]}},
            {{"name":"same","type":"choice","options":[{{"id":"a","label":"A"}},{{"id":"b","label":"B"}}]}},
            {{"name":"sure","label":"{sure}","type":"boolean"}},{{"name":"alike","type":"boolean"}},
            {{"name":"why","label":"{pay}","type":"text"}}]"#
        )
    };
    let id = world.ask(&fields("Pay 10", "Today?")).await;
    let mut ada = world.entered("Ada", Role::Editor).await;
    let page = ada.get(&format!("/requests/{id}")).await;
    let form = answer_form(&page, id)
        .pick("v.decision", "Pay 10")
        .pick("v.same", "B")
        .pick("v.sure", "Yes")
        .pick("v.alike", "No")
        .fill("v.why", "typed");
    let changed = fields("Delete it", "Ever?");
    world.amend(id, &format!(r#"{{"requires":{{"v":1,"answer":{{"fields":{changed}}}}}}}"#)).await;
    let page = ada.send(&form).await;
    let kept = answer_form(page.is(409), id);
    assert_eq!((kept.picked("v.decision"), kept.picked("v.same")), (vec!["No answer"], vec!["B"]));
    assert_eq!((kept.picked("v.sure"), kept.picked("v.alike")), (vec!["No answer"], vec!["No"]));
    assert_eq!(kept.get("v.why"), Some("typed"), "a text can be read again before it is sent");
}
