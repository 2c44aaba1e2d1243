//! `handoff ask`: a typed answer on standard output, whatever happens meanwhile.

use handoff_protocol::{decision::WaiterRef, json::Json};

use super::bench::{self, Bench, bare};

fn member<'a>(json: &'a Json, pointer: &str) -> &'a str {
    json.pointer(pointer).and_then(Json::as_str).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_answer_is_printed_typed_and_then_acknowledged() {
    let bench = Bench::start().await;
    let fields = ["--field", "decision:choice:yes,no", "--field", "size:number", "--field", "why?:text"];
    let asking = bench.begin(&[&["Ship it?", "--waiter-ref", "w"], fields.as_slice()].concat()).await;
    let values = ["--value", "decision=yes", "--value", "size=4.0", "--note", "fine"];
    let answered = bench.run(&[&["answer", &asking.id], values.as_slice()].concat()).await;
    assert_eq!(answered.code, 0, "{}", answered.err);
    let ran = asking.end().await;
    assert_eq!((ran.code, ran.out.as_str()), (0, "{\"decision\":\"yes\",\"size\":4}\n"), "{}", ran.err);
    assert!(ran.err.contains("`handoff redeem auth_"), "{}", ran.err);
    assert!(bench.client().poll(&WaiterRef::parse("w").unwrap(), 0).await.unwrap().data.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_is_redeemed_once() {
    let bench = Bench::start().await;
    let asking = bench.begin(&["Pay?", "--options", "yes,no", "--redeem", "pay:7", "--json"]).await;
    bench.run(&["answer", &asking.id, "--value", "decision=no"]).await;
    let ran = asking.end().await;
    assert_eq!(ran.code, 0, "{}", ran.err);
    let told = ran.json();
    assert_eq!((member(&told, "/outcome"), member(&told, "/values/decision")), ("answered", "no"));
    assert_eq!(told.pointer("/redemption/first_redemption"), Some(&Json::from(true)));
    let authorization = member(&told, "/authorization_id");
    assert_eq!(bench.run(&["redeem", authorization, "pay:7"]).await.code, 9);
    let spent = bench.run(&["redeem", authorization, "pay:8"]).await;
    assert_eq!(spent.code, 3);
    assert!(spent.err.starts_with("handoff: authorization_spent: "), "{}", spent.err);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_no_is_redeemed_only_where_nothing_else_was_asked_for() {
    let bench = Bench::start().await;
    let question = ["Pay?", "--options", "yes,no", "--field", "limit:number", "--redeem", "pay:7"];
    let conditions = ["--redeem-if", "decision=yes", "--redeem-if", "limit=2e2"];
    for (answer, limit, code, told) in [
        ("decision=no", "limit=200", 10, "not redeemed: `decision` was answered otherwise"),
        ("decision=yes", "limit=100", 10, "not redeemed: `limit` was answered otherwise"),
        ("decision=yes", "limit=200", 0, "redeemed auth_"),
    ] {
        let asking = bench.begin(&[question.as_slice(), conditions.as_slice(), &["--json"]].concat()).await;
        let id = asking.id.clone();
        assert_eq!(bench.run(&["answer", &id, "--value", answer, "--value", limit]).await.code, 0);
        let ran = asking.end().await;
        assert_eq!(ran.code, code, "{}", ran.err);
        assert!(ran.err.contains(told), "{}", ran.err);
        let state = bench.run(&["show", &id, "--json"]).await.json();
        assert_eq!(member(&state, "/authorization/state"), if code == 0 { "spent" } else { "open" });
        assert_eq!(ran.json().pointer("/redemption/first_redemption").is_some(), code == 0, "{}", ran.out);
    }
    for (slip, words) in [("decision=yse", "wants one of: yes, no"), ("dicision=yes", "no field of the name")] {
        let ran = bench.run(&[&["ask"], question.as_slice(), &["--redeem-if", slip]].concat()).await;
        assert_eq!(ran.code, 2, "a condition that cannot hold asks nothing");
        assert!(ran.err.contains("--redeem-if: ") && ran.err.contains(words), "{}", ran.err);
    }
    assert_eq!(bench.run(&["ask", "Pay?", "--redeem-if", "answer=yes"]).await.code, 2, "nothing is to be redeemed");
    assert_eq!(bench.run(&["list", "--json"]).await.json().as_array().unwrap().len(), 3);
    let help = bench.run(&["ask", "--help"]).await.out;
    assert!(help.contains("Any answer is authorized, a \"no\" as well"), "{help}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_idempotency_key_alone_makes_a_call_repeatable() {
    let bench = Bench::start().await;
    for key in ["job-7".to_owned(), "\u{e9}".repeat(255), "\u{1f600}".repeat(255)] {
        let first = bench.ask(&["Again?", "--idempotency-key", &key]).await;
        assert_eq!(bench.ask(&["Again?", "--idempotency-key", &key]).await, first, "{key}");
        bench.run(&["answer", &first, "--value", "answer=now"]).await;
        let ran = bench.run(&["ask", "Again?", "--idempotency-key", &key]).await;
        assert_eq!((ran.code, ran.out.as_str()), (0, "{\"answer\":\"now\"}\n"), "{}", ran.err);
    }
    assert_ne!(bench.ask(&["Again?"]).await, bench.ask(&["Again?"]).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn who_is_told_to_stop_waiting_says_how_to_go_on() {
    let bench = Bench::start().await;
    for (signal, code) in [("INT", 130), ("TERM", 143), ("HUP", 129)] {
        let asking = bench.begin(&["Still there?", "--options", "yes,no"]).await;
        let id = asking.id.clone();
        asking.signal(signal);
        let ran = asking.end().await;
        assert_eq!(ran.code, code, "{}", ran.err);
        assert!(ran.err.contains(&format!("handoff ask --resume {id}")), "{}", ran.err);
        assert_eq!(bench.run(&["answer", &id, "--value", "decision=yes"]).await.code, 0, "the question stands");
        assert_eq!(bench.run(&["ask", "--resume", &id]).await.code, 0);

        let leased = bench.begin(&["Still there?", "--options", "yes,no", "--leased"]).await;
        let id = leased.id.clone();
        leased.signal(signal);
        let ran = leased.end().await;
        assert_eq!(ran.code, code, "{}", ran.err);
        assert!(ran.err.contains("the question was cancelled"), "{}", ran.err);
        assert_eq!(member(&bench.run(&["show", &id, "--json"]).await.json(), "/state"), "cancelled");
    }
    let help = bench.run(&["ask", "--help"]).await.out;
    assert!(help.contains("90 seconds"), "{help}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_test_is_marked_wherever_it_is_shown() {
    let bench = Bench::start().await;
    let test = bench.ask(&["Does it work?", "--test"]).await;
    let real = bench.ask(&["Does it work?"]).await;
    let listed = bench.run(&["list"]).await.out;
    let line = |id: &str| listed.lines().find(|line| line.contains(id)).unwrap().to_owned();
    assert!(line(&test).contains("pending (test)") && !line(&real).contains("test)"), "{listed}");
    assert!(bench.run(&["show", &test]).await.out.contains("\ntest          yes"));
    assert!(!bench.run(&["show", &real]).await.out.contains("\ntest "));
    assert_eq!(bench.run(&["show", &test, "--json"]).await.json().get("test_mode"), Some(&Json::from(true)));
}

#[tokio::test(flavor = "multi_thread")]
async fn every_ending_has_its_own_exit_code() {
    let bench = Bench::start().await;
    let asking = bench.begin(&["Still needed?"]).await;
    assert_eq!(bench.run(&["cancel", &asking.id, "--reason", "no longer"]).await.code, 0);
    let ran = asking.end().await;
    assert_eq!(ran.code, 6);
    assert!(ran.err.contains("cancelled: no longer"), "the reason is told: {}", ran.err);

    let expiring =
        bench.begin(&["Quick?", "--options", "a,b", "--ttl", "PT1S", "--default-answer", "decision=b"]).await;
    let id = expiring.id.clone();
    let ran = expiring.end().await;
    assert_eq!((ran.code, ran.out.as_str()), (5, "{\"decision\":\"b\"}\n"), "{}", ran.err);
    assert!(
        ran.err.contains("nobody answered; the declared default counts, and nothing was authorized"),
        "{}",
        ran.err
    );
    assert!(!ran.err.contains("redeemed"), "nothing was to be redeemed: {}", ran.err);
    let unredeemed = bench.run(&["ask", "--resume", &id, "--redeem", "e"]).await;
    assert_eq!(unredeemed.code, 5);
    assert!(unredeemed.err.contains("not redeemed: "), "{}", unredeemed.err);
    let again = bench.run(&["ask", "--resume", &id]).await;
    assert_eq!((again.code, again.out.as_str()), (5, "{\"decision\":\"b\"}\n"), "{}", again.err);
    assert!(again.err.contains("the declared default counts"), "what was acknowledged reads the same: {}", again.err);
    let denied = bench.begin(&["Quick?", "--ttl", "PT1S", "--on-expiry", "expire_and_deny"]).await.end().await;
    assert_eq!((denied.code, denied.out.as_str()), (5, "{}\n"));

    let replaced = bench.begin(&["Pay 240?"]).await;
    let successor = bench.ask(&["Pay 250?"]).await;
    bench.supersede(&replaced.id, &successor).await;
    let ran = replaced.end().await;
    assert_eq!(ran.code, 7, "{}", ran.err);
    assert!(ran.err.contains(&format!("superseded by {successor}")), "{}", ran.err);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_wait_outlives_a_restart_of_the_server() {
    let bench = Bench::start().await;
    let mut asking = bench.begin(&["Still there?", "--options", "yes,no"]).await;
    let (id, heard) = (asking.id.clone(), &mut asking);
    let bench = bench
        .restart(async {
            let line = heard.hear().await;
            assert!(line.contains("cannot be reached") && line.contains("still waiting"), "{line}");
        })
        .await;
    assert_eq!(bench.run(&["answer", &id, "--value", "decision=yes"]).await.code, 0);
    let ran = asking.end().await;
    assert_eq!((ran.code, ran.out.as_str()), (0, "{\"decision\":\"yes\"}\n"), "{}", ran.err);
}

#[tokio::test(flavor = "multi_thread")]
async fn who_died_while_waiting_goes_on_with_the_id_alone() {
    let bench = Bench::start().await;
    let asking = bench.begin(&["Still there?", "--options", "yes,no", "--waiter-ref", "w"]).await;
    let id = asking.id.clone();
    asking.die().await;
    assert_eq!(bench.run(&["answer", &id, "--value", "decision=no"]).await.code, 0);
    for redeemed_before in [false, true] {
        let ran = bench.run(&["ask", "--resume", &id, "--redeem", "e", "--json"]).await;
        assert_eq!(ran.code, if redeemed_before { 9 } else { 0 }, "{}", ran.err);
        let told = ran.json();
        assert_eq!((member(&told, "/request_id"), member(&told, "/values/decision")), (id.as_str(), "no"));
        assert!(bench.client().poll(&WaiterRef::parse("w").unwrap(), 0).await.unwrap().data.is_empty());
    }
    assert_eq!(bench.run(&["ask", "--resume", &id, "another question"]).await.code, 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_that_nobody_could_read_is_not_acknowledged() {
    let bench = Bench::start().await;
    let mut asking = bench.begin(&["Heard?", "--waiter-ref", "deaf"]).await;
    asking.stop_reading();
    bench.run(&["answer", &asking.id, "--value", "answer=yes"]).await;
    let ran = asking.end().await;
    assert_eq!(ran.code, 1, "{}", ran.err);
    let left = bench.client().poll(&WaiterRef::parse("deaf").unwrap(), 0).await.unwrap().data;
    assert_eq!(left.len(), 1, "the next run finds it");
}

#[tokio::test(flavor = "multi_thread")]
async fn asking_again_joins_what_is_pending_and_finds_what_is_answered() {
    let bench = Bench::start().await;
    let question = ["Again?", "--waiter-ref", "w", "--idempotency-key", "k"];
    let first = bench.ask(&question).await;
    let again = bench.run(&[&["ask", "--no-wait"], question.as_slice()].concat()).await;
    assert_eq!(again.out.trim(), first);
    assert!(again.err.starts_with("already asked: "), "{}", again.err);

    bench.run(&["answer", &first, "--value", "answer=now"]).await;
    for _ in 0..2 {
        // The first of these acknowledges the signal; the second reads what the request records.
        let ran = bench.run(&[&["ask"], question.as_slice()].concat()).await;
        assert_eq!((ran.code, ran.out.as_str()), (0, "{\"answer\":\"now\"}\n"), "{}", ran.err);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn failures_have_their_codes_and_show_no_secret() {
    let bench = Bench::start().await;
    assert_eq!(bench::run(bare(&["ask", "x"]), "").await.code, 2, "no key");
    assert_eq!(bench.run(&["ask"]).await.code, 2, "no title");
    assert_eq!(bench.run(&["ask", "x", "--field", "a:secret"]).await.code, 2);
    assert_eq!(bench.run(&["ask", "x", "--file", "y.json"]).await.code, 2);
    let slip = bench.run(&["ask", "x", "--field", "a:chioce:x,y"]).await;
    assert!(slip.err.starts_with("handoff: ") && slip.err.contains("did you mean `choice`?"), "{}", slip.err);
    let no_time = bench.run(&["ask", "x", "--ttl", "PT0S"]).await;
    assert_eq!(no_time.code, 2);
    assert!(no_time.err.contains("--ttl leaves no time") && no_time.err.contains("PT4H"), "{}", no_time.err);
    let help = bench.run(&["ask", "--help"]).await;
    for words in ["escalate: ", "expire_and_deny: ", "default: ", "park: ", "[default: escalate", "usage", "--no-wait"]
    {
        assert!(help.out.to_lowercase().contains(&words.to_lowercase()), "{words}: {}", help.out);
    }
    assert_eq!(bench.run(&["ask", "x", "--url", "hunter2"]).await.code, 2);
    for (ttl, mend) in [("4h", "write it as PT4H"), ("P1Y", "such as PT30M, PT4H, P2D"), ("hunter2", "PT30M")] {
        let ran = bench.run(&["ask", "x", "--ttl", ttl]).await;
        assert_eq!(ran.code, 2);
        assert!(ran.err.contains("--ttl") && ran.err.contains(mend) && !ran.err.contains("hunter2"), "{}", ran.err);
    }
    let nothing = bench.run(&["ask", "x", "--ttl", "PT1H", "--on-expiry", "default"]).await;
    assert_eq!(nothing.code, 2);
    assert!(nothing.err.contains("--default-answer NAME=VALUE"), "{}", nothing.err);
    assert_eq!(bench.run(&["ask", "x", "--url", "http://127.0.0.1:1"]).await.code, 4);
    let refused = bench.run(&["ask", "x", "--key", "hunter2"]).await;
    assert_eq!(refused.code, 3);
    assert!(refused.err.starts_with("handoff: invalid_api_key: "), "{}", refused.err);
    assert_eq!(refused.err.lines().count(), 1, "{}", refused.err);
    for ran in [refused, bench.run(&["ask", "x", "--url", "hunter2"]).await] {
        assert!(!ran.err.contains("hunter2"), "{}", ran.err);
    }
}
