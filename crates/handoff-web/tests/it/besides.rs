//! What else a person can do from the page: give a part, pass the request on, say that they cannot answer.

use handoff_protocol::{json::read_str, principal::Role};

use crate::world::{World, YES_NO, answer_form, pass_on_form, unable_form};

const TWO: &str = r#"[{"name":"decision","label":"Decision","type":"choice","required":true,
    "options":[{"id":"reject","label":"Don't refund"},{"id":"approve","label":"Refund it"}]},
    {"name":"sum","label":"The sum","type":"number","required":true}]"#;

#[tokio::test]
async fn a_part_is_sent_now_and_the_receipt_page_says_whose_part_is_whose() {
    let world = World::new().await;
    let id = world.ask(TWO).await;
    let path = format!("/requests/{id}");
    let (mut ada, mut bob) = (world.entered("Ada", Role::Editor).await, world.entered("Bob", Role::Editor).await);
    let page = bob.get(&path).await;
    page.says("Send what I have");
    let form = answer_form(&page, id).pick("v.decision", "Refund it").forge("part", "yes");
    bob.send(&form).await.is(303);
    assert_eq!(world.decided(id).await, None);
    // The button pressed twice is one part.
    bob.send(&form).await.is(303);

    let page = ada.get(&path).await;
    page.says("What happened so far").says("Bob gave: Decision").says("A part of this was answered already");
    assert!(!page.body.contains("Send what I have"), "one field is no choice of parts");
    ada.send(&answer_form(&page, id).fill("v.sum", "3")).await.is(303);
    let page = ada.get(&path).await;
    // Labels and order are those of the whole question.
    page.says("Decision Refund it The sum 3").says("Ada gave the last part of this").says("Others gave parts before.");
    page.says("How it came about").says("Bob gave: Decision").says("Ada gave: The sum");
}

#[tokio::test]
async fn a_part_of_nothing_and_a_faulty_one_are_said_to_be() {
    let world = World::new().await;
    let id = world.ask(TWO).await;
    let mut ada = world.entered("Ada", Role::Editor).await;
    let page = ada.get(&format!("/requests/{id}")).await;
    let reply = ada.send(&answer_form(&page, id).forge("part", "yes")).await;
    reply.is(422).says("Nothing was filled in");
    let reply = ada.send(&answer_form(&reply, id).fill("v.sum", "much").forge("part", "yes")).await;
    reply.is(422).says("The sum : Enter a whole number");
    assert!(!reply.text().contains("Choose one."), "what is left for later is no fault");
}

#[tokio::test]
async fn a_secret_given_as_a_part_goes_to_its_sink() {
    let world = World::new().await;
    let id = world
        .ask(
            r#"[{"name":"user","type":"text","required":true},
            {"name":"password","type":"secret","required":true,"sink_ref":"snk_01K3M7QW8ZC4YRXB2N6VD9FTHF"}]"#,
        )
        .await;
    let mut ada = world.entered("Ada", Role::Admin).await;
    let page = ada.get(&format!("/requests/{id}")).await;
    ada.send(&answer_form(&page, id).fill("v.password", "hunter2").forge("part", "yes")).await.is(303);
    assert_eq!(world.vault.count(), 1);
    let page = ada.get(&format!("/requests/{id}")).await;
    ada.send(&answer_form(&page, id).fill("v.user", "dana")).await.is(303);
    assert_eq!(world.decided(id).await.unwrap(), r#"{"password":{"provided":true},"user":"dana"}"#);
}

#[tokio::test]
async fn a_request_is_passed_on_with_a_note_and_who_gets_it_reads_by_whom() {
    let world = World::new().await;
    let ada = world.person("Ada", Role::Editor).await;
    let bob = world.person("Bob", Role::Editor).await;
    world.person("Vera", Role::Viewer).await;
    let id = world
        .raise(&format!(
            r#"{{"waiter_ref":"run:1","prompt":{{"title":"Go on?"}},"requires":{{"v":1,"answer":{{"fields":{YES_NO}}},"authority":{{"min_role":"editor","assignees":[{{"kind":"principal","value":"{ada}"}}]}}}}}}"#
        ))
        .await;
    let path = format!("/requests/{id}");
    let (mut adas, mut bobs) = (world.browser(), world.browser());
    for (browser, person) in [(&mut adas, ada), (&mut bobs, bob)] {
        let link = world.link(person, None).await;
        browser.post(&link, &[], "").await.is(303);
    }
    let page = bobs.get(&path).await;
    assert!(!page.body.contains("/pass-on"), "who may not answer passes nothing on");
    let page = adas.get(&path).await;
    page.says("Somebody else should answer");
    // Whoever could not answer is not offered, and nobody is offered to themselves.
    assert!(page.body.contains(">Bob</option>") && !page.body.contains(">Vera</option>"));
    assert!(!page.body.contains(">Ada</option>"));
    let form = pass_on_form(&page, id).pick("to", "Bob").fill("note", "you know <them>");
    for _ in 0..2 {
        adas.send(&form).await.is(303);
    }
    adas.get(&path).await.says("Ada passed it on to Bob").says("you know <them>");
    let page = bobs.get(&path).await;
    page.says("Ada passed it on to Bob").says("you know <them>");
    assert_eq!(page.body.matches("passed it on").count(), 1, "a second press is no second time");
    bobs.send(&answer_form(&page, id).pick("v.decision", "Refund it")).await.is(303);
    bobs.get(&path).await.says("Decided by Bob").says("Ada passed it on to Bob");
}

