//! A whole store moves to another place, of the other kind and back: everything goes on where it stopped.

use std::fs;

use handoff_engine::moving::{self, MoveError, Moved};
use handoff_protocol::bundle::{self, Trust};
use handoff_server::store;

use crate::support::{
    connection::{Answer, Connection},
    deployment::Deployment,
    tenant::Tenant,
};

/// Does something in a runtime in which every store can be opened.
fn wait<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap().block_on(work)
}

fn export(deployment: &Deployment) -> (String, Moved) {
    wait(async {
        let store = store::open(deployment.url()).unwrap();
        let mut export = moving::Export::begin(store.as_ref()).await.unwrap();
        let mut text = String::new();
        while let Some(piece) = export.next().await.unwrap() {
            text.push_str(&piece);
        }
        (text, export.moved())
    })
}

fn import(deployment: &Deployment, text: &str) -> Result<Moved, MoveError> {
    wait(async {
        let store = store::open(deployment.url()).unwrap();
        moving::import(store.as_ref(), text.as_bytes()).await
    })
}

/// Raises under an idempotency key.
fn raise(connection: &mut Connection, tenant: &Tenant, waiter: &str, key: &str) -> Answer {
    let body = format!(
        r#"{{"waiter_ref":"{waiter}","prompt":{{"title":"Shíp \u001b it?"}},"requires":{{"v":1,"answer":{{"fields":
        [{{"name":"decision","type":"choice","required":true,"options":[{{"id":"yes","label":"Yes"}}]}}]}}}}}}"#
    );
    let token = &tenant.machine;
    let headers =
        format!("Authorization: Bearer {token}\r\nContent-Type: application/json\r\nIdempotency-Key: {key}\r\n");
    connection.send("POST", "/v1/requests", &headers, &body).unwrap();
    connection.receive().unwrap()
}

/// What a tenant is asked at both places.
fn seen(connection: &mut Connection, tenant: &Tenant) -> Vec<String> {
    let paths = ["/v1/requests?state=answered", "/v1/receipts", "/v1/waiters/run:1/signals"];
    let get = |path| connection.call("GET", path, &tenant.machine, "").unwrap().body;
    paths.into_iter().map(get).collect()
}

