//! What is served has the shape that the contract writes down. Without the contract's files this prints one line.

use std::{env, fs, path::PathBuf, time::Duration};

use handoff_protocol::json::{Json, read};

use crate::{
    schema::Schemas,
    world::{World, question, sign_in, take_over},
};

/// Members that unmodified clients ignore and that the contract's closed schemas do not list.
const ADDITIVE: [&str; 9] = [
    "effective",
    "binding",
    "diverged",
    "delegated_to",
    "endorsements",
    "role_at_grant",
    "close_reason",
    "next_attempt_at",
    "suppressed_reason",
];

/// Members that are null where they do not apply (rule X-3), which the closed schemas overlook.
const NULLABLE: [&str; 1] = ["receipt_id"];

/// What a test says that does without them.
pub(crate) const NOT_HERE: &str = "the contract's files are not here; HANDOFF_CONTRACTS names their folder";

/// Where the contract's files are, if they are here.
pub(crate) fn folder() -> PathBuf {
    let beside = || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/contracts");
    env::var_os("HANDOFF_CONTRACTS").map_or_else(beside, PathBuf::from)
}

pub(crate) fn contract() -> Option<Json> {
    let text = fs::read(folder().join("decisions/openapi.json")).ok()?;
    Some(read(&text).unwrap())
}

#[tokio::test]
async fn every_response_has_the_shape_of_the_contract() {
    let Some(contract) = contract() else {
        println!("skipped: {NOT_HERE}");
        return;
    };
    let schemas = contract.get("components").and_then(|components| components.get("schemas")).unwrap();
    let schemas = Schemas { components: schemas.as_object().unwrap(), additive: &ADDITIVE, nullable: &NULLABLE };
    let checked = |name: &str, value: &Json| {
        let faults = schemas.faults(name, value);
        assert!(faults.is_empty(), "{name}: {faults:#?}\n{}", value.to_text());
    };

    let world = World::new().await;
    let machine = world.home.machine.as_str();
    let get = async |path: String, status: u16| world.get(&path).token(machine).expect(status).await;
    checked("Meta", &world.get("/v1/meta").expect(200).await.json());
    checked("ChainHead", &get("/v1/receipts/chain-head".into(), 200).await.json());

    let raised = world.raise("run:1").await;
    checked("Request", &raised.json());
    let answered = world.approve(&raised.str("id")).await;
    checked("AnswerResult", &answered.json());
    let expiring = world.raise("run:2").await.str("id");
    let cancelled = world.raise("run:3").await.str("id");
    let cancel = world.post(&format!("/v1/requests/{cancelled}/cancel"), r#"{"reason":"x"}"#);
    checked("Request", &cancel.token(machine).expect(200).await.json());
    let operate = async |operation: &str, request: &str, body: String| {
        let path = format!("/v1/requests/{request}/{operation}");
        world.post(&path, body).token(machine).expect(200).await.json()
    };
    let (old, new) = (world.raise("run:5").await.str("id"), world.raise("run:6").await.str("id"));
    checked("Request", &operate("amend", &old, r#"{"prompt":{"title":"Again?"}}"#.to_owned()).await);
    checked("Request", &operate("attempt", &old, String::new()).await);
    checked("Request", &operate("supersede", &old, format!(r#"{{"by":"{new}"}}"#)).await);
    checked("Request", &get(format!("/v1/requests/{new}"), 200).await.json());
    world.pass(Duration::from_secs(3600)).await;

    checked("RequestList", &get("/v1/requests".into(), 200).await.json());
    checked("Request", &get(format!("/v1/requests/{expiring}"), 200).await.json());
    checked("DeliveryList", &get(format!("/v1/requests/{expiring}/deliveries"), 200).await.json());
    checked("Receipt", &get(format!("/v1/requests/{expiring}/receipt"), 200).await.json());
    checked("ReceiptList", &get("/v1/receipts".into(), 200).await.json());
    checked("Receipt", &get(format!("/v1/receipts/{}", answered.str("receipt.id")), 200).await.json());
    let correction = r#"{"values":{"decision":"reject"},"note":"x"}"#;
    let path = format!("/v1/receipts/{}/corrections", answered.str("receipt.id"));
    let correction = world.post(&path, correction).token(&world.home.editor);
    checked("Receipt", &correction.expect(200).await.json());
    for waiter in ["run:1", "run:2", "run:3", "run:5", "run:6"] {
        checked("SignalList", &get(format!("/v1/waiters/{waiter}/signals"), 200).await.json());
        let reattach = world.post(&format!("/v1/waiters/{waiter}/reattach"), "{}").token(machine);
        checked("ReattachResult", &reattach.expect(200).await.json());
    }
    let signal = get("/v1/waiters/run:1/signals".into(), 200).await;
    let ack = format!(r#"{{"resume_token":"{}","applied":true}}"#, signal.str("data.0.resume_token"));
    let ack = world.post(&format!("/v1/signals/{}/ack", signal.str("data.0.id")), ack).token(machine);
    checked("AckResult", &ack.expect(200).await.json());
    let authorization = format!("/v1/authorizations/{}", answered.str("authorization.id"));
    let redeem = world.post(&format!("{authorization}/redeem"), r#"{"effect_key":"x"}"#).token(machine);
    checked("RedeemResult", &redeem.expect(200).await.json());
    checked("Authorization", &get(authorization, 200).await.json());

    let taken = world.post("/v1/requests", take_over("run:7")).token(machine).expect(201).await;
    checked("Request", &taken.json());
    let admin = world.home.admin.as_str();
    let grant = format!("/v1/grants/{}", taken.str("requires.capabilities.0.handle"));
    checked("CapabilityGrant", &world.get(&grant).token(admin).expect(200).await.json());
    let digest = taken.str("requires.capabilities.0.blast_radius_digest");
    let resolve = format!(r#"{{"scopes":["view","drive"],"accepted_blast_radius_digest":"{digest}"}}"#);
    let session = world.post(&format!("{grant}/sessions"), resolve).token(admin).expect(200).await;
    checked("GrantSession", &session.json());
    let renew = format!("{grant}/sessions/{}/renew", session.str("session_ref"));
    checked("RenewResult", &world.post(&renew, "").token(admin).expect(200).await.json());
    let again = format!("/v1/requests/{}/answer", taken.str("id"));
    world.post(&again, r#"{"values":{"decision":"approve"}}"#).token(admin).expect(200).await;
    checked("Receipt", &get(format!("/v1/requests/{}/receipt", taken.str("id")), 200).await.json());
    world.post("/v1/requests", sign_in("run:8")).token(machine).expect(201).await;
    let values = world.post("/v1/sinks/vault%2F1/values", r#"{"values":{"password":"x"}}"#).token(admin);
    checked("SinkValuesResult", &values.expect(202).await.json());

    let again = r#"{"values":{"decision":"approve"}}"#;
    let late = world.post(&format!("/v1/requests/{}/answer", raised.str("id")), again).token(&world.home.editor);
    checked("Error", &late.expect(409).await.json());
    let invalid = question("run:4", "?");
    let request = world.post("/v1/requests", invalid).token(machine).expect(201).await.str("id");
    let wrong = world.post(&format!("/v1/requests/{request}/answer"), r#"{"values":{}}"#).token(&world.home.editor);
    checked("Error", &wrong.expect(422).await.json());
    checked("Error", &get("/v1/nothing".into(), 404).await.json());
}
