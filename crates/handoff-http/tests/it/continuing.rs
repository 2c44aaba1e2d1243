//! Continuation over HTTP: the level that meta tells, and where handed-over data shows (section 18).

use std::time::Duration;

use axum::http::StatusCode;
use handoff_protocol::{id::TenantId, json::read_str};

use crate::{
    callbacks::{self, Receiver, calling},
    logs::Log,
    world::{World, question},
};

const PAYLOAD: &str = "Y2FuYXJ5LXBheWxvYWQ=";
const REFERENCE: &str = "canary/reference";

fn continued(body: &str) -> String {
    body.replace(r#""ttl":"#, &format!(r#""resume_ref":"{REFERENCE}","resume_payload":"{PAYLOAD}","ttl":"#))
}

#[tokio::test]
async fn meta_tells_the_level_that_the_configuration_can_do() {
    let plain = World::new().await.get("/v1/meta").expect(200).await;
    assert_eq!((plain.at("conformance_level"), plain.at("extensions")), (1.into(), read_str("[]").unwrap()));
    let keyed = callbacks::world().await.get("/v1/meta").expect(200).await;
    let continuation = read_str(r#"["continuation"]"#).unwrap();
    assert_eq!((keyed.at("conformance_level"), keyed.at("extensions")), (2.into(), continuation));
}

#[tokio::test]
async fn without_a_key_a_payload_creates_nothing() {
    let world = World::new().await;
    let body = continued(&question("run:1", "Ship it?"));
    let refused = world.post("/v1/requests", body).token(&world.home.machine).expect(400).await;
    assert_eq!(refused.code(), "invalid_request");
    assert!(refused.str("error.message").contains("`resume_payload`"), "{}", refused.text());
    assert!(!refused.text().contains("canary") && !refused.text().contains(PAYLOAD), "{}", refused.text());
    let listed = world.get("/v1/requests").token(&world.home.machine).expect(200).await;
    assert_eq!(listed.at("data"), read_str("[]").unwrap());
}

#[tokio::test]
async fn what_was_handed_over_is_in_each_signal_and_in_nothing_else_that_is_served_or_logged() {
    let log = Log::capture();
    let (world, (_, address)) = (callbacks::world().await, Receiver::start(StatusCode::OK, Duration::ZERO).await);
    let (machine, editor) = (world.home.machine.as_str(), world.home.editor.as_str());
    let mut seen = String::new();
    let mut see = |reply: crate::client::Reply| {
        seen.push_str(reply.text());
        seen.push_str(&format!("{:?}", reply.headers));
        reply
    };
    let body = continued(&calling("run:1", address));
    let raise = |body: String, key: &str| world.post("/v1/requests", body).token(machine).key(key);
    let request = see(raise(body.clone(), "a").expect(201).await).str("id");
    see(raise(body.clone(), "a").expect(200).await);
    see(raise(body.clone(), "b").expect(200).await);
    see(raise(body.replace("Ship", "Shop"), "a").expect(409).await);
    see(raise(body.replace(PAYLOAD, &format!("{PAYLOAD}=")), "c").expect(400).await);
    see(raise(body.replace(r#""v":1"#, r#""v":2"#), "d").expect(400).await);
    let path = format!("/v1/requests/{request}");
    see(world.post(&format!("{path}/attempt"), "").token(machine).expect(200).await);
    world.pass(Duration::from_secs(15 * 60)).await;
    see(world.post(&format!("{path}/amend"), r#"{"prompt":{"title":"!"}}"#).token(machine).expect(200).await);
    see(world.approve(&request).await);
    world.pass(Duration::ZERO).await;
    world.engine.outbound_idle().await;
    for path in [
        path.clone(),
        format!("{path}/receipt"),
        format!("{path}/deliveries"),
        "/v1/requests".to_owned(),
        "/v1/receipts".to_owned(),
        "/v1/receipts/chain-head".to_owned(),
        "/v1/export".to_owned(),
        "/metrics".to_owned(),
        "/v1/meta".to_owned(),
    ] {
        see(world.get(&path).token(machine).expect(200).await);
    }
    see(world.post(&format!("{path}/answer"), r#"{"values":{"decision":"reject"}}"#).token(editor).expect(409).await);

    let polled = world.get("/v1/waiters/run:1/signals").token(machine).expect(200).await;
    let reattached = world.post("/v1/waiters/run:1/reattach", "").token(machine).expect(200).await;
    for place in [0, 1] {
        for (reply, at) in [(&polled, "data"), (&reattached, "signals")] {
            assert_eq!(reply.str(&format!("{at}.{place}.resume_payload")), PAYLOAD);
            assert_eq!(reply.str(&format!("{at}.{place}.resume_ref")), REFERENCE);
        }
        let signal = polled.str(&format!("data.{place}.id"));
        see(world.get(&format!("/v1/signals/{signal}/attempts")).token(machine).expect(200).await);
        let token = polled.str(&format!("data.{place}.resume_token"));
        let ack = format!(r#"{{"resume_token":"{token}","applied":true,"reason":"done"}}"#);
        see(world.post(&format!("/v1/signals/{signal}/ack"), ack).token(machine).expect(200).await);
    }
    let tenant = TenantId::Org(world.home.id);
    for event in world.engine.store().read_events(&tenant, 0, 1_000).await.unwrap() {
        seen.push_str(&event.data);
    }
    seen.push_str(&log.text());
    for canary in [PAYLOAD, REFERENCE, "canary"] {
        assert!(!seen.contains(canary), "{canary} in {seen}");
    }
}
