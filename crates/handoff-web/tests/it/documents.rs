//! Documents and references to files.

use handoff_protocol::{id::RequestId, principal::Role};

use crate::{
    browser::Browser,
    html::PageForm,
    world::{World, answer_form},
};

const THING: &str = r#"[
    {"name":"thing","label":"Thing","type":"document","required":true,"schema_ref":"schema:thing",
     "initial":{"name":"old","parts":[1,{"deep":"</textarea>\n"}],"none":[]}},
    {"name":"more","label":"More","type":"document","schema_ref":"schema:<unknown>"},
    {"name":"file","label":"File","type":"file_ref","initial":"vault/7"}]"#;

const PRETTY: &str = r#"{
  "name": "old",
  "parts": [
    1,
    {
      "deep": "</textarea>\n"
    }
  ],
  "none": []
}"#;

async fn open(world: &World) -> (Browser, PageForm, RequestId) {
    let id = world.ask(THING).await;
    let mut ada = world.entered("Ada", Role::Editor).await;
    let page = ada.get(&format!("/requests/{id}")).await;
    page.says("It is to follow the schema schema:thing").says("schema:<unknown>").says("filed under");
    assert!(page.body.contains(r#"aria-describedby="v.thing-hint v.thing-schema""#));
    assert!(page.body.contains(r#"id="v.thing-schema""#));
    let form = answer_form(page.is(200), id);
    (ada, form, id)
}

#[tokio::test]
async fn a_document_is_shown_readably_edited_as_text_and_recorded_as_json() {
    let world = World::new().await;
    let (mut ada, form, id) = open(&world).await;
    assert_eq!(form.get("v.thing"), Some(PRETTY));
    assert_eq!((form.get("v.more"), form.get("v.file")), (Some(""), Some("vault/7")));
    let form = form.fill("v.thing", &PRETTY.replace("old", "new")).fill("v.more", " \n5\n").fill("v.file", "vault/8");
    let reply = ada.send(&form).await;
    let receipt = ada.follow(&reply).await;
    receipt.is(200).says(r#""name": "new""#).says("More 5").says("File vault/8");
    assert!(receipt.body.contains("\n  &#34;parts&#34;: [\n"), "{}", receipt.body);
    let expected =
        r#"{"thing":{"name":"new","parts":[1,{"deep":"</textarea>\n"}],"none":[]},"more":5,"file":"vault/8"}"#;
    assert_eq!(world.decided(id).await.unwrap(), expected);
}

#[tokio::test]
async fn what_is_no_json_is_said_beside_its_field_along_with_every_other_fault() {
    let world = World::new().await;
    let (mut ada, form, id) = open(&world).await;
    for (text, why) in [
        ("{\"name\": \"x\",\n\"a\": 1,\n}", "This is not JSON: expected a member name in double quotes on line 3."),
        ("{\"a\":1,\"a\":2}", "This is not JSON: duplicate member name on line 1."),
        ("name", "This is not JSON: expected a value on line 1."),
    ] {
        let page = ada.send(&form.clone().fill("v.more", text).fill("v.thing", "{}")).await;
        page.is(422).says("Your answer was not sent yet").says(why).says("This does not follow the schema.");
        assert!(!page.text().contains("v.more\u{201d}"), "the input's own name is nobody's business");
        let kept = answer_form(&page, id);
        assert_eq!((kept.get("v.more"), kept.get("v.thing")), (Some(text), Some("{}")));
    }
    let page = ada.send(&form.clone().fill("v.thing", "{")).await;
    page.is(422).says("This is not JSON: unexpected end of the text on line 1.");
    assert!(!page.text().contains("Fill this in."), "it was filled in");
    let page = ada.send(&form.clone().fill("v.more", "[").fill("v.thing", r#"{"name":0.5}"#)).await;
    page.is(422).says("Numbers in it can only be whole").says("unexpected end of the text");
    // Any text would do as a document of no registered schema; what is typed is JSON or nothing.
    ada.send(&form.fill("v.more", "plain words")).await.is(422).says("This is not JSON: expected a value on line 1.");
    assert_eq!(world.decided(id).await, None);
}

#[tokio::test]
async fn an_empty_document_and_null_are_none() {
    let world = World::new().await;
    let (mut ada, form, id) = open(&world).await;
    for nothing in ["", " \n ", "null"] {
        ada.send(&form.clone().fill("v.thing", nothing)).await.is(422).says("Fill this in.");
    }
    let form = form.fill("v.thing", r#"{"name":"x"}"#).fill("v.more", "null").fill("v.file", "");
    ada.send(&form).await.is(303);
    assert_eq!(world.decided(id).await.unwrap(), r#"{"thing":{"name":"x"}}"#);
}

#[tokio::test]
async fn a_late_document_that_is_no_json_is_too_late_all_the_same() {
    let world = World::new().await;
    let (mut ada, form, id) = open(&world).await;
    let mut bob = world.entered("Bob", Role::Editor).await;
    let page = bob.get(&format!("/requests/{id}")).await;
    ada.send(&form).await.is(303);
    let page = bob.send(&answer_form(&page, id).fill("v.thing", "{")).await;
    page.is(409).says("Somebody answered before you");
}
