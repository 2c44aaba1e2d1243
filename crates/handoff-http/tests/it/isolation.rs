//! Tenants: what belongs to another is not there, to the byte.

use handoff_protocol::json::Json;

use crate::world::{Tenant, World, question};

#[tokio::test]
async fn what_belongs_to_another_tenant_answers_exactly_like_what_does_not_exist() {
    let world = World::new().await;
    let stranger = Tenant::new(&world.engine).await;
    let request = world.raise("run:1").await.str("id");
    let answered = world.approve(&request).await;
    let pending = world.raise("run:2").await.str("id");
    let signal = world.get("/v1/waiters/run:1/signals").token(&world.home.machine).expect(200).await;
    let (receipt, authorization) = (answered.str("receipt.id"), answered.str("authorization.id"));
    let ack = format!(r#"{{"resume_token":"{}","applied":true}}"#, signal.str("data.0.resume_token"));
    let unknown = "01K3M7QW9A8ZC4YRXB2N6VD9FT";

    let answer = r#"{"values":{"decision":"approve"}}"#;
    let reason = r#"{"reason":"x"}"#;
    let effect = r#"{"effect_key":"x"}"#;
    let cases: [(&str, &str, &str, &str, &str); 12] = [
        ("GET", "/v1/requests/{}", &request, "req_", ""),
        ("GET", "/v1/requests/{}?wait=30", &pending, "req_", ""),
        ("GET", "/v1/requests/{}/receipt", &request, "req_", ""),
        ("GET", "/v1/requests/{}/deliveries", &request, "req_", ""),
        ("POST", "/v1/requests/{}/cancel", &pending, "req_", reason),
        ("POST", "/v1/requests/{}/answer", &pending, "req_", answer),
        ("POST", "/v1/requests/{}/answer", &request, "req_", answer),
        ("GET", "/v1/receipts/{}", &receipt, "rcpt_", ""),
        ("GET", "/v1/receipts/{}/signature", &receipt, "rcpt_", ""),
        ("GET", "/v1/authorizations/{}", &authorization, "auth_", ""),
        ("POST", "/v1/authorizations/{}/redeem", &authorization, "auth_", effect),
        ("POST", "/v1/signals/{}/ack", &signal.str("data.0.id"), "sig_", &ack),
    ];
    for (method, path, id, prefix, body) in cases {
        let token = if path.ends_with("/answer") { &stranger.editor } else { &stranger.machine };
        let ask = async |id: &str| {
            let call = world.call(method, &path.replace("{}", id)).body(body).token(token);
            call.expect(404).await
        };
        let foreign = ask(id).await;
        assert_eq!(foreign.body, ask(&format!("{prefix}{unknown}")).await.body, "{method} {path}");
        assert_eq!(foreign.body, ask("nonsense").await.body, "{method} {path}");
    }
    for (method, path) in [("GET", "/v1/waiters/{}/signals?wait=30"), ("POST", "/v1/waiters/{}/reattach")] {
        let ask = async |waiter: &str| {
            world.call(method, &path.replace("{}", waiter)).token(&stranger.machine).expect(404).await
        };
        assert_eq!(ask("run:1").await.body, ask("never").await.body);
    }

    // Nothing of it happened.
    let still = world.get(&format!("/v1/requests/{pending}")).token(&world.home.machine).expect(200).await;
    assert_eq!(still.str("state"), "pending");
    let open = world.get(&format!("/v1/authorizations/{authorization}")).token(&world.home.machine).expect(200).await;
    assert_eq!(open.str("state"), "open");
    let heard = world.get("/v1/waiters/run:1/signals").token(&world.home.machine).expect(200).await;
    assert_eq!(heard.body, signal.body);
}

#[tokio::test]
async fn tenants_share_neither_keys_nor_waiters_nor_chains() {
    let world = World::new().await;
    let stranger = Tenant::new(&world.engine).await;
    let raise = |token: &str| world.post("/v1/requests", question("run:1", "Ship it?")).token(token).key("k");
    let ours = raise(&world.home.machine).expect(201).await;
    let theirs = raise(&stranger.machine).expect(201).await;
    assert_ne!(ours.str("id"), theirs.str("id"));
    assert_eq!(theirs.str("org_id"), stranger.id.to_string());
    world.approve(&ours.str("id")).await;
    let listed = world.get("/v1/requests").token(&stranger.machine).expect(200).await;
    assert_eq!(listed.at("data"), Json::Array(vec![theirs.json()]));
    let head = world.get("/v1/receipts/chain-head").token(&stranger.machine).expect(200).await;
    assert_eq!((head.at("height"), head.str("head_digest")), (Json::from(0), format!("sha256:{}", "0".repeat(64))));
    let signals = world.get("/v1/waiters/run:1/signals").token(&stranger.machine).expect(200).await;
    assert_eq!(signals.text(), r#"{"data":[],"has_more":false}"#);
}

#[tokio::test]
async fn a_tenant_named_in_metadata_is_an_ornament() {
    let world = World::new().await;
    let stranger = Tenant::new(&world.engine).await;
    let planted = format!(r#""metadata":{{"org_id":"{}"}},"ttl":"#, stranger.id);
    let body = question("run:1", "Ship it?").replace(r#""ttl":"#, &planted);
    let raised = world.post("/v1/requests", body).token(&world.home.machine).expect(201).await;
    assert_eq!(raised.str("org_id"), world.home.id.to_string());
    assert_eq!(raised.str("metadata.org_id"), stranger.id.to_string());
    let query = format!("/v1/requests?org_id={}", stranger.id);
    let listed = world.get(&query).token(&world.home.machine).expect(200).await;
    assert_eq!(listed.str("data.0.id"), raised.str("id"));
}
