//! Operations on a pending request: amend, supersede, attempt (section 11).

use std::time::Duration;

use handoff_protocol::{json::Json, principal::Scope};

use crate::world::{Tenant, World, question};

fn path(request: &str, operation: &str) -> String {
    format!("/v1/requests/{request}/{operation}")
}

#[tokio::test]
async fn an_amendment_replaces_what_it_holds_and_an_empty_one_changes_nothing() {
    let world = World::new().await;
    let raised = world.raise("run:1").await;
    let request = raised.str("id");
    let amend = |body: &str| world.post(&path(&request, "amend"), body).token(&world.home.machine);
    for empty in ["", "{}"] {
        assert_eq!(amend(empty).expect(200).await.body, raised.body);
    }
    let mended = amend(r#"{"prompt":{"title":"Ship v2?"}}"#).key("a").expect(200).await;
    assert_eq!((mended.str("prompt.title"), mended.at("version")), ("Ship v2?".into(), Json::from(2)));
    assert_eq!(mended.at("requires"), raised.at("requires"));
    assert_ne!(mended.at("rendered_digest"), raised.at("rendered_digest"));
    let read = world.get(&format!("/v1/requests/{request}")).token(&world.home.machine).expect(200).await;
    assert_eq!(read.body, mended.body);

    world.approve(&request).await;
    let replayed = amend(r#"{"prompt":{"title":"Ship v2?"}}"#).key("a").expect(200).await;
    assert_eq!(replayed.body, mended.body);
    let reused = amend(r#"{"prompt":{"title":"Other?"}}"#).key("a").expect(409).await;
    assert_eq!((reused.code(), reused.str("error.request_id")), ("idempotency_key_reused".into(), request.clone()));
    assert_eq!(amend(r#"{"prompt":{"title":"Late?"}}"#).expect(409).await.code(), "already_answered");
}

#[tokio::test]
async fn an_amendment_that_a_raise_would_refuse_is_refused_and_changes_nothing() {
    let world = World::new().await;
    let raised = world.raise("run:1").await;
    let request = raised.str("id");
    let cases = [
        (r#"{"prompt":{"title":""}}"#, "invalid_request"),
        (r#"{"prompt":"s3cret"}"#, "invalid_request"),
        (r#"{"requires":{"v":2}}"#, "unsupported_requires_version"),
        (r#"{"requires":{"v":1,"answer":{"fields":[{"name":"x","type":"s3cret"}]}}}"#, "unsupported_field_type"),
        (r#"[]"#, "invalid_request"),
        (r#"{"prompt":{"title":"a","title":"s3cret"}}"#, "invalid_request"),
    ];
    for (body, code) in cases {
        let reply = world.post(&path(&request, "amend"), body).token(&world.home.machine).expect(400).await;
        assert_eq!(reply.code(), code, "{body}");
        assert!(!reply.text().contains("s3cret"), "{}", reply.text());
    }
    let read = world.get(&format!("/v1/requests/{request}")).token(&world.home.machine).expect(200).await;
    assert_eq!(read.body, raised.body);
}

#[tokio::test]
async fn a_superseded_request_names_its_successor_and_tells_its_waiter() {
    let world = World::new().await;
    let (old, new) = (world.raise("run:1").await.str("id"), world.raise("run:2").await.str("id"));
    let body = format!(r#"{{"by":"{new}"}}"#);
    let supersede = || world.post(&path(&old, "supersede"), body.clone()).token(&world.home.machine).key("s");
    let superseded = supersede().expect(200).await;
    assert_eq!((superseded.str("state"), superseded.str("superseded_by")), ("superseded".into(), new.clone()));
    let heir = world.get(&format!("/v1/requests/{new}")).token(&world.home.machine).expect(200).await;
    assert_eq!((heir.str("state"), heir.str("supersedes")), ("pending".into(), old.clone()));
    let signals = world.get("/v1/waiters/run:1/signals").token(&world.home.machine).expect(200).await;
    assert_eq!(signals.at("data").as_array().map(<[Json]>::len), Some(1));
    assert_eq!(
        (signals.str("data.0.type"), signals.str("data.0.decision.superseded_by")),
        ("superseded".into(), new.clone())
    );
    assert_eq!(supersede().expect(200).await.body, superseded.body);
    let late = world.post(&path(&old, "answer"), r#"{"values":{"decision":"approve"}}"#).token(&world.home.editor);
    let late = late.expect(409).await;
    assert_eq!((late.code(), late.str("error.superseded_by")), ("request_superseded".into(), new));
}

#[tokio::test]
async fn a_successor_must_be_another_pending_request_of_the_tenant() {
    let world = World::new().await;
    let (old, over) = (world.raise("run:1").await.str("id"), world.raise("run:2").await.str("id"));
    world.approve(&over).await;
    let unknown = "req_01K3M7QW9A8ZC4YRXB2N6VD9FT".to_owned();
    let foreign = {
        let other = Tenant::new(&world.engine).await;
        let raise = world.post("/v1/requests", question("run:1", "?")).token(&other.machine);
        raise.expect(201).await.str("id")
    };
    let cases = [
        (old.clone(), 400, "invalid_request"),
        (over, 400, "invalid_request"),
        (unknown, 404, "request_not_found"),
        (foreign, 404, "request_not_found"),
        ("nonsense".to_owned(), 404, "request_not_found"),
    ];
    for (by, status, code) in cases {
        let body = format!(r#"{{"by":"{by}"}}"#);
        let reply = world.post(&path(&old, "supersede"), body).token(&world.home.machine).expect(status).await;
        assert_eq!(reply.code(), code, "{by}");
    }
    for body in ["", "{}", r#"{"by":7}"#] {
        let reply = world.post(&path(&old, "supersede"), body).token(&world.home.machine).expect(400).await;
        assert_eq!(reply.code(), "invalid_request");
    }
}

#[tokio::test]
async fn an_attempt_arms_its_window_once_a_key_and_its_lapse_is_told_once() {
    let world = World::new().await;
    let request = world.raise("run:1").await.str("id");
    let arm = |body: &str| world.post(&path(&request, "attempt"), body).token(&world.home.machine);
    let armed = arm("").key("k").expect(200).await;
    assert!(armed.at("attempt_expires_at").as_str().is_some());
    world.pass(Duration::from_secs(5)).await;
    assert_eq!(arm("").key("k").expect(200).await.body, armed.body);
    let anew = arm(r#"{"ttl":"PT10S"}"#).expect(200).await;
    assert_ne!(anew.at("attempt_expires_at"), armed.at("attempt_expires_at"));
    for bad in [r#"{"ttl":"P1M"}"#, r#"{"ttl":10}"#, "[]"] {
        assert_eq!(arm(bad).expect(400).await.code(), "invalid_request", "{bad}");
    }
    world.pass(Duration::from_secs(10)).await;
    world.pass(Duration::from_secs(10)).await;
    let signals = world.get("/v1/waiters/run:1/signals").token(&world.home.machine).expect(200).await;
    assert_eq!(signals.str("data.0.type"), "attempt_lapsed");
    assert_eq!(signals.at("data").as_array().map(<[Json]>::len), Some(1));
    let read = world.get(&format!("/v1/requests/{request}")).token(&world.home.machine).expect(200).await;
    assert_eq!((read.str("state"), read.str("urgency_state")), ("pending".into(), "waiting".into()));
}

#[tokio::test]
async fn what_is_unknown_settled_or_not_ones_own_is_refused_by_all_three_alike() {
    let world = World::new().await;
    let other = world.raise("run:9").await.str("id");
    let answered = world.raise("run:1").await.str("id");
    world.approve(&answered).await;
    let foreign = Tenant::new(&world.engine).await;
    let narrow = world.machine_with(&[Scope::RequestsRead]).await;
    let bodies =
        [("amend", "{}".to_owned()), ("supersede", format!(r#"{{"by":"{other}"}}"#)), ("attempt", String::new())];
    for (operation, body) in bodies {
        let call = |request: &str, token: &str| world.post(&path(request, operation), body.clone()).token(token);
        for unknown in ["req_01K3M7QW9A8ZC4YRXB2N6VD9FT", "nonsense", "%FF"] {
            assert_eq!(call(unknown, &world.home.machine).expect(404).await.code(), "request_not_found");
        }
        let hidden = call(&answered, &foreign.machine).expect(404).await;
        assert_eq!(hidden.body, call("nonsense", &foreign.machine).expect(404).await.body);
        assert_eq!(call(&answered, &narrow).expect(403).await.code(), "insufficient_scope");
        let settled = call(&answered, &world.home.machine).expect(409).await;
        assert_eq!((settled.code(), settled.str("error.request_id")), ("already_answered".into(), answered.clone()));
    }
}
