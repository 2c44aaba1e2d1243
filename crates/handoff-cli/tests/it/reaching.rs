//! Reaching people from the command line, and explaining who would be reached.

use std::fs;

use handoff_protocol::json::{Json, read_str};

use super::bench::{Bench, bare, run};

const TENANT: &str = "org_01K3M7QW8ZC4YRXB2N6VD9FTHE";
const DANA: &str = "usr_01K3M7QW8ZC4YRXB2N6VD9FTHE";
const EMIL: &str = "usr_01K3M7QW8ZC4YRXB2N6VD9FTHX";

#[tokio::test(flavor = "multi_thread")]
async fn a_request_is_escalated_and_passed_on() {
    let bench = Bench::start().await;
    let id = bench.ask(&["Ship it?", "--options", "yes,no"]).await;
    let escalated = bench.run(&["escalate", &id]).await;
    assert_eq!((escalated.code, escalated.out.contains("email")), (0, true), "{}{}", escalated.out, escalated.err);
    let named = bench.run(&["escalate", &id, "--rung", "2"]).await;
    assert!(named.code == 0 && named.out.contains("slack"), "{}", named.out);
    let none = bench.run(&["escalate", &id]).await;
    assert_eq!(none.code, 3);
    assert!(none.err.contains("`rung`"), "{}", none.err);
    for target in ["group:finance", "rotation:on-call", "role:admin", &bench.person.to_string()] {
        let passed = bench.run(&["reassign", &id, "--to", target, "--reason", "hers"]).await;
        assert_eq!(passed.code, 0, "{target}: {}", passed.err);
    }
    let wrong = bench.run(&["reassign", &id, "--to", "hunter2"]).await;
    assert!(wrong.code == 2 && wrong.err.contains("group:NAME") && !wrong.err.contains("hunter2"), "{}", wrong.err);
    let shown = bench.run(&["show", &id]).await;
    assert!(shown.out.contains("group finance"), "{}", shown.out);
    assert!(shown.out.contains("rung 1") && shown.out.contains("through email"), "{}", shown.out);
    assert!(shown.out.contains("PROVEN") && shown.out.contains("suppressed: channel_unknown"), "{}", shown.out);
}