fn verified(deployment: &Deployment) -> String {
    let output = deployment.run(&["verify-chain"], &[]);
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// Two tenants with answers, one that waits, signals that nobody took, and what was said under keys.
fn lived_in(deployment: &Deployment) -> ([Tenant; 2], Answer, Vec<Vec<String>>) {
    let tenants = [Tenant::create(deployment), Tenant::create(deployment)];
    let server = deployment.serve(&[("HANDOFF_PUBLIC_BASE", "https://handoff.example.com")]);
    let connection = &mut server.connect();
    for tenant in &tenants {
        for n in 1..=3 {
            let request = raise(connection, tenant, &format!("run:{n}"), &format!("key-{n}")).text("id");
            assert_eq!(tenant.answer(connection, &request).unwrap().status, 200);
        }
    }
    let pending = raise(connection, &tenants[0], "run:9", "key-9");
    assert_eq!(pending.status, 201);
    let seen = tenants.iter().map(|tenant| seen(connection, tenant)).collect();
    server.terminate();
    assert!(server.wait().0.success());
    (tenants, pending, seen)
}

#[test]
fn a_store_moves_from_sqlite_to_postgres_and_back_and_goes_on_where_it_stopped() {
    let (first, second, third) = (Deployment::sqlite(), Deployment::postgres(), Deployment::sqlite());
    let (tenants, raised, before) = lived_in(&first);
    let request = raised.text("id");
    let (text, moved) = export(&first);
    assert_eq!(moved.heads.len(), 2);
    assert_eq!(import(&second, &text).unwrap(), moved, "the heads are equal");
    assert_eq!(export(&second), (text.clone(), moved.clone()), "the same content is the same file");
    assert_eq!(import(&third, &text).unwrap(), moved);
    assert_eq!(export(&third), (text, moved));

    for place in [&second, &third] {
        assert_eq!(verified(place), verified(&first));
        fs::copy(first.signing_key(), place.signing_key()).unwrap();
        let server = place.serve(&[("HANDOFF_PUBLIC_BASE", "https://handoff.example.com")]);
        let connection = &mut server.connect();
        let after: Vec<_> = tenants.iter().map(|tenant| seen(connection, tenant)).collect();
        for (after, before) in after.iter().flatten().zip(before.iter().flatten()) {
            let apart = after.bytes().zip(before.bytes()).position(|(one, other)| one != other);
            assert_eq!((apart, after.len()), (None, before.len()), "what was there is served as before");
        }
        let replayed = raise(connection, &tenants[0], "run:9", "key-9");
        assert_eq!((replayed.status, replayed.text("id")), (200, request.clone()), "old keys are known");
        let other = raise(connection, &tenants[0], "run:8", "key-9");
        assert_eq!((other.status, other.text("error.code")), (409, "idempotency_key_reused".to_owned()));
        let answered = tenants[0].answer(connection, &request).unwrap();
        assert_eq!(answered.status, 200, "what waited can be answered: {answered:?}");
        let path = format!("/v1/receipts/{}", answered.text("receipt.id"));
        let receipt = connection.call("GET", &path, &tenants[0].machine, "").unwrap();
        assert_eq!(receipt.text("chain.height"), "4", "the chain goes on");
        let signals = connection.call("GET", "/v1/waiters/run:9/signals", &tenants[0].machine, "").unwrap();
        assert_eq!(signals.text("data.0.decision.receipt_id"), answered.text("receipt.id"));
        let bundle = connection.call("GET", "/v1/export", &tenants[0].machine, "").unwrap().body;
        assert!(bundle::verify(bundle.as_bytes(), &Trust::default()).unwrap().is_sound());
        server.terminate();
        assert!(server.wait().0.success());
        assert!(verified(place).contains(" OK count=4 "));
    }
}

#[test]
fn what_was_cut_off_altered_or_written_by_a_newer_version_is_refused_by_its_line_and_leaves_nothing() {
    let source = Deployment::sqlite();
    let _lived = lived_in(&source);
    let (text, moved) = export(&source);
    let lines: Vec<&str> = text.lines().collect();
    let whole = |lines: &[&str]| lines.iter().map(|line| format!("{line}\n")).collect::<String>();
    let without = |place: usize| whole(&[&lines[..place], &lines[place + 1..]].concat());
    let middle = lines.len() / 2;
    let event = lines.iter().position(|line| line.contains(r#""table":"events""#)).unwrap();
    for target in [Deployment::sqlite(), Deployment::postgres()] {
        let refusal = |text: &str| import(&target, text).unwrap_err().to_string();
        for place in [1, middle, lines.len() - 1] {
            assert_eq!(
                refusal(&whole(&lines[..place])),
                format!("the file ends after line {place}, and its last line is missing: it was cut off")
            );
            assert!(refusal(&without(place)).contains(&format!("line {}", place + 1)) || place == lines.len() - 1);
        }
        assert!(refusal(text.trim_end()).contains("cut off"));
        assert!(refusal(&text.replacen("request.answered", "request.answerec", 1)).starts_with("line "));
        let altered = lines[event].replace(r#""sequence":1"#, r#""sequence":9"#);
        let altered = whole(&[&lines[..event], &[altered.as_str()], &lines[event + 1..]].concat());
        assert_eq!(refusal(&altered), format!("line {}: it was altered, or one before it is missing", event + 1));
        let newer = text.replacen(r#""v":1"#, r#""v":2"#, 1);
        assert!(refusal(&newer).contains("the file has version 2, this program knows versions up to 1"));
        for other in ["", "{}\n", "hunter2", "{\"receipts\":[]}\n"] {
            assert!(refusal(other).contains("this is no export of a store"), "{other}");
        }
        assert!(refusal(&format!("{text}{}\n", lines[1])).contains("nothing can stand behind the last line"));
        // After all of that the store is empty still, and then it is not.
        assert_eq!(import(&target, &text).unwrap(), moved);
        assert!(refusal(&text).contains("the store has something in it already"));
        assert_eq!(export(&target).0, text);
    }
}
