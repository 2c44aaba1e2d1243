//! Reading a request and answering it.

use handoff_protocol::principal::{Principal, Role};

use crate::{
    html,
    world::{World, YES_NO, answer_form, machine, raise},
};

const REFUND: &str = r#"{
  "waiter_ref": "run:refunds",
  "urgency": "high",
  "prompt": {
    "title": "Refund Acme Corp?",
    "body": "It was charged twice.\nBoth on one day.\n\nThe second has to go back.",
    "evidence": [
      {"kind": "link", "label": "Invoice", "url": "https://billing.example/inv/8821"},
      {"kind": "link", "label": "Odd", "url": "javascript:alert(1)"},
      {"kind": "table", "label": "Both charges", "value": {"columns": ["date", "amount"], "rows": [["2026-07-28", 2400]]}},
      {"kind": "text", "label": "Mail", "value": "Please refund."},
      {"kind": "document", "label": "Other", "value": {"a": 1}, "ref": "doc-7"}
    ]
  },
  "requires": {"v": 1, "answer": {"fields": [
    {"name": "decision", "label": "Decision", "type": "choice", "required": true,
     "options": [{"id": "approve", "label": "Refund it"}, {"id": "reject", "label": "Don't refund"}]}
  ]}},
  "ttl": "PT4H",
  "ttl_policy": {"on_expiry": "expire_and_deny"}
}"#;

#[tokio::test]
async fn a_person_reads_a_request_answers_it_and_gets_the_receipt_in_words() {
    let world = World::new().await;
    let id = world.raise(REFUND).await;
    let mut ada = world.entered("Ada", Role::Editor).await;
    let page = ada.get(&format!("/requests/{id}")).await;
    page.is(200)
        .says("Refund Acme Corp?")
        .says("It was charged twice. Both on one day.")
        .says("Answer by 1 January 2026, 04:00 UTC (4 hours left)")
        .says("If nobody answers It counts as a refusal.")
        .says("Asked by Deploy bot , 1 January 2026, 00:00 UTC")
        .says("Its reference: run:refunds")
        .says("Your answer lets the program act on it once, and within 24 hours.")
        .says("2026-07-28 2400")
        .says("Please refund.")
        .says("doc-7");
    assert!(page.body.contains("<pre tabindex=\"0\"><bdi>{\n  &#34;a&#34;: 1\n}</bdi></pre>"), "{}", page.body);
    assert!(page.body.contains("It was charged twice.<br>\nBoth on one day."));
    assert!(page.body.contains(r#"<a href="https://billing.example/inv/8821" rel="noopener noreferrer"#));
    assert!(!page.body.contains(r#"href="javascript"#));
    assert!(page.body.len() < 40_000, "{}", page.body.len());

    let form = answer_form(&page, id).pick("v.decision", "Refund it").fill("note", "Called them.\nAll fine.");
    let reply = ada.send(&form).await;
    assert_eq!(reply.header("location"), Some(format!("/requests/{id}").as_str()));
    let receipt = ada.follow(&reply).await;
    let view = world.engine.surface(&world.machine, id).await.unwrap();
    let sealed = view.receipt.unwrap();
    let digest = sealed.get("chain").unwrap().get("digest").unwrap().as_str().unwrap();
    receipt
        .is(200)
        .says("Answered")
        .says("Decision Refund it")
        .says("Decided by Ada")
        .says("When 1 January 2026, 00:00 UTC")
        .says("Place in the chain 1")
        .says("Called them. All fine.")
        .says(digest);
    assert!(!receipt.body.contains("name=\"nonce\""));
    assert_eq!(world.decided(id).await.unwrap(), r#"{"decision":"approve"}"#);
    assert_eq!(sealed.get("decision").unwrap().get("note").unwrap().as_str(), Some("Called them.\nAll fine."));
    let rendered = sealed.get("rendered").unwrap();
    assert_eq!(rendered.get("diverged").unwrap().as_bool(), Some(false), "the form echoes what was shown");
}

#[tokio::test]
async fn objects_in_a_table_become_rows_and_columns() {
    let world = World::new().await;
    let id = world
        .raise(
            r#"{"waiter_ref":"w","prompt":{"title":"Go on?","evidence":[{"kind":"table","label":"Lines","value":[
              {"item":"Grinder <b>","quantity":1},{"item":"Delivery","price":"€21.00","quantity":null}]}]},"requires":{"v":1}}"#,
        )
        .await;
    let mut ada = world.entered("Ada", Role::Editor).await;
    let page = ada.get(&format!("/requests/{id}")).await;
    let tags = html::tags(page.is(200).body.as_str());
    let cells = |kind: &str| {
        let inside = tags.windows(2).filter(|pair| pair[0].name == kind).map(|pair| pair[1].text.clone());
        inside.collect::<Vec<_>>()
    };
    assert_eq!(cells("th"), ["item", "quantity", "price"]);
    assert_eq!(cells("td"), ["Grinder <b>", "1", "", "Delivery", "", "€21.00"]);
    assert!(!page.body.contains("<pre>"));
}

