//! Corrections in the record: chained and signed like any other receipt, and the decision stands (E-4).

use std::time::Duration;

use handoff_protocol::{
    bundle::{Trust, verify},
    chain::Head,
    decision::{DecisionError, ErrorCode, Request, terms::RequestState, view::RequestView},
    id::{ReceiptId, RequestId},
    json::Json,
    principal::Role,
    signature::KeySet,
};

use super::world::{World, YES, add_person, ask, ask_with, code, json, key_of};

const NO: &str = r#"{"values":{"decision":"no"},"note":"a slip of the finger"}"#;

async fn decided(world: &World, body: &str) -> (RequestId, ReceiptId) {
    let id = world.raised(body).await;
    (id, world.answer(id, "k").await.unwrap().receipt.unwrap().id)
}

fn id_of(receipt: &Json) -> ReceiptId {
    ReceiptId::parse(receipt.get("id").and_then(Json::as_str).unwrap()).unwrap()
}

#[tokio::test]
async fn a_correction_joins_the_chain_and_leaves_the_request_as_it_was_but_for_naming_it() {
    let world = World::new().await;
    let (request, decision) = decided(&world, &ask("run:1", "one")).await;
    let (before, signals) = (world.request(request).await, world.signals("run:1").await);
    let correct = |key| world.correct(decision, NO, Some(key));
    let first = correct("c").await.unwrap();
    // The same again under the same key is the same, and makes no other.
    assert_eq!(correct("c").await.unwrap().to_text(), first.to_text());
    let second = correct("d").await.unwrap();
    assert_ne!(id_of(&first), id_of(&second));
    assert_eq!(world.engine.receipt(&world.machine, id_of(&first)).await.unwrap(), first.to_text());
    for correction in [&first, &second] {
        assert_eq!(correction.get("corrects"), Some(&Json::from(decision.to_string())));
    }

    let after = world.request(request).await;
    assert_eq!(after.corrections, [id_of(&first), id_of(&second)], "the last one holds for the record");
    assert_eq!(RequestView { corrections: Vec::new(), ..after }, before, "everything else stays as it was");
    assert_eq!(world.signals("run:1").await, signals);
    assert_eq!(
        world.events_of(request).await,
        ["request.raised", "request.answered", "receipt.corrected", "receipt.corrected"]
    );
    let kinds: Vec<String> =
        world.receipts().await.iter().map(|receipt| receipt.get("kind").unwrap().to_text()).collect();
    assert_eq!(kinds, [r#""decision""#, r#""correction""#, r#""correction""#]);
    let head = world.engine.chain_head(&world.machine).await.unwrap();
    let anchor = Head { height: head.height, digest: head.head_digest };
    let keys = KeySet::from_jwks(&world.engine.key_set().await.unwrap()).unwrap();
    let text = world.engine.export(world.tenant).await.unwrap().text().await.unwrap();
    let report = verify(text.as_bytes(), &Trust { keys: Some(keys), anchors: vec![anchor] }).unwrap();
    assert!(report.is_sound(), "{:?}", report.findings);
    assert_eq!((report.receipts, report.signed), (3, 3));
}

#[tokio::test]
async fn a_late_answer_still_learns_the_decision_and_not_its_correction() {
    let world = World::new().await;
    let (request, decision) = decided(&world, &ask("run:1", "one")).await;
    world.correct(decision, NO, None).await.unwrap();
    let late = world.engine.answer(&world.person, request, json(YES), None).await.unwrap_err();
    assert_eq!((late.code(), late.receipt_id()), (ErrorCode::AlreadyAnswered, Some(decision)));
}

#[tokio::test]
async fn what_cannot_be_corrected_is_refused_and_leaves_no_trace() {
    let world = World::new().await;
    let viewer = add_person(&world.engine, world.tenant, Role::Viewer).await;
    let guarded = ask("run:1", "one").replace(r#""requires":{"#, r#""requires":{"authority":{"min_role":"editor"},"#);
    let (request, decision) = decided(&world, &guarded).await;
    let correction = id_of(&world.correct(decision, NO, Some("c")).await.unwrap());
    let expiring = world.raised(&ask_with("run:2", "two", r#""ttl":"PT1M""#)).await;
    world.clock.advance(Duration::from_secs(60));
    world.engine.run_due_timers().await.unwrap();
    let expired = world.request(expiring).await;
    assert_eq!(expired.state, RequestState::Expired);
    let policy = id_of(&expired.receipt.unwrap());
    let (receipts, events) = (world.receipts().await, world.events().await.len());

    for wrong in [policy, correction] {
        assert_eq!(code(world.correct(wrong, NO, None).await), ErrorCode::InvalidRequest);
    }
    // A key that was used for the decision does not make its correction correctable.
    assert_eq!(code(world.correct(correction, NO, Some("c")).await), ErrorCode::InvalidRequest);
    let other = r#"{"values":{"decision":"yes"},"note":"back again"}"#;
    assert_eq!(code(world.correct(decision, other, Some("c")).await), ErrorCode::IdempotencyKeyReused);
    let unknown = ReceiptId::parse("rcpt_01K3M7QW9A8ZC4YRXB2N6VD9FT").unwrap();
    assert_eq!(code(world.correct(unknown, NO, None).await), ErrorCode::RequestNotFound);
    let as_who = async |who: &_, body: &str| -> DecisionError {
        world.engine.correct(who, decision, json(body), None).await.unwrap_err()
    };
    let machine = as_who(&world.machine, NO).await;
    assert_eq!((machine.code(), machine.request_id()), (ErrorCode::RequesterMayNotAnswer, Some(request)));
    let lesser = as_who(&viewer, NO).await;
    assert_eq!((lesser.code(), lesser.request_id()), (ErrorCode::InsufficientAuthority, Some(request)));
    let number = as_who(&world.person, r#"{"values":{"decision":0.5},"note":"x"}"#).await;
    assert_eq!((number.code(), number.request_id()), (ErrorCode::AnswerValidationFailed, Some(request)));
    assert_eq!((world.receipts().await, world.events().await.len()), (receipts, events));
}

#[tokio::test]
async fn the_request_remembers_where_its_corrections_are() {
    let world = World::new().await;
    let (request, decision) = decided(&world, &ask("run:1", "one")).await;
    let ids = [
        id_of(&world.correct(decision, NO, None).await.unwrap()),
        id_of(&world.correct(decision, NO, None).await.unwrap()),
    ];
    let kept: Request = world.kept(request).await;
    assert_eq!(
        kept.corrections.iter().map(|pointer| (pointer.id, pointer.height)).collect::<Vec<_>>(),
        [(ids[0], 2), (ids[1], 3)]
    );
    assert_eq!(kept.receipt.map(|pointer| pointer.id), Some(decision));
}

impl World {
    async fn correct(&self, id: ReceiptId, body: &str, key: Option<&str>) -> Result<Json, DecisionError> {
        self.engine.correct(&self.person, id, json(body), key.map(key_of).as_ref()).await
    }

    async fn kept(&self, id: RequestId) -> Request {
        use handoff_engine::store::{RecordKey, RecordKind, Store as _};
        let key = RecordKey::new(RecordKind::from_static("request"), id);
        let tenant = handoff_protocol::id::TenantId::Org(self.tenant);
        let record = self.store.get(&tenant, &[key]).await.unwrap().remove(0).unwrap();
        handoff_protocol::json::from_json(json(&record.document)).unwrap()
    }
}
