//! Every call of the client, in the order in which a program makes them.

use handoff_client::{CallKey, ClientError, NewAnswer, RequestFilter};
use handoff_protocol::{
    bundle::{self, Trust},
    decision::{
        ErrorCode, WaiterRef,
        terms::{AuthorizationState, RequestState, SignalType},
    },
    json::{Json, Object},
};

use super::bench::{Bench, question};

fn yes() -> NewAnswer {
    let mut values = Object::new();
    values.insert("decision", "yes");
    NewAnswer { values, note: Some("looks good".to_owned()), ..NewAnswer::default() }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_program_asks_waits_acts_once_and_proves_it() {
    let Bench { machine, person } = Bench::start().await;
    // A reference that would be several segments, were it not encoded.
    let waiter = WaiterRef::parse("jobs/7:é ?#%2F").unwrap();
    let raised = machine.raise(&question(waiter.as_str()), None).await.unwrap();
    assert!(raised.was_created);
    let id = raised.request.id;

    let poll = tokio::spawn({
        let (machine, waiter) = (machine.clone(), waiter.clone());
        async move { machine.poll(&waiter, 30).await }
    });
    let answered = person.answer(id, &yes(), None).await.unwrap();
    let receipt = answered.receipt.unwrap();

    let signals = poll.await.unwrap().unwrap();
    let [signal] = signals.data.as_slice() else { panic!("one signal") };
    assert_eq!((signal.request_id, signal.signal_type), (id, SignalType::Answered));
    let decision = signal.decision.clone().unwrap();
    assert_eq!(decision.values.to_text(), r#"{"decision":"yes"}"#);
    assert_eq!(machine.reattach(&waiter, None).await.unwrap().signals.len(), 1);
    assert!(machine.acknowledge(signal.id, signal.resume_token, true, None).await.unwrap().first_ack);
    assert!(!machine.acknowledge(signal.id, signal.resume_token, true, Some("again")).await.unwrap().first_ack);
    assert!(machine.poll(&waiter, 0).await.unwrap().data.is_empty());
    assert!(machine.poll(&waiter, 1).await.unwrap().data.is_empty(), "204 is an empty list");

    let authorization = decision.authorization_id.unwrap();
    assert!(machine.redeem(authorization, "ship:7", None).await.unwrap().first_redemption);
    assert!(!machine.redeem(authorization, "ship:7", None).await.unwrap().first_redemption);
    let spent = machine.redeem(authorization, "ship:8", None).await.unwrap_err();
    assert!(spent.is_refused_with(ErrorCode::AuthorizationSpent), "{spent}");
    let held = machine.authorization(authorization).await.unwrap();
    assert_eq!((held.state, held.redemptions.len()), (AuthorizationState::Spent, 1));

    let request = machine.settled_request(id, 30).await.unwrap();
    assert_eq!(request.state, RequestState::Answered);
    let sealed = machine.receipt(receipt.id).await.unwrap();
    assert_eq!(request.receipt.as_ref(), Some(&sealed));
    assert_eq!(machine.receipt_of(id).await.unwrap(), sealed);
    assert_eq!(machine.receipts(None, None).await.unwrap().data, std::slice::from_ref(&sealed));
    let head = machine.chain_head().await.unwrap();
    assert_eq!((head.height, head.head_digest), (1, receipt.digest));
    let report = bundle::verify(machine.export().await.unwrap().as_bytes(), &Trust::default()).unwrap();
    assert!(report.is_sound() && report.receipts == 1, "{report:?}");
    assert!(machine.keys().await.unwrap().keys.is_empty(), "this server signs nothing");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_same_key_is_the_same_call() {
    let Bench { machine, person } = Bench::start().await;
    let key = CallKey::parse("deploy-7").unwrap();
    let first = machine.raise(&question("w"), Some(&key)).await.unwrap();
    let again = machine.raise(&question("w"), Some(&key)).await.unwrap();
    assert!(first.was_created && !again.was_created);
    assert_eq!(first.request.id, again.request.id);
    let other = machine.raise(&question("v"), Some(&key)).await.unwrap_err();
    assert!(other.is_refused_with(ErrorCode::IdempotencyKeyReused), "{other}");

    let answer = CallKey::mint().unwrap();
    let one = person.answer(first.request.id, &yes(), Some(&answer)).await.unwrap();
    assert_eq!(person.answer(first.request.id, &yes(), Some(&answer)).await.unwrap(), one);
    let late = person.answer(first.request.id, &yes(), None).await.unwrap_err();
    assert_eq!(late.refusal().unwrap().receipt_id, one.receipt.map(|receipt| receipt.id));
    assert_eq!(late.refusal().unwrap().status, 409);
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_are_listed_page_by_page_and_can_be_taken_back() {
    let Bench { machine, .. } = Bench::start().await;
    let mut ids = Vec::new();
    for waiter in ["a", "b", "a&state=x"] {
        ids.push(machine.raise(&question(waiter), None).await.unwrap().request.id);
    }
    let cancelled = machine.cancel(ids[1], "not needed any more", None).await.unwrap();
    assert_eq!(cancelled.cancel_reason.as_deref(), Some("not needed any more"));

    let mut filter = RequestFilter { states: vec![RequestState::Pending], limit: Some(1), ..RequestFilter::default() };
    let first = machine.requests(&filter).await.unwrap();
    assert!(first.has_more);
    filter.cursor = first.next_cursor;
    let second = machine.requests(&filter).await.unwrap();
    assert_eq!([first.data[0].id, second.data[0].id], [ids[0], ids[2]]);
    let filter = RequestFilter { waiter_ref: Some(WaiterRef::parse("a&state=x").unwrap()), ..RequestFilter::default() };
    assert_eq!(machine.requests(&filter).await.unwrap().data.len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn refusals_are_typed() {
    let Bench { machine, person } = Bench::start().await;
    let id = machine.raise(&question("w"), None).await.unwrap().request.id;
    let refused = machine.answer(id, &yes(), None).await.unwrap_err();
    assert!(refused.is_refused_with(ErrorCode::RequesterMayNotAnswer), "{refused}");
    let stranger = machine.acting_with("nobody's".to_owned());
    assert!(stranger.request(id).await.unwrap_err().is_refused_with(ErrorCode::InvalidApiKey));
    assert!(stranger.meta().await.unwrap().field_types.contains(&"choice".to_owned()), "meta needs no credential");
    let unknown = WaiterRef::parse("never raised").unwrap();
    assert!(machine.poll(&unknown, 30).await.unwrap_err().is_refused_with(ErrorCode::WaiterNotFound));

    let mut values = Object::new();
    values.insert("decision", "perhaps");
    values.insert("size", 3);
    let answer = NewAnswer { values, ..NewAnswer::default() };
    let Err(ClientError::Refused(refusal)) = person.answer(id, &answer, None).await else { panic!("refused") };
    let names: Vec<&str> = refusal.fields.iter().map(|field| field.name.as_str()).collect();
    assert_eq!((refusal.status, names), (422, vec!["decision", "size"]));
    let bad = machine.raise(&Json::object([("waiter_ref", Json::from("w"))]), None).await.unwrap_err();
    assert_eq!(bad.refusal().unwrap().status, 400);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reference_that_no_address_can_carry_is_refused_here() {
    let Bench { machine, .. } = Bench::start().await;
    let error = machine.poll(&WaiterRef::parse("..").unwrap(), 0).await.unwrap_err();
    assert!(matches!(error, ClientError::Configuration(_)), "{error}");
}
