//! The whole job, once, from the question to the effect.

use handoff_protocol::{
    bundle::{Trust, verify},
    json::Json,
};

use crate::world::{World, question};

#[tokio::test]
async fn a_question_is_raised_answered_signalled_acknowledged_and_redeemed() {
    let world = World::new().await;
    let (machine, editor) = (world.home.machine.as_str(), world.home.editor.as_str());

    // The program asks, and asks again because it lost the answer: one request.
    let body = question("run:1/step:é", "Refund 2400?");
    let raised = world.post("/v1/requests", body.clone()).token(machine).key("k1").expect(201).await;
    let replayed = world.post("/v1/requests", body).token(machine).key("k1").expect(200).await;
    assert_eq!(raised.body, replayed.body);
    assert_eq!(raised.header("content-type"), Some("application/json"));
    let request = raised.str("id");
    assert_eq!(raised.str("state"), "pending");
    for null in ["attempt_expires_at", "answered_at", "superseded_by", "cancel_reason", "receipt", "authorization"] {
        assert_eq!(raised.at(null), Json::Null, "{null}");
    }

    // Nothing to hear yet, and no receipt.
    let waiter = "/v1/waiters/run%3A1%2Fstep%3A%C3%A9";
    let silence = world.get(&format!("{waiter}/signals")).token(machine).expect(200).await;
    assert_eq!(silence.text(), r#"{"data":[],"has_more":false}"#);
    world.get(&format!("/v1/requests/{request}/receipt")).token(machine).expect(404).await;

    // A person answers.
    let answer = r#"{"values":{"decision":"approve","amount":2.4e3},"note":"fine"}"#;
    let path = format!("/v1/requests/{request}/answer");
    let answered = world.post(&path, answer).token(editor).key("a1").expect(200).await;
    let again = world.post(&path, answer).token(editor).key("a1").expect(200).await;
    assert_eq!(answered.body, again.body);
    assert_eq!(answered.str("request.state"), "answered");
    let receipt = answered.str("receipt.id");
    let authorization = answered.str("authorization.id");

    // The program hears it, does its work, and says so, twice.
    let heard = world.get(&format!("{waiter}/signals?wait=30")).token(machine).expect(200).await;
    assert_eq!(heard.at("data").as_array().map(<[Json]>::len), Some(1));
    assert_eq!(heard.str("data.0.type"), "answered");
    assert_eq!(heard.at("data.0.decision.values").to_text(), r#"{"decision":"approve","amount":2400}"#);
    assert_eq!(heard.str("data.0.decision.receipt_id"), receipt);
    let ack = format!("/v1/signals/{}/ack", heard.str("data.0.id"));
    let token = format!(r#"{{"resume_token":"{}","applied":true}}"#, heard.str("data.0.resume_token"));
    let first = world.post(&ack, token.clone()).token(machine).expect(200).await;
    let second = world.post(&ack, token).token(machine).expect(200).await;
    assert_eq!(first.at("first_ack"), Json::Bool(true));
    assert_eq!(second.at("first_ack"), Json::Bool(false));
    assert_eq!(first.at("acked_at"), second.at("acked_at"));
    let reattached = world.call("POST", &format!("{waiter}/reattach")).token(machine).expect(200).await;
    assert_eq!(reattached.str("state"), "acked");
    assert_eq!(reattached.str("waiter_ref"), "run:1/step:é");

    // The effect may happen once.
    let redeem = format!("/v1/authorizations/{authorization}/redeem");
    let effect = |key: &str| format!(r#"{{"effect_key":"{key}"}}"#);
    let first = world.post(&redeem, effect("refund")).token(machine).expect(200).await;
    let second = world.post(&redeem, effect("refund")).token(machine).expect(200).await;
    assert_eq!(first.at("first_redemption"), Json::Bool(true));
    assert_eq!(second.at("first_redemption"), Json::Bool(false));
    assert_eq!(first.at("redeemed_at"), second.at("redeemed_at"));
    let other = world.post(&redeem, effect("another")).token(machine).expect(409).await;
    assert_eq!((other.code(), other.str("error.request_id")), ("authorization_spent".to_owned(), request.clone()));
    let spent = world.get(&format!("/v1/authorizations/{authorization}")).token(machine).expect(200).await;
    assert_eq!(spent.str("state"), "spent");

    // What is left is a record: the same bytes wherever it is read, and it proves itself.
    let sealed = world.get(&format!("/v1/receipts/{receipt}")).token(machine).expect(200).await;
    let of_request = world.get(&format!("/v1/requests/{request}/receipt")).token(machine).expect(200).await;
    let listed = world.get("/v1/receipts").token(machine).expect(200).await;
    let in_request = world.get(&format!("/v1/requests/{request}?wait=30")).token(machine).expect(200).await;
    assert_eq!(sealed.body, of_request.body);
    assert_eq!(listed.text(), format!(r#"{{"data":[{}],"has_more":false,"next_cursor":null}}"#, sealed.text()));
    assert!(in_request.text().contains(sealed.text()));
    let head = world.get("/v1/receipts/chain-head").token(machine).expect(200).await;
    assert_eq!(head.at("height"), Json::from(1));
    assert_eq!(head.at("head_digest"), sealed.at("chain.digest"));
    let signature = world.get(&format!("/v1/receipts/{receipt}/signature")).token(machine).expect(200).await;
    let bundle = world.get("/v1/export").token(machine).expect(200).await;
    assert!(bundle.text().contains(&signature.str("sig")));
    let report = verify(&bundle.body, &Trust::default()).unwrap();
    assert!(report.is_sound(), "{report:?}");
    assert_eq!((report.receipts, report.signed), (1, 1));
}

#[tokio::test]
async fn a_cancelled_request_keeps_its_reason_and_signals_once() {
    let world = World::new().await;
    let request = world.raise("run:1").await.str("id");
    let path = format!("/v1/requests/{request}/cancel");
    let cancel = || world.post(&path, r#"{"reason":"not needed"}"#).token(&world.home.machine).key("c");
    let cancelled = cancel().expect(200).await;
    assert_eq!((cancelled.str("state"), cancelled.str("cancel_reason")), ("cancelled".into(), "not needed".into()));
    assert_eq!(cancel().expect(200).await.body, cancelled.body);
    let signals = world.get("/v1/waiters/run:1/signals").token(&world.home.machine).expect(200).await;
    assert_eq!(signals.at("data").as_array().map(<[Json]>::len), Some(1));
    assert_eq!(signals.str("data.0.type"), "cancelled");
    let deliveries = world.get(&format!("/v1/requests/{request}/deliveries"));
    let deliveries = deliveries.token(&world.home.machine).expect(200).await;
    assert_eq!(deliveries.str("data.0.request_id"), request);
    assert_eq!(deliveries.str("data.0.channel"), "inapp");
}
