//! `POST /v1/receipts/{id}/corrections`: a person puts a decision's receipt right, in a receipt of its own (E-4).

use handoff_protocol::json::{Json, read_str};

use crate::world::{Tenant, World, question};

const CORRECTION: &str = r#"{"values":{"decision":"reject"},"note":"a slip of the finger"}"#;

fn path(receipt: &str) -> String {
    format!("/v1/receipts/{receipt}/corrections")
}

#[tokio::test]
async fn a_correction_is_served_as_sealed_listed_in_the_chain_and_repeatable() {
    let world = World::new().await;
    let request = world.raise("run:1").await.str("id");
    let decision = world.approve(&request).await.str("receipt.id");
    let read = async |path: String| world.get(&path).token(&world.home.machine).expect(200).await;
    let before = read(format!("/v1/requests/{request}")).await;

    let correct = || world.post(&path(&decision), CORRECTION).token(&world.home.editor).key("c");
    let made = correct().expect(200).await;
    assert_eq!((made.str("kind"), made.str("corrects")), ("correction".into(), decision.clone()));
    assert_eq!(made.str("decision.values.decision"), "reject");
    assert_eq!(correct().expect(200).await.body, made.body);
    assert_eq!(read(format!("/v1/receipts/{}", made.str("id"))).await.body, made.body);
    read(format!("/v1/receipts/{}/signature", made.str("id"))).await;
    let listed = read("/v1/receipts".to_owned()).await;
    assert_eq!(listed.at("data").as_array().map(<[Json]>::len), Some(2));
    assert_eq!(listed.at("data.1"), made.json());
    assert_eq!(read("/v1/receipts/chain-head".to_owned()).await.at("head_digest"), made.at("chain.digest"));
    let after = read(format!("/v1/requests/{request}")).await;
    assert_eq!(after.at("corrections"), read_str(&format!("[\"{}\"]", made.str("id"))).unwrap());
    let mut after = after.json();
    after.as_object_mut().unwrap().remove("corrections");
    assert_eq!(after, before.json(), "everything else stays as it was");
}

#[tokio::test]
async fn each_refusal_has_the_code_that_answering_has() {
    let world = World::new().await;
    let stranger = Tenant::new(&world.engine).await;
    let request = world.raise("run:1").await.str("id");
    let decision = world.approve(&request).await.str("receipt.id");
    world.raise("run:2").await;
    world.pass(std::time::Duration::from_secs(3600)).await;
    let policy = world.get("/v1/receipts?limit=2").token(&world.home.machine).expect(200).await.str("data.1.id");
    let (machine, editor, viewer) = (&world.home.machine, &world.home.editor, &world.home.viewer);
    let unknown = "rcpt_01K3M7QW9A8ZC4YRXB2N6VD9FT";
    let cases = [
        (machine, decision.as_str(), CORRECTION, 403, "requester_may_not_answer"),
        (machine, unknown, CORRECTION, 403, "requester_may_not_answer"),
        (viewer, &decision, CORRECTION, 403, "insufficient_authority"),
        (editor, unknown, CORRECTION, 404, "request_not_found"),
        (editor, "nonsense", CORRECTION, 404, "request_not_found"),
        (&stranger.editor, &decision, CORRECTION, 404, "request_not_found"),
        (editor, &policy, CORRECTION, 400, "invalid_request"),
        (editor, &decision, r#"{"values":{"decision":"reject"}}"#, 400, "invalid_request"),
        (editor, &decision, r#"{"values":{"decision":"s3cret"},"note":"x"}"#, 422, "answer_validation_failed"),
        (editor, &decision, r#"{"values":{"decision":1e30},"note":"x"}"#, 422, "answer_validation_failed"),
        (editor, &decision, "", 400, "invalid_request"),
    ];
    for (token, receipt, body, status, code) in cases {
        let reply = world.post(&path(receipt), body).token(token).expect(status).await;
        assert_eq!(reply.code(), code, "{receipt} {body}");
        assert!(!reply.text().contains("s3cret"));
    }
    assert_eq!(world.post(&path(&decision), CORRECTION).expect(401).await.code(), "authentication_required");
    let head = world.get("/v1/receipts/chain-head").token(machine).expect(200).await;
    assert_eq!(head.at("height"), Json::from(2));
}

#[tokio::test]
async fn numbers_of_a_correction_come_back_as_bare_integers() {
    let world = World::new().await;
    let body = question("run:1", "Ship it?");
    let request = world.post("/v1/requests", body).token(&world.home.machine).expect(201).await.str("id");
    let decision = world.approve(&request).await.str("receipt.id");
    let sent = r#"{"values":{"decision":"reject","amount":1e2},"note":"x"}"#;
    let made = world.post(&path(&decision), sent).token(&world.home.editor).expect(200).await;
    assert!(made.text().contains(r#""amount":100"#), "{}", made.text());
}