#[tokio::test]
async fn a_program_without_a_name_is_told_by_its_reference_alone() {
    let world = World::new().await;
    let nameless = Principal { display: Some(" ".to_owned()), ..world.machine.clone() };
    let id =
        raise(&world.engine, &nameless, r#"{"waiter_ref":"w:1","prompt":{"title":"Go on?"},"requires":{"v":1}}"#).await;
    let mut ada = world.entered("Ada", Role::Editor).await;
    let page = ada.get(&format!("/requests/{id}")).await;
    page.is(200).says("Asked by A program without a name, 1 January 2026, 00:00 UTC");
    let inbox = ada.get("/").await;
    inbox.is(200).says("Asked 1 January 2026");
}

#[tokio::test]
async fn what_was_written_comes_back_when_the_answer_comes_to_nothing() {
    let world = World::new().await;
    let fields = r#"[{"name":"why","type":"text"},{"name":"sum","type":"number"},{"name":"sure","type":"boolean"}]"#;
    let id = world.ask(fields).await;
    let mut ada = world.entered("Ada", Role::Editor).await;
    let page = ada.get(&format!("/requests/{id}")).await;
    let form = answer_form(&page, id).fill("v.why", "We <owe> it.").fill("note", "Checked.").pick("v.sure", "Yes");
    let mut out = ada.clone();
    out.cookie = None;
    let page = out.send(&form).await;
    page.is(401).says("What you wrote, to copy why We <owe> it. Note for the record Checked.");
    assert!(!page.text().contains("sum"));
    let foreign = out.post(&form.action, &[("Origin", "https://evil.example")], &form.encode()).await;
    assert!(!foreign.is(401).text().contains("Checked."), "no other site puts words on our pages");
    world
        .engine
        .cancel(&world.machine, id, handoff_protocol::json::read_str(r#"{"reason":"x"}"#).unwrap(), None)
        .await
        .unwrap();
    ada.send(&form)
        .await
        .is(409)
        .says("This request was withdrawn")
        .says("why We <owe> it. Note for the record Checked.");
}

#[tokio::test]
async fn options_that_look_alike_or_like_nothing_have_their_ids_beside_them() {
    let world = World::new().await;
    let options = r#"[{"id":"pay","label":"Approve"},{"id":"delete","label":"Appr\u200dove"},{"id":"keep","label":"\u2800\u3164"},{"id":"x","label":"Wait"}]"#;
    let id = world
        .ask(&format!(r#"[{{"name":"decision","label":"\u200e\u2800","type":"choice","options":{options}}}]"#))
        .await;
    let mut ada = world.entered("Ada", Role::Editor).await;
    let page = ada.get(&format!("/requests/{id}")).await;
    page.is(200).says("Decision (optional) Approve (pay)").says("(delete) keep Wait");
    ada.send(&answer_form(&page, id).pick("v.decision", "Approve (pay)")).await.is(303);
    ada.get(&format!("/requests/{id}")).await.says("Decision Approve (pay)");
}

#[tokio::test]
async fn a_test_says_that_it_is_one_on_the_list_and_on_the_receipt_too() {
    let world = World::new().await;
    let body = format!(
        r#"{{"waiter_ref":"t","test_mode":true,"prompt":{{"title":"Go on?"}},"requires":{{"v":1,"answer":{{"fields":{YES_NO}}}}}}}"#
    );
    let id = world.raise(&body).await;
    let mut ada = world.entered("Ada", Role::Editor).await;
    ada.get("/").await.says("Test: nothing real depends on it");
    let page = ada.get(&format!("/requests/{id}")).await;
    let reply = ada.send(&answer_form(page.says("Test: nothing real"), id).pick("v.decision", "Refund it")).await;
    ada.follow(&reply).await.says("Answered Test: nothing real depends on it");
}

#[tokio::test]
async fn pressing_twice_gives_the_one_receipt_twice() {
    let world = World::new().await;
    let id = world.ask(YES_NO).await;
    let mut ada = world.entered("Ada", Role::Editor).await;
    let page = ada.get(&format!("/requests/{id}")).await;
    let form = answer_form(&page, id).pick("v.decision", "Refund it");
    let first = ada.send(&form).await;
    let first = ada.follow(&first).await;
    let second = ada.send(&form).await;
    let second = ada.follow(&second).await;
    assert_eq!(first.body, second.body);
    second.is(200).says("Place in the chain 1");
}

#[tokio::test]
async fn without_a_session_every_address_shows_the_same_page() {
    let world = World::new().await;
    let id = world.ask(YES_NO).await;
    let mut stranger = world.browser();
    let shown = stranger.get(&format!("/requests/{id}")).await;
    shown.is(401).says("Messages about questions do not sign you in");
    for path in ["/", "/requests/req_01K3M7QW8ZC4YRXB2N6VD9FTHE", "/requests/nonsense"] {
        assert_eq!(stranger.get(path).await.body, shown.body);
    }
    let sent = stranger.post(&format!("/requests/{id}"), &[], "v.decision=approve").await;
    sent.is(401).says("your answer was not recorded");
}

#[tokio::test]
async fn a_request_of_another_tenant_is_byte_for_byte_one_that_never_existed() {
    let world = World::new().await;
    let other = world.engine.create_tenant().await.unwrap();
    let theirs = raise(&world.engine, &machine(&world.engine, other).await, REFUND).await;
    let mut ada = world.entered("Ada", Role::Admin).await;
    let unknown = ada.get("/requests/req_01K3M7QW8ZC4YRXB2N6VD9FTHE").await;
    unknown.is(404).says("There is nothing here").says("ask whoever sent it").says("All requests that wait");
    for path in [format!("/requests/{theirs}"), "/requests/x".to_owned(), "/requests/%ff".to_owned()] {
        let page = ada.get(&path).await;
        assert_eq!((page.status, &page.body), (404, &unknown.body), "{path}");
    }
    let mine = world.ask(YES_NO).await;
    let page = ada.get(&format!("/requests/{mine}")).await;
    let mut form = answer_form(&page, mine).pick("v.decision", "Refund it");
    form.action = format!("/requests/{theirs}");
    let reply = ada.send(&form).await;
    assert_eq!((reply.status, &reply.body), (404, &unknown.body));
}

#[tokio::test]
async fn hostile_text_stays_text() {
    let world = World::new().await;
    let hostile = r#"</title><script>alert(1)</script>\" onmouseover=\"x ' & \u202etxt"#;
    let body = format!(
        r#"{{"waiter_ref":"<img src=x>","prompt":{{"title":"{hostile}","body":"{hostile}","evidence":[
            {{"kind":"link","label":"{hostile}","url":"https://x.example/\"onclick=\"alert(1)"}},
            {{"kind":"table","label":"{hostile}","value":{{"columns":["{hostile}"],"rows":[["{hostile}"]]}}}}]}},
            "requires":{{"v":1,"authority":{{"reason":"{hostile}"}},"answer":{{"fields":[
            {{"name":"a","label":"{hostile}","help":"{hostile}","type":"text","initial":"</textarea>{hostile}"}},
            {{"name":"b","label":"{hostile}","type":"choice","required":true,"options":[{{"id":"{hostile}","label":"{hostile}"}}]}}]}}}}}}"#
    );
    let id = world.raise(&body).await;
    let mut mallory = world.entered("<b>Mallory</b>\u{202e}", Role::Viewer).await;
    let page = mallory.get(&format!("/requests/{id}")).await;
    let shown = "</title><script>alert(1)</script>\" onmouseover=\"x ' & ⟨U+202E⟩txt";
    let plain = "</title><script>alert(1)</script>\" onmouseover=\"x ' & \u{202e}txt";
    let form = answer_form(&page, id);
    assert_eq!(form.get("v.a"), Some(format!("</textarea>{plain}").as_str()));
    let form = form.pick("v.b", shown).fill("note", plain);
    let inbox = mallory.get("/").await;
    let reply = mallory.send(&form).await;
    let receipt = mallory.follow(&reply).await;
    for page in [&page, &inbox, &receipt] {
        page.is(200);
        for planted in ["<script>", "<img", "<b>", "</textarea><", "\" onmouseover", "\"onclick"] {
            assert!(!page.body.contains(planted), "{planted} in {}", page.body);
        }
        // What turns the direction of writing is shown by name; only what a person edits keeps it.
        for (place, _) in page.body.match_indices('\u{202e}') {
            let before = &page.body[..place];
            let in_a_box = before.rfind("<textarea") > before.rfind("</textarea>");
            let in_a_line = before.rfind(" value=\"").is_some_and(|start| !before[start + 8..].contains('"'));
            assert!(in_a_box || in_a_line, "{}", &before[before.len().saturating_sub(200)..]);
        }
    }
    receipt.says(shown);
}