#[tokio::test(flavor = "multi_thread")]
async fn deliveries_are_listed_sent_again_and_graded() {
    let bench = Bench::start().await;
    let id = bench.ask(&["Ship it?", "--options", "yes,no"]).await;
    bench.run(&["escalate", &id]).await;
    let mut listed = bench.run(&["deliveries", &id]).await;
    // The worker takes them up on its own time.
    while listed.out.contains("queued") {
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        listed = bench.run(&["deliveries", &id]).await;
    }
    assert!(listed.code == 0 && listed.out.contains("anyone *"), "{}{}", listed.out, listed.err);
    let of = |channel: &str| {
        let line = listed.out.lines().find(|line| line.contains(channel)).unwrap();
        line.split_whitespace().last().unwrap().to_owned()
    };
    let (page, mail) = (of("inapp"), of("email"));
    let graded = bench.run(&["grade", &page, "seen"]).await;
    assert!(graded.code == 0 && graded.out.contains("seen"), "{}{}", graded.out, graded.err);
    let sent = bench.run(&["redeliver", &page]).await;
    assert!(sent.code == 0 && sent.out.contains("one more attempt"), "{}{}", sent.out, sent.err);
    let kept = bench.run(&["redeliver", &mail]).await;
    assert!(kept.code == 3 && kept.err.contains("that could be sent again"), "{}", kept.err);
    for (typed, said) in [
        (vec!["grade", &page, "acted"], "expected `delivered` or `seen`"),
        (vec!["redeliver", "hunter2"], "handoff deliveries REQUEST"),
        (vec!["attempts", "hunter2"], "sig_"),
        (vec!["escalate", &id, "--rung", "x"], "--rung <N>: expected the number of a rung, from 0 to 9"),
        (vec!["ask", "What?", "--quorum", "0"], "--quorum <N>: expected a number of people, 1 or more"),
    ] {
        let wrong = bench.run(&typed).await;
        assert!(
            wrong.code == 2 && wrong.err.contains(said) && !wrong.err.contains("hunter2"),
            "{typed:?}: {}",
            wrong.err
        );
    }
    let passed = bench.run(&["answer", &id, "--delegate-to", "role:admin", "--note", "hers"]).await;
    assert_eq!(passed.code, 0, "{}", passed.err);
    let said = bench.run(&["dispositions", &id]).await;
    for part in ["Ada", "delegate", "role admin", "hers"] {
        assert!(said.out.contains(part), "no `{part}` in {}", said.out);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn who_is_asked_and_where_the_answer_goes_can_be_said() {
    let bench = Bench::start().await;
    let me = bench.person.to_string();
    let arguments =
        ["Ship it?", "--assignee", &me, "--assignee", "role:admin", "--to", "role:editor", "--resume-ref", "step 7"];
    let id = bench.ask(&arguments).await;
    let shown = bench.run(&["show", &id, "--json"]).await;
    let request = read_str(&shown.out).unwrap();
    let at = |pointer: &str| request.pointer(pointer).and_then(Json::as_str).map(str::to_owned);
    assert_eq!(at("/requires/authority/assignees/0/value"), Some(me));
    assert_eq!(at("/requires/authority/assignees/1/value").as_deref(), Some("admin"));
    assert_eq!(at("/routing/targets/0/value").as_deref(), Some("editor"));
    // This server has neither secrets nor keys, and says so.
    for (flags, said) in [
        (&["--callback", "http://127.0.0.1:9/x", "--secret-ref", "erp"][..], "secret"),
        (&["--resume-file", "-"], "resume_payload"),
    ] {
        let refused = bench.run(&[&["ask", "Ship it?"], flags].concat()).await;
        assert!(refused.code == 3 && refused.err.contains(said), "{}", refused.err);
    }
    let alone = bench.run(&["ask", "Ship it?", "--secret-ref", "erp"]).await;
    assert!(alone.code == 2 && alone.err.contains("--callback"), "{}", alone.err);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_policy_is_explained_without_a_server() {
    let directory = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        let path = directory.path().join(name);
        fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    let request = file(
        "request.json",
        r#"{"waiter_ref":"run:1","urgency":"high","ttl":"PT2H","prompt":{"title":"Refund?"},"requires":{"v":1}}"#,
    );
    let policy = file(
        "policy.json",
        &format!(
            r#"{{"v":1,"org_id":"{TENANT}","authority_floors":{{"min_role":"editor"}},"routing":{{"ladders":{{"high":{{
            "targets":[{{"kind":"role","value":"editor"}}],"ladder":[{{"after":"PT0S","channels":["inapp","pager"]}},
            {{"after":"PT30M","channels":["pager","pigeon"],"to":{{"kind":"principal","value":"{DANA}"}}}}]}}}},
            "quiet_hours":[{{"channels":["pager"],"from":"02:00","to":"07:00","timezone":"Europe/Berlin"}}]}}}}"#
        ),
    );
    file(
        "people.json",
        &format!(
            r#"{{"principals":[{{"tenant_ref":"{TENANT}","kind":"human","id":"{DANA}","token":"hunter2","role":"editor"}}]}}"#
        ),
    );
    let config = file(
        "handoff.toml",
        &format!(
            "bootstrap = \"people.json\"\n[[channels]]\nname = \"pager\"\nkind = \"command\"\nprogram = \"/bin/true\"\n\
             [[tenants]]\nid = \"{TENANT}\"\n[[tenants.people]]\nprincipal = \"{DANA}\"\ndisplay = \"Dana\"\n\
             contacts = [{{ channel = \"pager\", address = \"hunter2\", verified = true }}]\n\
             [[tenants.people]]\nprincipal = \"{EMIL}\"\ndisplay = \"Emil\"\n"
        ),
    );
    let explain = async |arguments: &[&str]| run(bare(&[&["policy", "explain"], arguments].concat()), "").await;
    // The starter ladder of a deployment of which nothing is said.
    let bare = explain(&[&request]).await;
    assert_eq!(bare.code, 0, "{}", bare.err);
    for part in
        ["inapp", "anyone *", "email", "slack", "not reached: no such channel is configured", "viewer or higher"]
    {
        assert!(bare.out.contains(part), "no `{part}` in {}", bare.out);
    }
    // 01:30 in Berlin, half an hour before the clocks go from 2 to 3: the second rung comes in quiet hours.
    let arguments = [&request, "--policy", &policy, "--config", &config, "--at", "2026-03-29T00:30:00Z"];
    let whole = explain(&arguments).await;
    assert_eq!(whole.code, 0, "{}", whole.err);
    let lines: Vec<&str> = whole.out.lines().collect();
    let has = |parts: &[&str]| lines.iter().any(|line| parts.iter().all(|part| line.contains(part)));
    assert!(has(&["0", "2026-03-29T00:30:00Z", "pager", "Dana", "reached"]), "{}", whole.out);
    assert!(has(&["1", "2026-03-29T01:00:00Z", "pager", "Dana", "not reached: quiet hours"]), "{}", whole.out);
    assert!(has(&["1", "pigeon", "not reached: no such channel is configured"]), "{}", whole.out);
    assert!(has(&["can be answered by: editor or higher"]), "{}", whole.out);
    assert!(has(&["ends: 2026-03-29T02:30:00Z, then escalate"]), "{}", whole.out);
    assert!(has(&["not reached: Emil: no rung is for them"]), "{}", whole.out);
    assert!(!whole.out.contains("hunter2") && !whole.err.contains("hunter2"));
    let json = explain(&[&arguments[..], &["--json"]].concat()).await;
    assert!(json.out.starts_with('{') && json.out.contains(r#""kept_back":"quiet_hours""#), "{}", json.out);

    // What would be refused is, in the server's words.
    let refused = file("refused.json", r#"{"waiter_ref":"run:1","prompt":{"title":""},"requires":{"v":1}}"#);
    let refused = explain(&[&refused]).await;
    assert!(refused.code == 3 && refused.err.contains("`prompt.title`"), "{}", refused.err);
    let newer = file("newer.json", &format!(r#"{{"v":2,"org_id":"{TENANT}"}}"#));
    let newer = explain(&[&request, "--policy", &newer]).await;
    assert!(newer.code == 1 && newer.err.contains("`v` must be 1"), "{}", newer.err);
}

#[tokio::test]
async fn an_explanation_knows_what_a_server_of_the_configuration_would() {
    let directory = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        let path = directory.path().join(name);
        fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    file("order.json", r#"{"type":"object","required":["sku"]}"#);
    let config = file("handoff.toml", "max_quorum = 2\n[schemas]\n\"https://a.example/order\" = \"order.json\"\n");
    let asks = |name: &str, quorum: u32, order: &str| {
        let text = format!(
            r#"{{"waiter_ref":"run:1","ttl":"PT2H","prompt":{{"title":"?"}},"requires":{{"v":1,"authority":{{"quorum":{quorum}}},
            "answer":{{"fields":[{{"name":"order","type":"document","schema_ref":"https://a.example/order"}}]}}}},
            "ttl_policy":{{"on_expiry":"default","default_answer":{{"order":{order}}}}}}}"#
        );
        file(name, &text)
    };
    for (request, code) in [
        (asks("good.json", 1, r#"{"sku":"7"}"#), 0),
        (asks("default.json", 1, r#"{"amount":7}"#), 3),
        (asks("quorum.json", 3, r#"{"sku":"7"}"#), 3),
    ] {
        let explained = run(bare(&["policy", "explain", &request, "--config", &config]), "").await;
        assert_eq!(explained.code, code, "{request}: {}", explained.err);
    }
}