#[tokio::test]
async fn who_cannot_answer_says_so_and_others_read_it() {
    let world = World::new().await;
    let id = world.ask(YES_NO).await;
    let path = format!("/requests/{id}");
    let (mut ada, mut bob) = (world.entered("Ada", Role::Editor).await, world.entered("Bob", Role::Editor).await);
    let page = ada.get(&path).await;
    ada.send(&unable_form(&page, id).fill("note", "I was away")).await.is(303);
    bob.get(&path).await.says("Ada cannot answer it").says("I was away").says("Send answer");
    let long = ada.send(&unable_form(&page, id).fill("note", &"x".repeat(2001))).await;
    long.is(422).says("That was not recorded").says("2000");
    assert!(long.body.contains("xxxx"), "what was written comes back");
}

#[tokio::test]
async fn neither_is_taken_from_elsewhere_without_its_token_or_for_another_question() {
    let world = World::new().await;
    let id = world.ask(YES_NO).await;
    world.person("Bob", Role::Editor).await;
    let mut ada = world.entered("Ada", Role::Editor).await;
    let page = ada.get(&format!("/requests/{id}")).await;
    for form in [pass_on_form(&page, id).pick("to", "Bob"), unable_form(&page, id)] {
        ada.send(&form.clone().forge("csrf", "0")).await.is(403);
        ada.send(&form.clone().without("nonce")).await.is(400);
        world.browser().send(&form).await.is(401);
    }
    for to in ["", "principal:usr_01K3M7QW8ZC4YRXB2N6VD9FTHF", "anyone:*", "role:nobody"] {
        ada.send(&pass_on_form(&page, id).forge("to", to)).await.is(400);
    }
    world.amend(id, r#"{"prompt":{"title":"Really go on?"}}"#).await;
    for form in
        [pass_on_form(&page, id).pick("to", "Bob").fill("note", "mine"), unable_form(&page, id).fill("note", "mine")]
    {
        let stale = ada.send(&form).await;
        stale.is(409).says("The question changed while you were reading").says("Really go on?").says("mine");
    }
    let page = ada.get(&format!("/requests/{id}")).await;
    assert!(!page.text().contains("What happened so far"));
    let body = read_str(r#"{"reason":"x"}"#).unwrap();
    world.engine.cancel(&world.machine, id, body, None).await.unwrap();
    ada.send(&unable_form(&page, id)).await.is(409).says("This request was withdrawn");
}

#[tokio::test]
async fn a_button_that_was_pressed_before_with_another_answer_gives_a_fresh_form() {
    let world = World::new().await;
    let id = world
        .raise(&format!(
            r#"{{"waiter_ref":"run:1","prompt":{{"title":"Go on?"}},"requires":{{"v":1,"answer":{{"fields":{YES_NO}}},"authority":{{"quorum":2}}}}}}"#
        ))
        .await;
    let mut ada = world.entered("Ada", Role::Editor).await;
    let page = ada.get(&format!("/requests/{id}")).await;
    page.says("Your answer alone lets the program do nothing: 1 more person must give the same one.");
    assert!(!page.text().contains("It may act as soon as it hears from you"));
    ada.send(&answer_form(&page, id).pick("v.decision", "Refund it")).await.is(303);
    let again = ada.send(&answer_form(&page, id).pick("v.decision", "Don't refund")).await;
    again.is(409).says("This form was sent before, with something else in it");
    assert_eq!(answer_form(&again, id).picked("v.decision"), ["Don't refund"]);
    ada.send(&answer_form(&again, id)).await.is(303);
    ada.get(&format!("/requests/{id}")).await.says("Ada answered; others must agree");
}

#[tokio::test]
async fn what_may_be_used_on_the_way_says_what_it_may_touch_and_for_how_long() {
    let world = World::new().await;
    let id = world
        .raise(
            r#"{"waiter_ref":"run:1","prompt":{"title":"Take over?"},"requires":{"v":1,"answer":{"fields":[]},
            "capabilities":[{"type":"interactive_surface","scope":"drive","label":"The <browser>","purpose":"to sign in",
            "resource_ref":"opaque:1","ttl":"PT10M"}]}}"#,
        )
        .await;
    let mut ada = world.entered("Ada", Role::Admin).await;
    let path = format!("/requests/{id}");
    let page = ada.get(&path).await;
    page.says("What you may use on the way").says("The <browser>").says("to sign in");
    page.says("What using it may touch Nobody describes what this reaches.");
    page.says("You may look at it and act in it.").says("It is shared with everybody of your organization.");
    page.says("What is done there cannot be undone.").says("10 minutes left").says("not from this page");
    world.clock.advance(std::time::Duration::from_secs(601));
    ada.get(&path).await.says("The time to use it is over.");
    ada.send(&answer_form(&page, id)).await.is(303);
    assert!(!ada.get(&path).await.text().contains("What you may use on the way"));
}
