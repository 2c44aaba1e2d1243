//! Grants and sessions over HTTP (section 16).

use std::time::Duration;

use handoff_protocol::json::Json;

use crate::{
    client::Reply,
    world::{Tenant, World, take_over},
};

/// A request that asks for the surface, and the grant that it minted.
struct Asked {
    request: String,
    grant: String,
    digest: String,
}

async fn ask(world: &World, waiter: &str) -> Asked {
    let raised = world.post("/v1/requests", take_over(waiter)).token(&world.home.machine).expect(201).await;
    Asked {
        request: raised.str("id"),
        grant: format!("/v1/grants/{}", raised.str("requires.capabilities.0.handle")),
        digest: raised.str("requires.capabilities.0.blast_radius_digest"),
    }
}

fn accept(asked: &Asked, scopes: &str) -> String {
    format!(r#"{{"scopes":{scopes},"accepted_blast_radius_digest":"{}"}}"#, asked.digest)
}

async fn resolve(world: &World, asked: &Asked, token: &str, status: u16) -> Reply {
    let path = format!("{}/sessions", asked.grant);
    world.post(&path, accept(asked, r#"["view","drive"]"#)).token(token).expect(status).await
}

/// Every member name in a document.
fn names(value: &Json) -> Vec<String> {
    match value {
        Json::Object(members) => {
            members.iter().flat_map(|(name, value)| [vec![name.to_owned()], names(value)].concat()).collect()
        }
        Json::Array(items) => items.iter().flat_map(names).collect(),
        _ => Vec::new(),
    }
}

#[tokio::test]
async fn a_grant_is_read_by_a_person_shows_what_it_may_touch_and_holds_no_address() {
    let world = World::new().await;
    let asked = ask(&world, "run:1").await;
    world.get(&asked.grant).expect(401).await;
    let machine = world.get(&asked.grant).token(&world.home.machine).expect(403).await;
    assert_eq!(machine.code(), "requester_may_not_answer");
    let shown = world.get(&asked.grant).token(&world.home.viewer).expect(200).await;
    assert_eq!(shown.str("blast_radius_digest"), asked.digest);
    assert_eq!(shown.at("revoked_at"), Json::Null);
    assert!(names(&shown.json()).iter().all(|name| name != "transport" && name != "url"));
    assert_eq!(shown.header("cache-control"), Some("no-store"));
    let elsewhere = Tenant::new(&world.engine).await;
    let strange = world.get(&asked.grant).token(&elsewhere.admin).expect(404).await;
    let unknown = world.get("/v1/grants/hg_x").token(&elsewhere.admin).expect(404).await;
    assert_eq!(strange.text(), unknown.text());
}

#[tokio::test]
async fn addresses_differ_are_bound_to_one_person_and_occur_nowhere_else() {
    let world = World::new().await;
    let asked = ask(&world, "run:1").await;
    let admin = world.home.admin.as_str();
    let sessions = format!("{}/sessions", asked.grant);
    let first = resolve(&world, &asked, admin, 200).await;
    let second = resolve(&world, &asked, admin, 200).await;
    let keyed = world.post(&sessions, accept(&asked, r#"["view"]"#)).token(admin).key("k").expect(200).await;
    let repeated = world.post(&sessions, accept(&asked, r#"["view"]"#)).token(admin).key("k").expect(200).await;
    assert_eq!(keyed.str("session_ref"), repeated.str("session_ref"));
    let addresses: Vec<String> =
        [&first, &second, &keyed, &repeated].iter().map(|reply| reply.str("transport.url")).collect();
    for (place, address) in addresses.iter().enumerate() {
        assert!(!addresses[..place].contains(address), "an address came twice");
    }
    assert_eq!((first.at("renew_after_ms"), first.at("receipt_id")), (Json::from(45_000), Json::Null));
    let held = world.post(&sessions, accept(&asked, r#"["view"]"#)).token(&world.home.editor).expect(409).await;
    assert_eq!(held.code(), "grant_already_held");
    assert_eq!(held.str("error.request_id"), asked.request);

    let session = format!("{sessions}/{}", first.str("session_ref"));
    world.pass(Duration::from_secs(60)).await;
    let renewed = world.post(&format!("{session}/renew"), "").token(admin).expect(200).await;
    assert_eq!(names(&renewed.json()), ["lease_until", "renew_after_ms"]);
    world.call("DELETE", &session).token(admin).expect(204).await;
    world.call("DELETE", &session).token(admin).expect(204).await;
    world.post(&format!("{session}/renew"), "").token(admin).expect(404).await;

    let uses = format!(
        r#"{{"values":{{"decision":"approve"}},"capability_uses":[{{"handle":"{}","session_ref":"{}"}}]}}"#,
        asked.grant.trim_start_matches("/v1/grants/"),
        second.str("session_ref")
    );
    let answer = world.post(&format!("/v1/requests/{}/answer", asked.request), uses);
    answer.token(admin).expect(200).await;
    resolve(&world, &asked, admin, 409).await;
    let shown = world.get(&asked.grant).token(admin).expect(200).await;
    assert!(shown.at("revoked_at").as_str().is_some());
    let receipt = world.get(&format!("/v1/requests/{}/receipt", asked.request)).token(&world.home.machine);
    let receipt = receipt.expect(200).await;
    assert_eq!(receipt.str("capabilities_exercised.0.blast_radius_digest"), asked.digest);
    assert_eq!(receipt.at("capabilities_exercised").as_array().map(<[Json]>::len), Some(3));

    let machine = world.home.machine.as_str();
    for path in [
        format!("/v1/requests/{}", asked.request),
        "/v1/requests".to_owned(),
        "/v1/receipts".to_owned(),
        "/v1/waiters/run:1/signals".to_owned(),
        "/v1/export".to_owned(),
    ] {
        let read = world.get(&path).token(machine).expect(200).await;
        for address in &addresses {
            assert!(!read.text().contains(address.as_str()), "{path}");
        }
    }
}

#[tokio::test]
async fn a_revoked_grant_is_refused_and_says_so_and_revoking_again_is_fine() {
    let world = World::new().await;
    let asked = ask(&world, "run:1").await;
    let admin = world.home.admin.as_str();
    let session = resolve(&world, &asked, admin, 200).await.str("session_ref");
    let refused = world.call("DELETE", &asked.grant).token(&world.home.editor).expect(403).await;
    assert_eq!(refused.code(), "insufficient_authority");
    world.call("DELETE", &asked.grant).token(admin).body(r#"{"why":"x"}"#).expect(400).await;
    world.call("DELETE", &asked.grant).token(admin).body(r#"{"reason":"enough"}"#).expect(204).await;
    world.call("DELETE", &asked.grant).token(admin).expect(204).await;
    let shown = world.get(&asked.grant).token(admin).expect(200).await;
    assert!(shown.at("revoked_at").as_str().is_some());
    assert_eq!(resolve(&world, &asked, admin, 404).await.code(), "capability_not_found");
    let renew = format!("{}/sessions/{session}/renew", asked.grant);
    assert_eq!(world.post(&renew, "").token(admin).expect(404).await.code(), "capability_not_found");
    let pending = world.get(&format!("/v1/requests/{}", asked.request)).token(&world.home.machine).expect(200).await;
    assert_eq!(pending.str("state"), "pending");
}

#[tokio::test]
async fn what_a_resolve_may_not_hold_is_refused() {
    let world = World::new().await;
    let asked = ask(&world, "run:1").await;
    let path = format!("{}/sessions", asked.grant);
    for body in [
        "{}".to_owned(),
        accept(&asked, "[]"),
        accept(&asked, r#"["own"]"#),
        accept(&asked, r#"["view","view","view"]"#),
        accept(&asked, r#""view""#),
        r#"{"scopes":["view"],"accepted_blast_radius_digest":"x"}"#.to_owned(),
        accept(&asked, r#"["view"],"extra":1"#),
    ] {
        let refused = world.post(&path, body.clone()).token(&world.home.admin).expect(400).await;
        assert_eq!(refused.code(), "invalid_request", "{body}");
    }
    let shown = world.get(&asked.grant).token(&world.home.admin).expect(200).await;
    assert_eq!(shown.at("bound_principal_id"), Json::Null);
}
