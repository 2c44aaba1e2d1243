//! `handoff answer`, `list`, `show`, `cancel`: what a person and an operator do.

use handoff_protocol::json::{Json, read_str};

use super::bench::{self, Bench};

#[tokio::test(flavor = "multi_thread")]
async fn every_type_can_be_answered() {
    let bench = Bench::start().await;
    let specs = ["a:choice:x,y", "b:choices:x,y", "c:text", "d:number", "e:boolean", "f:attestation"];
    let fields: Vec<&str> = specs.iter().flat_map(|spec| ["--field", spec]).collect();
    let id = bench.ask(&[&["All of it?"], fields.as_slice()].concat()).await;
    let typed = ["a=y", "b=y,x", "c=a = b", "d=-7", "e=no", "f=true"];
    let values: Vec<&str> = typed.iter().flat_map(|value| ["--value", value]).collect();
    let ran = bench.run(&[&["answer", &id], values.as_slice()].concat()).await;
    assert_eq!(ran.code, 0, "{}", ran.err);
    let shown = bench.run(&["show", &id, "--json"]).await.json();
    assert_eq!(
        shown.pointer("/receipt/decision/values").unwrap().to_text(),
        r#"{"a":"y","b":["y","x"],"c":"a = b","d":-7,"e":false,"f":true}"#
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn several_options_are_given_together_or_one_by_one() {
    let bench = Bench::start().await;
    let id = bench.ask(&["Which?", "--field", "tags:choices:a,b,c"]).await;
    assert_eq!(bench.run(&["answer", &id, "--value", "tags=a", "--value", "tags=c"]).await.code, 0);
    let shown = bench.run(&["show", &id, "--json"]).await.json();
    assert_eq!(shown.pointer("/receipt/decision/values").unwrap().to_text(), r#"{"tags":["a","c"]}"#);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_link_answers_what_it_cannot_read() {
    let bench = Bench::start_with_link("t-link").await;
    let requires = r#"{"v":1,"authority":{"auth_strength":"link_only"},"answer":{"fields":[{"name":"why","type":"text","required":true}]}}"#;
    let question = bench.path("question.json");
    let body = format!(r#"{{"prompt":{{"title":"Why?"}},"requires":{requires}}}"#);
    std::fs::write(&question, body).unwrap();
    let answer = bench.path("answer.json");
    std::fs::write(&answer, r#"{"values":{"why":"because"},"note":"fine"}"#).unwrap();
    for given in [["--value", "why:=\"because\""], ["--file", answer.to_str().unwrap()]] {
        let id = bench.ask(&["--file", question.to_str().unwrap()]).await;
        let typed = bench.run(&["answer", &id, "--as", "t-link", "--value", "why=because"]).await;
        assert_eq!(typed.code, 2);
        assert!(typed.err.contains("may answer but not read") && typed.err.contains("NAME:=JSON"), "{}", typed.err);
        assert!(typed.err.contains("--file") && !typed.err.contains("because"), "{}", typed.err);
        let ran = bench.run(&[&["answer", &id, "--as", "t-link"], given.as_slice()].concat()).await;
        assert_eq!(ran.code, 0, "{}", ran.err);
        let shown = bench.run(&["show", &id, "--json"]).await.json();
        assert_eq!(shown.pointer("/receipt/actor/type").and_then(Json::as_str), Some("anonymous_link"));
        assert_eq!(shown.pointer("/receipt/decision/values").unwrap().to_text(), r#"{"why":"because"}"#);
    }
    let listed = bench.run(&["keys", "list"]).await.out;
    let link = listed.lines().find(|line| line.starts_with("anonymous link")).unwrap();
    let fingerprint = link.split_whitespace().nth(2).unwrap();
    assert!(link.ends_with("Front desk"), "{link}");
    assert_eq!(bench.run(&["keys", "revoke", fingerprint]).await.code, 0);
    let id = bench.ask(&["--file", question.to_str().unwrap()]).await;
    let late = bench.run(&["answer", &id, "--as", "t-link", "--file", answer.to_str().unwrap()]).await;
    assert_eq!(late.code, 3, "{}", late.err);
    assert_eq!(bench.run(&["answer", &id, "--file", question.to_str().unwrap()]).await.code, 2, "that is no answer");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_corrected_decision_names_the_receipt_that_corrects_it() {
    let bench = Bench::start().await;
    let id = bench.ask(&["Pay?", "--options", "yes,no"]).await;
    assert_eq!(bench.run(&["answer", &id, "--value", "decision=yes"]).await.code, 0);
    let shown = bench.run(&["show", &id]).await.out;
    assert!(!shown.contains("corrected"), "{shown}");
    let correction = bench.correct(&id, r#"{"values":{"decision":"no"},"note":"a slip"}"#).await;
    let shown = bench.run(&["show", &id]).await.out;
    let line = shown.lines().find(|line| line.starts_with("corrected by  ")).unwrap();
    assert!(line.contains(&correction) && line.contains("nothing new is authorized"), "{line}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_schema_of_a_document_is_shown() {
    let bench = Bench::start().await;
    let question = bench.path("question.json");
    let field = r#"{"name":"order","type":"document","schema_ref":"https://a.example/order.json","required":true}"#;
    let body = format!(r#"{{"prompt":{{"title":"Right?"}},"requires":{{"v":1,"answer":{{"fields":[{field}]}}}}}}"#);
    std::fs::write(&question, body).unwrap();
    let id = bench.ask(&["--file", question.to_str().unwrap()]).await;
    let shown = bench.run(&["show", &id]).await.out;
    assert!(shown.contains("wants a JSON document that follows https://a.example/order.json"), "{shown}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_wrong_with_an_answer_is_named() {
    let bench = Bench::start().await;
    let id = bench.ask(&["How many?", "--field", "count:number"]).await;
    let ran = bench.run(&["answer", &id, "--value", "count=hunter2"]).await;
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("`count` wants a whole number") && !ran.err.contains("hunter2"), "{}", ran.err);
    assert_eq!(bench.run(&["answer", &id, "--value", "size=1"]).await.code, 2);
    let ran = bench.run(&["answer", &id]).await;
    assert_eq!(ran.code, 3);
    assert!(ran.err.contains("answer_validation_failed") && ran.err.contains("\n  count: "), "{}", ran.err);

    let mut machine = bench.command(&["answer", &id, "--value", "count=1"]);
    machine.env("HANDOFF_PERSON_TOKEN", "");
    assert_eq!(bench::run(machine, "").await.code, 2, "a machine's key is no person's token");
    assert_eq!(bench.run(&["answer", "req_no", "--value", "count=1"]).await.code, 2);

    assert_eq!(bench.run(&["answer", &id, "--value", "count=1"]).await.code, 0);
    let late = bench.run(&["answer", &id, "--value", "count=2"]).await;
    assert_eq!(late.code, 3);
    assert!(late.err.contains("already_answered"), "{}", late.err);
    assert!(late.err.contains(&format!("see `handoff show {id}`")), "{}", late.err);

    let id = bench.ask(&["Ship?", "--options", "approve,reject"]).await;
    let ran = bench.run(&["answer", &id, "--value", "decision=hunter2"]).await;
    assert_eq!(ran.code, 3);
    let line = "  decision: must be the id of one of the declared options (approve, reject)";
    assert!(ran.err.lines().any(|told| told == line) && !ran.err.contains("hunter2"), "{}", ran.err);
    let shown = bench.run(&["show", "req_nope"]).await;
    assert_eq!(shown.code, 2);
    assert!(shown.err.starts_with("handoff: <REQUEST>: an id looks like req_01M8…; `handoff list`"), "{}", shown.err);
    assert_eq!(bench.run(&["list", "--limit", "0"]).await.code, 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn lists_are_filtered_and_hostile_titles_stay_on_their_line() {
    let bench = Bench::start().await;
    let first = bench.ask(&["one\u{1b}[2J\u{202e}", "--waiter-ref", "a"]).await;
    let second = bench.ask(&["two", "--waiter-ref", "b"]).await;
    bench.run(&["cancel", &second, "--reason", "enough"]).await;

    let table = bench.run(&["list"]).await;
    assert!(table.out.starts_with("REQUEST ") && table.out.lines().count() == 3, "{}", table.out);
    assert!(!table.out.contains(['\u{1b}', '\u{202e}']), "{:?}", table.out);
    let ids = |json: &Json| -> Vec<String> {
        let items = json.as_array().unwrap().iter();
        items.map(|item| item.get("id").and_then(Json::as_str).unwrap().to_owned()).collect()
    };
    assert_eq!(ids(&bench.run(&["list", "--json"]).await.json()), [first.clone(), second.clone()]);
    assert_eq!(
        ids(&bench.run(&["list", "--json", "--state", "cancelled"]).await.json()),
        std::slice::from_ref(&second)
    );
    assert_eq!(ids(&bench.run(&["list", "--json", "--waiter-ref", "a"]).await.json()), std::slice::from_ref(&first));
    let limited = bench.run(&["list", "--json", "--limit", "1"]).await;
    assert_eq!(ids(&limited.json()), std::slice::from_ref(&first));
    assert!(limited.err.contains("--limit"), "{}", limited.err);
    assert_eq!(bench.run(&["list", "--state", "gone"]).await.code, 2);

    let shown = bench.run(&["show", &second]).await.out;
    assert!(shown.starts_with("two\n") && shown.contains("reason        enough"), "{shown}");
    let shown = bench.run(&["show", &first]).await.out;
    assert!(!shown.contains(['\u{1b}', '\u{202e}']), "{shown:?}");
    assert_eq!(bench.run(&["cancel", &second, "--reason", "again"]).await.code, 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_secret_comes_from_a_file_and_goes_past_the_answer() {
    let bench = Bench::start().await;
    let body = r#"{"waiter_ref":"run:1","prompt":{"title":"Sign in?"},"requires":{"v":1,"answer":{"fields":[
        {"name":"user","type":"text","required":true},{"name":"password","type":"secret","required":true}],
        "value_sink":{"ref":"vault/1"}}}}"#;
    let raised = bench.client().raise(&read_str(body).unwrap(), None).await.unwrap();
    let id = raised.request.id.to_string();
    let ran = bench.run(&["answer", &id, "--value", "password=hunter2", "--value", "user=dana"]).await;
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("`--secret NAME=FILE`") && !ran.err.contains("hunter2"), "{}", ran.err);
    assert_eq!(bench.run(&["answer", &id, "--secret", "pin=-"]).await.code, 2);
    assert_eq!(bench.run(&["answer", &id, "--secret", "password=/no/such/file"]).await.code, 1);

    let file = bench.path("password");
    std::fs::write(&file, "hunter2\n").unwrap();
    let secret = format!("password={}", file.display());
    let ran = bench.run(&["answer", &id, "--value", "user=dana", "--secret", &secret]).await;
    assert_eq!(ran.code, 0, "{}", ran.err);
    let shown = bench.run(&["show", &id, "--json"]).await.json();
    assert_eq!(
        shown.pointer("/receipt/decision/values").unwrap().to_text(),
        r#"{"user":"dana","password":{"provided":true}}"#
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_is_answered_in_parts_passed_on_and_left_open() {
    let bench = Bench::start().await;
    let id = bench.ask(&["Both?", "--field", "sum:number", "--field", "who:text"]).await;
    let ran = bench.run(&["answer", &id, "--value", "sum=3", "--partial"]).await;
    assert_eq!((ran.code, ran.out.contains("the rest is still to be given")), (0, true), "{}{}", ran.out, ran.err);
    let shown = bench.run(&["show", &id]).await.out;
    assert!(
        shown.contains("given         sum at ") && shown.contains("  who: ") && !shown.contains("  sum: "),
        "{shown}"
    );

    let person = bench.person.to_string();
    let ran = bench.run(&["answer", &id, "--delegate-to", &person, "--note", "yours"]).await;
    assert_eq!(
        (ran.code, ran.out.as_str()),
        (0, "recorded; passed on, and the question is still open\n"),
        "{}",
        ran.err
    );
    assert_eq!(bench.run(&["answer", &id, "--delegate-to", "role:admin"]).await.code, 0);
    let ran = bench.run(&["answer", &id, "--unable", "--json"]).await;
    assert_eq!(ran.json().pointer("/receipt"), Some(&Json::Null), "{}", ran.err);
    let shown = bench.run(&["show", &id]).await.out;
    let passed_on = shown.lines().find(|line| line.contains(&format!("passed on to  principal {person} by "))).unwrap();
    assert!(passed_on.contains(" at 20") && passed_on.ends_with(": yours"), "{passed_on}");
    assert!(shown.contains("passed on to  role admin by "), "{shown}");
    assert!(shown.contains("unable        "), "{shown}");
    let listed = bench.client().dispositions(id.parse().unwrap(), None).await.unwrap().data;
    let words: Vec<_> = listed.iter().map(|one| (one.disposition.as_str(), one.note.as_deref())).collect();
    assert_eq!(words, [("delegate", Some("yours")), ("delegate", None), ("unable", None)]);

    for bad in [
        &["answer", &id, "--delegate-to", "hunter2"][..],
        &["answer", &id, "--delegate-to", "role:hunter2"],
        &["answer", &id, "--unable", "--partial"],
        &["answer", &id, "--unable", "--value", "who=x"],
    ] {
        let ran = bench.run(bad).await;
        assert_eq!((ran.code, ran.err.contains("hunter2")), (2, false), "{bad:?}: {}", ran.err);
    }
    assert_eq!(bench.run(&["answer", &id, "--value", "who=Acme"]).await.code, 0);
    let shown = bench.run(&["show", &id, "--json"]).await.json();
    assert_eq!(shown.pointer("/receipt/decision/values").unwrap().to_text(), r#"{"sum":3,"who":"Acme"}"#);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_for_several_says_how_many_answered() {
    let bench = Bench::start().await;
    let id = bench.ask(&["Ship?", "--options", "yes,no", "--quorum", "2"]).await;
    let ran = bench.run(&["answer", &id, "--value", "decision=yes"]).await;
    assert_eq!((ran.code, ran.out.as_str()), (0, "recorded; more people must agree before it counts\n"), "{}", ran.err);
    let shown = bench.run(&["show", &id]).await.out;
    assert!(shown.contains("answered by   1; 2 must agree"), "{shown}");

    let (ben, token) = bench.another_person("Ben").await;
    let answer = async |decision: &str| {
        let value = format!("decision={decision}");
        let ran = bench.run(&["answer", &id, "--as", &token, "--value", &value]).await;
        assert_eq!(ran.code, 0, "{}", ran.err);
        bench.run(&["show", &id]).await.out
    };
    let shown = answer("no").await;
    assert!(shown.contains("answered by   2 who differ, 1 at the most agree so far; 2 must agree"), "{shown}");
    let shown = answer("yes").await;
    let ada = bench.person;
    assert!(
        shown.contains("\nby            Ben\n") && shown.contains(&format!("\nand by        {ada} at 20")),
        "{shown}"
    );
    assert!(!shown.contains(&ben.to_string()), "{shown}");
    assert_eq!(bench.run(&["ask", "Ship?", "--options", "yes,no", "--quorum", "99"]).await.code, 3);
    assert_eq!(bench.run(&["ask", "Ship?", "--quorum", "0"]).await.code, 2);
}
