//! From the link to the proof, as people go.

use handoff_browser::Look;
use handoff_protocol::{
    bundle::{self, Trust},
    principal::Role,
};
use serde_json::Value;

use crate::stage::{Stage, YES_NO, sizes};

const FIELDS: &str = r#"[
    {"name":"decision","label":"Decision","type":"choice","required":true,"options":[{"id":"a","label":"Refund it"},{"id":"b","label":"Do not refund"}]},
    {"name":"reasons","label":"What speaks for it","type":"choice","multi":true,"options":[{"id":"x","label":"Charged twice"},{"id":"y","label":"Goodwill"}]},
    {"name":"amount","label":"Amount","type":"number","min":1,"max":2400,"required":true},
    {"name":"message","label":"Message","type":"text","max_len":40,"required":true},
    {"name":"notify","label":"Tell them?","type":"boolean","required":true},
    {"name":"checked","label":"I have compared both charges","type":"attestation","required":true}]"#;

#[tokio::test(flavor = "multi_thread")]
async fn a_person_goes_from_the_link_to_the_proof_with_scripts_and_without_at_both_sizes() {
    let Some(stage) = Stage::new().await else { return };
    for look in sizes().into_iter().flat_map(|look| [look.clone(), look.without_scripts()]) {
        let id = stage.ask("Refund 2,400?", FIELDS).await;
        let person = stage.person("Ada", Role::Editor).await;
        let page = stage.window(&look);
        page.open(&stage.link(person, Some(id)).await).unwrap();
        page.says("This link is for Ada").unwrap();
        page.click("main form button").unwrap();
        page.says("Your answer lets the program act on it once").unwrap();

        // Sent as it stands, it comes back with its faults, the first of them in front of the reader.
        page.click("form.answer button.primary").unwrap();
        page.says("Your answer was not sent yet").unwrap();
        page.until("the summary has the focus", "document.activeElement.id === 'summary'").unwrap();
        page.click("#summary li:first-child a").unwrap();
        page.until("the fault is led to", "location.hash === '#v.decision'").unwrap();
        assert_eq!(stage.decided(id).await, None);

        page.click("[name='v.decision']").unwrap();
        page.click("[name='v.reasons']").unwrap();
        page.click("[name='v.amount']").unwrap();
        page.write("2400").unwrap();
        page.click("[name='v.message']").unwrap();
        page.write("Sent back \u{1f642} today").unwrap();
        page.click("[name='v.notify'][value='no']").unwrap();
        page.click("[name='v.checked']").unwrap();
        page.click("form.answer button.primary").unwrap();
        page.says("Ada decided this on").unwrap();
        page.says("Download proof").unwrap();
        let expected = r#"{"decision":"a","reasons":["x"],"amount":2400,"message":"Sent back 🙂 today","notify":false,"checked":true}"#;
        assert_eq!(stage.decided(id).await.as_deref(), Some(expected));
        let text = "fetch(document.querySelector('.proof a').href).then((answer) => answer.text())";
        let Value::String(proof) = page.evaluate(text).unwrap() else { panic!("a proof is text") };
        let report = bundle::verify(proof.as_bytes(), &Trust::default()).unwrap();
        assert_eq!((report.findings.as_slice(), report.signed), (&[][..], 1));
        let errors = page.events("Log.entryAdded");
        assert!(!format!("{errors:?}").contains("Content Security Policy"), "{errors:?}");
        page.close().unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn times_are_in_the_zone_of_the_reader_from_the_first_page_on_and_count_along() {
    let Some(stage) = Stage::new().await else { return };
    let fields = r#"[{"name":"t","label":"T","type":"text","max_len":5}]"#;
    let id = stage.ask("Go on?", fields).await;
    let page = stage.entered("Ada", &Look::desktop().zone("Asia/Tokyo")).await;
    page.open(&stage.address(id)).unwrap();
    // The virtual clock begins at midnight, UTC.
    page.says("09:00 UTC+9").unwrap();
    page.says("Times in Asia/Tokyo").unwrap();
    page.click("[name='v.t']").unwrap();
    page.write("\u{1f642}\u{fc}ber!").unwrap();
    page.says("6 of 5 characters").unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn the_language_is_the_browsers_and_can_be_chosen() {
    let Some(stage) = Stage::new().await else { return };
    let page = stage.window(&Look::phone().language("de-DE"));
    page.open(&stage.base).unwrap();
    page.says("Sie sind nicht angemeldet").unwrap();
    page.click(".tongues button[value='en']").unwrap();
    page.says("You are not signed in").unwrap();
    page.open(&stage.base).unwrap();
    page.says("You are not signed in").unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_phone_never_scrolls_sideways() {
    let Some(stage) = Stage::new().await else { return };
    let long = "x".repeat(199);
    let body = format!(
        r#"{{"waiter_ref":"w","prompt":{{"title":"{long}","body":"{long}\n\n| a | b | c | d | e |\n|-|-|-|-|-|\n| {long} | b | c | d | e |\n\n```\n{long}\n```",
            "evidence":[{{"kind":"link","label":"{long}","url":"https://example.com/{long}"}}]}},
            "requires":{{"v":1,"answer":{{"fields":{YES_NO}}}}}}}"#
    );
    let id = stage.raise(&body).await;
    let page = stage.entered("Ada", &Look::phone()).await;
    for address in [stage.base.clone(), stage.address(id), format!("{}/settings", stage.base)] {
        page.open(&address).unwrap();
        let fits = "document.documentElement.scrollWidth <= document.documentElement.clientWidth";
        assert_eq!(page.evaluate(fits).unwrap(), Value::Bool(true), "{address}");
    }
}
