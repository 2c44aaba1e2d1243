//! Each type of field, and what is said inline when a value does not do.

use handoff_protocol::principal::Role;

use crate::{
    browser::Browser,
    html::PageForm,
    world::{World, answer_form},
};

const ALL: &str = r#"[
    {"name":"one","label":"One","type":"choice","required":true,"options":[{"id":"a","label":"A"},{"id":"","label":"Blank"}]},
    {"name":"many","label":"Many","type":"choice","multi":true,"options":[{"id":"x\r\ny","label":"X"},{"id":"z","label":"Z"}]},
    {"name":"words","label":"Words","type":"text","max_len":500,"help":"Some words."},
    {"name":"short","label":"Short","type":"text","max_len":5},
    {"name":"count","label":"Count","type":"number","min":0,"max":10},
    {"name":"sure","label":"Sure","type":"boolean","required":true},
    {"name":"read","label":"I have read it","type":"attestation","required":true}]"#;

async fn open(world: &World, fields: &str) -> (Browser, PageForm, handoff_protocol::id::RequestId) {
    let id = world.ask(fields).await;
    let mut ada = world.entered("Ada", Role::Editor).await;
    let page = ada.get(&format!("/requests/{id}")).await;
    let form = answer_form(page.is(200), id);
    (ada, form, id)
}

#[tokio::test]
async fn every_type_of_field_is_answered() {
    let world = World::new().await;
    let (mut ada, form, id) = open(&world, ALL).await;
    let form = form
        .pick("v.one", "Blank")
        .tick("v.many", "X")
        .tick("v.many", "Z")
        .fill("v.words", "first line\nsecond & last")
        .fill("v.short", "\u{fc}ber!")
        .fill("v.count", " 7 ")
        .pick("v.sure", "No")
        .tick("v.read", "I confirm this");
    let reply = ada.send(&form).await;
    ada.follow(&reply)
        .await
        .is(200)
        .says("One Blank")
        .says("Many X Z")
        .says("Count 7")
        .says("Sure No")
        .says("Confirmed");
    let expected = r#"{"one":"","many":["x\r\ny","z"],"words":"first line\nsecond & last","short":"über!","count":7,"sure":false,"read":true}"#;
    assert_eq!(world.decided(id).await.unwrap(), expected);
}

