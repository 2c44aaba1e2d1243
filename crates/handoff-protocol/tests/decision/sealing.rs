//! Receipts: whatever was asked and answered, what is sealed verifies from its own text.

use handoff_protocol::{
    chain::{ChainVerifier, Head, verify_alone},
    decision::{Answer, Fired, answer, expire},
    json::{Json, read_str},
    principal::Role,
};
use proptest::prelude::{any, prop_assert, prop_assert_eq, proptest};

use super::{
    raising::documents,
    scene::{Scene, ask, json, person, with},
};

proptest! {
    #[test]
    fn a_receipt_verifies_after_it_was_sealed_whatever_it_holds(
        value in documents(),
        words in any::<String>(),
        title in "\\PC{1,40}",
        height in 0..5_u64,
    ) {
        let mut scene = Scene::new();
        let quoted = Json::from(words.as_str()).to_text();
        let body = with(&ask(r#"{"name":"t","type":"text"}"#), "prompt.title", &Json::from(title.as_str()).to_text());
        let body = with(&body, "metadata", &format!(r#"{{"m":{}}}"#, value.to_text()));
        let body = with(&body, "requires.x-m", &value.to_text());
        let body = with(&body, "prompt.evidence", &format!(r#"[{{"kind":"table","label":"L","value":{}}}]"#, value.to_text()));
        let policy = format!(r#"{{"on_expiry":"default","default_answer":{{"t":{quoted}}}}}"#);
        let body = with(&with(&body, "ttl", r#""PT1M""#), "ttl_policy", &policy);
        let (request, waiter) = scene.raise(&body);
        let note: String = words.chars().take(2000).collect();
        let text = format!(r#"{{"values":{{"t":{quoted}}},"note":{}}}"#, Json::from(note.as_str()).to_text());
        let command = Answer::read(&person(Role::Viewer), json(&text)).unwrap();
        let mut head = Head { height, ..Head::GENESIS };
        let mut walk = ChainVerifier::after(head);
        for _ in 0..2 {
            let effects = answer(&request, &command, &person(Role::Viewer), &waiter, &head, &mut scene.context()).unwrap();
            let sealed = effects.receipt.unwrap();
            let receipt = read_str(&sealed.text).unwrap();
            prop_assert_eq!(verify_alone(&receipt), Ok(sealed.link));
            // Reading and writing it again changes nothing, so what is served is what was sealed.
            prop_assert_eq!(receipt.to_text(), sealed.text);
            walk.check(&receipt);
            head = sealed.link.head();
        }
        scene.now = request.expires_at.unwrap();
        let Fired::Acted(effects) = expire(&request, &waiter, &head, &mut scene.context()).unwrap() else {
            panic!("not due")
        };
        walk.check(&read_str(&effects.receipt.unwrap().text).unwrap());
        let report = walk.finish();
        prop_assert!(report.is_sound(), "{:?}", report.findings);
        prop_assert_eq!(report.receipts, 3);
    }
}

#[test]
fn the_digest_of_a_request_follows_its_declaration_and_nothing_else() {
    let mut scene = Scene::new();
    let (request, _) = scene.raise(&ask(r#"{"name":"t","type":"text"}"#));
    let digest = request.request_digest().unwrap();
    let mut elsewhere = request.clone();
    elsewhere.deliveries.clear();
    elsewhere.created_at = request.created_at.saturating_add(std::time::Duration::from_secs(9));
    assert_eq!(elsewhere.request_digest().unwrap(), digest);
    let mut newer = request.clone();
    newer.version = 2;
    assert_ne!(newer.request_digest().unwrap(), digest);
    assert_ne!(newer.rendered_digest().unwrap(), request.rendered_digest().unwrap());
    let mut reworded = request;
    reworded.prompt = json(r#"{"title":"Other"}"#);
    assert_ne!(reworded.request_digest().unwrap(), digest);
}
