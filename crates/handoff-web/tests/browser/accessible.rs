//! Every page, held to the rules of axe, at both sizes, in the light and in the dark.

use std::time::Duration;

use handoff_browser::{Look, Page};
use handoff_protocol::{json::read_str, principal::Role};
use serde_json::Value;

use crate::stage::{Stage, YES_NO, axe};

const EVERY_FIELD: &str = r#"[
    {"name":"one","label":"One","help":"Some help.","type":"choice","required":true,"options":[{"id":"a","label":"A"},{"id":"b","label":"B"}]},
    {"name":"many","label":"Many","type":"choice","multi":true,"options":[{"id":"a","label":"A"},{"id":"b","label":"B"}]},
    {"name":"list","label":"List","type":"choice","required":true,"options":[{"id":"1","label":"1"},{"id":"2","label":"2"},{"id":"3","label":"3"},{"id":"4","label":"4"},{"id":"5","label":"5"},{"id":"6","label":"6"},{"id":"7","label":"7"},{"id":"8","label":"8"},{"id":"9","label":"9"}]},
    {"name":"line","label":"Line","type":"text","max_len":40,"required":true},
    {"name":"words","label":"Words","type":"text"},
    {"name":"count","label":"Count","type":"number","min":0,"max":10,"required":true},
    {"name":"sure","label":"Sure?","type":"boolean","required":true},
    {"name":"read","label":"I have read it","type":"attestation","required":true},
    {"name":"doc","label":"Limits","type":"document","schema_ref":"https://schemas.example/limits","initial":{"a":[1,2]}},
    {"name":"file","label":"File","type":"file_ref"}]"#;

fn hold(page: &Page, rules: &str, what: &str) {
    page.evaluate(rules).unwrap();
    let script = "axe.run(document, { resultTypes: ['violations'] }).then((found) => found.violations.map((one) => \
                  `${one.id}: ${one.nodes.map((node) => node.html + ' ' + node.failureSummary).join(' | ')}`))";
    let found = page.evaluate(script).unwrap();
    assert_eq!(found, Value::Array(Vec::new()), "{what}");
}

#[tokio::test(flavor = "multi_thread")]
async fn every_page_keeps_the_rules_of_axe_at_both_sizes_in_light_and_dark() {
    let (Some(stage), Some(rules)) = (Stage::new().await, axe()) else { return };
    let body = format!(
        r##"{{"waiter_ref":"w","urgency":"high","prompt":{{"title":"Everything at once","body":"# Why\n\nText with a [link](https://example.com), `code` and\n\n> a quote\n\n| a | b |\n|-|-|\n| 1 | 2 |\n\n- x\n- y\n\n```\ncode\n```",
            "evidence":[{{"kind":"link","label":"Invoice","url":"https://billing.example/1"}},{{"kind":"table","label":"Rows","value":{{"columns":["A"],"rows":[["1"]]}}}},
            {{"kind":"text","label":"Mail","value":"Hello."}},{{"kind":"document","label":"Other","value":{{"a":1}},"ref":"d-7"}}]}},
            "requires":{{"v":1,"answer":{{"fields":{EVERY_FIELD}}}}},"ttl":"PT4H","ttl_policy":{{"on_expiry":"expire_and_deny"}}}}"##
    );
    for look in [Look::phone(), Look::desktop(), Look::phone().dark(), Look::desktop().dark()] {
        let id = stage.raise(&body).await;
        let settled = stage.ask("Settled", YES_NO).await;
        let withdrawn = stage.ask("Withdrawn", r#"[{"name":"a","type":"boolean"}]"#).await;
        let person = stage.person("Bob", Role::Viewer).await;
        let door = stage.window(&look);
        door.open(&stage.link(person, Some(id)).await).unwrap();
        hold(&door, &rules, "a link");
        door.open(&stage.base).unwrap();
        hold(&door, &rules, "signing in");

        let page = stage.entered("Ada", &look).await;
        hold(&page, &rules, "the inbox");
        page.open(&stage.address(id)).unwrap();
        hold(&page, &rules, "a request");
        page.click("form.answer button.primary").unwrap();
        page.says("Your answer was not sent yet").unwrap();
        hold(&page, &rules, "a request with faults");
        page.open(&stage.address(settled)).unwrap();
        page.click("[name='v.decision']").unwrap();
        page.click("form.answer button.primary").unwrap();
        page.says("Download proof").unwrap();
        hold(&page, &rules, "a receipt");
        let reason = read_str(r#"{"reason":"The run was stopped."}"#).unwrap();
        stage.engine.cancel(&stage.machine, withdrawn, reason, None).await.unwrap();
        page.open(&stage.address(withdrawn)).unwrap();
        hold(&page, &rules, "a withdrawn request");
        page.open(&format!("{}/settings", stage.base)).unwrap();
        hold(&page, &rules, "settings");
        page.open(&format!("{}/requests/x", stage.base)).unwrap();
        hold(&page, &rules, "nothing here");
        stage.clock.advance(Duration::from_secs(4 * 3600));
        stage.engine.run_due_timers().await.unwrap();
        page.open(&stage.address(id)).unwrap();
        page.says("The time to answer is over").unwrap();
        hold(&page, &rules, "a lapsed request");
    }
}