#[tokio::test]
async fn what_is_left_empty_is_left_out() {
    let world = World::new().await;
    let (mut ada, form, id) = open(&world, &ALL.replace(r#""required":true"#, r#""required":false"#)).await;
    assert_eq!(form.picked("v.one"), ["No answer"], "optional radio buttons can be released");
    let reply = ada.send(&form).await;
    ada.follow(&reply).await.is(200).says("nothing had to be filled in");
    assert_eq!(world.decided(id).await.unwrap(), "{}");
}

#[tokio::test]
async fn a_field_without_a_label_is_called_by_its_name_in_words_on_the_page_alone() {
    let world = World::new().await;
    let fields = r#"[{"name":"po_number","type":"text","required":true},{"name":"x__y_","type":"text","label":" "},
        {"name":"named_one","type":"text","label":"po_number"}]"#;
    let (mut ada, form, id) = open(&world, fields).await;
    let page = ada.send(&form).await;
    // The link to the fault and the label of the field.
    page.is(422).says("send it again. Po number").says("Po number Fill this in.").says("X y (optional)");
    page.says("po_number (optional)");
    let reply = ada.send(&answer_form(&page, id).fill("v.po_number", "77").fill("v.named_one", "8")).await;
    ada.follow(&reply).await.is(200).says("Po number 77").says("po_number 8");
    assert_eq!(world.decided(id).await.unwrap(), r#"{"po_number":"77","named_one":"8"}"#);
}

#[tokio::test]
async fn every_fault_is_said_beside_its_field_and_what_was_typed_stays() {
    let world = World::new().await;
    let (mut ada, form, id) = open(&world, ALL).await;
    let form = form
        .tick("v.many", "Z")
        .fill("v.words", "keep <this>\n\nand this")
        .fill("v.short", "too long")
        .fill("v.count", "1,000")
        .fill("note", "a note");
    let page = ada.send(&form).await;
    page.is(422)
        .says("Your answer was not sent yet")
        .says("Choose one.")
        .says("Shorten this to 5 characters.")
        .says("Enter a whole number from 0 to 10.")
        .says("Tick this to confirm it.");
    assert!(page.body.contains("role=\"alert\""));
    assert!(page.body.contains(r##"<a href="#v.count">"##) && page.body.contains(r#"id="v.count""#));
    assert!(page.body.contains(r#"aria-describedby="v.short-hint v.short-error""#));
    assert!(page.body.contains(r#"id="v.short-error""#));
    assert_eq!(world.decided(id).await, None);

    let kept = answer_form(&page, id);
    assert_eq!(kept.get("v.words"), Some("keep <this>\n\nand this"));
    assert_eq!(kept.get("v.short"), Some("too long"));
    assert_eq!(kept.get("v.count"), Some("1,000"));
    assert_eq!(kept.get("note"), Some("a note"));
    assert_eq!(kept.picked("v.many"), ["Z"]);
    let mended = kept.pick("v.one", "A").fill("v.short", "fits").fill("v.count", "10").pick("v.sure", "Yes");
    let reply = ada.send(&mended.tick("v.read", "I confirm this")).await;
    ada.follow(&reply).await.is(200).says("Answered");
}

#[tokio::test]
async fn numbers_that_no_parser_agrees_on_are_said_inline() {
    let world = World::new().await;
    let field = r#"[{"name":"n","label":"N","type":"number","required":true}]"#;
    let (mut ada, form, id) = open(&world, field).await;
    for text in ["9007199254740992", "0.5", "1e400", "--1", "NaN", "0x10", "01", "\u{ff11}", "1 2"] {
        let page = ada.send(&form.clone().fill("v.n", text)).await;
        page.is(422).says("Enter a whole number of 15 digits at the most.");
        assert_eq!(answer_form(&page, id).get("v.n"), Some(text));
    }
    ada.send(&form.clone().fill("v.n", "")).await.is(422).says("Fill this in.");
    let reply = ada.send(&form.fill("v.n", "1.20e1")).await;
    ada.follow(&reply).await.is(200).says("N 12");
}

#[tokio::test]
async fn what_the_page_does_not_offer_is_refused_by_the_engine_in_words() {
    let world = World::new().await;
    let (mut ada, form, id) = open(&world, ALL).await;
    let form = form.forge("v.one", "nothing").forge("v.sure", "maybe").forge("v.read", "no").forge("v.more", "x");
    ada.send(&form).await.is(422).says("Choose from what is shown.").says("Tick this to confirm it.");
    assert_eq!(world.decided(id).await, None);
}

#[tokio::test]
async fn a_form_that_says_two_things_where_one_can_be_meant_is_refused() {
    let world = World::new().await;
    let (mut ada, form, id) = open(&world, ALL).await;
    let form = form.pick("v.one", "A").pick("v.sure", "No").tick("v.read", "I confirm this");
    let body = form.tick("v.many", "X").encode();
    let tag = |label: &str| {
        let digest = handoff_protocol::digest::Digest::of(label.as_bytes());
        digest.hex()
    };
    let (blank, x) = (tag(""), tag("x\r\ny"));
    for more in [
        format!("v.one={blank}"),
        "v.sure=yes".to_owned(),
        "v.words=other".to_owned(),
        "note=other".to_owned(),
        "csrf=x".to_owned(),
        "nonce=x".to_owned(),
        format!("v.many={x}"),
        "v.many=1&v.many=2".to_owned(),
    ] {
        ada.post(&format!("/requests/{id}"), &[], &format!("{body}&{more}")).await.is(400).says("could not be read");
    }
    assert_eq!(world.decided(id).await, None);
    ada.post(&format!("/requests/{id}"), &[], &body).await.is(303);
}

#[tokio::test]
async fn an_option_is_picked_by_its_tag_and_not_by_its_id() {
    let world = World::new().await;
    let (mut ada, form, id) = open(&world, ALL).await;
    let form = form.pick("v.one", "A").pick("v.sure", "No").tick("v.read", "I confirm this");
    for forged in [form.clone().forge("v.one", "a"), form.clone().forge("v.many", "z")] {
        ada.send(&forged).await.is(422).says("Choose from what is shown.");
    }
    assert_eq!(world.decided(id).await, None);
    ada.send(&form).await.is(303);
}

#[tokio::test]
async fn a_note_that_is_too_long_is_said_beside_the_note() {
    let world = World::new().await;
    let (mut ada, form, id) = open(&world, "[]").await;
    let page = ada.send(&form.fill("note", &"n".repeat(2001))).await;
    page.is(422).says("Shorten the note to 2000 characters.");
    let reply = ada.send(&answer_form(&page, id).fill("note", "short")).await;
    ada.follow(&reply).await.is(200);
}

#[tokio::test]
async fn what_a_field_declares_as_initial_is_filled_in_but_never_a_statement() {
    let world = World::new().await;
    let fields = r#"[
        {"name":"one","type":"choice","initial":"b","options":[{"id":"a","label":"A"},{"id":"b","label":"B"}]},
        {"name":"many","type":"choice","multi":true,"initial":["a"],"options":[{"id":"a","label":"A"},{"id":"b","label":"B"}]},
        {"name":"words","type":"text","initial":"as before"},
        {"name":"count","type":"number","initial":3},
        {"name":"sure","type":"boolean","initial":false},
        {"name":"read","type":"attestation","initial":true}]"#;
    let (_, form, _) = open(&world, fields).await;
    assert_eq!((form.picked("v.one"), form.picked("v.many")), (vec!["B"], vec!["A"]));
    assert_eq!((form.get("v.words"), form.get("v.count")), (Some("as before"), Some("3")));
    assert_eq!((form.picked("v.sure"), form.picked("v.read")), (vec!["No"], vec![]));
}
