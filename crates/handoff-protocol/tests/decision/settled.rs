//! What ended stays ended: every operation on a request that ended is refused with the code of how it ended.

use handoff_protocol::{
    chain::Head,
    decision::{
        Answer, Cancel, DecisionError, ErrorCode, Fired, Request, Waiter, answer, cancel, expire,
        terms::{DeliveryState, RequestState, WaiterState},
    },
    id::{RequestId, Ulid},
    principal::Role,
};

use super::scene::{Scene, YES, approve, json, machine, machine_of, person, with};

const REASON: &str = r#"{"reason":"no longer needed"}"#;

fn cancelled(scene: &mut Scene, (request, waiter): &(Request, Waiter)) -> Result<(Request, Waiter), DecisionError> {
    let command = Cancel::read(&machine(), json(REASON)).unwrap();
    let effects = cancel(request, &command, &machine(), waiter, &mut scene.context())?;
    Ok((effects.request, effects.waiter.unwrap()))
}

/// A request in each final state.
fn ended(scene: &mut Scene) -> Vec<(Request, Waiter)> {
    let raised = scene.raise(&with(&approve(), "ttl", r#""PT1M""#));
    let answered = scene.answer(&raised, &person(Role::Viewer), YES).unwrap();
    let called_off = cancelled(scene, &raised).unwrap();
    scene.now = raised.0.expires_at.unwrap();
    let Fired::Acted(expired) = scene.expire(&raised) else { panic!("not due") };
    let mut superseded = raised.clone();
    superseded.0.state = RequestState::Superseded;
    superseded.0.superseded_by = Some(RequestId::from_ulid(Ulid::from_u128(99)));
    vec![
        (answered.request, answered.waiter.unwrap()),
        (expired.request, expired.waiter.unwrap()),
        called_off,
        superseded,
    ]
}

#[test]
fn each_ending_has_its_code_and_brings_what_that_code_must_bring() {
    let mut scene = Scene::new();
    for (request, waiter) in ended(&mut scene) {
        let command = Answer::read(&person(Role::Admin), json(YES)).unwrap();
        let late_answer =
            answer(&request, &command, &person(Role::Admin), &waiter, &Head::GENESIS, &mut scene.context())
                .unwrap_err();
        let late_cancel = cancelled(&mut scene, &(request.clone(), waiter.clone())).unwrap_err();
        assert_eq!(late_answer, late_cancel);
        assert_eq!(late_answer.request_id(), Some(request.id));
        let receipt = request.receipt.map(|receipt| receipt.id);
        match request.state {
            RequestState::Answered => {
                assert_eq!(late_answer.code(), ErrorCode::AlreadyAnswered);
                assert!(receipt.is_some());
            }
            RequestState::Expired => {
                assert_eq!(late_answer.code(), ErrorCode::RequestExpired);
                assert!(receipt.is_some());
            }
            RequestState::Cancelled => {
                assert_eq!(late_answer.code(), ErrorCode::RequestCancelled);
                assert!(late_answer.to_string().contains("no longer needed"));
            }
            RequestState::Superseded => {
                assert_eq!(late_answer.code(), ErrorCode::RequestSuperseded);
                assert_eq!(late_answer.superseded_by(), request.superseded_by);
            }
            RequestState::Pending => panic!("it ended"),
        }
        assert_eq!(late_answer.receipt_id(), receipt);
        assert_eq!(
            expire(&request, &waiter, &Head::GENESIS, &mut scene.context()).unwrap(),
            Fired::NotDue { again: None }
        );
    }
}

#[test]
fn an_ending_is_judged_before_authority_and_values() {
    let mut scene = Scene::new();
    let raised = scene.raise(&with(&approve(), "requires.authority.min_role", r#""admin""#));
    let called_off = cancelled(&mut scene, &raised).unwrap();
    let refused = scene.answer(&called_off, &person(Role::Viewer), r#"{"values":{"no":1}}"#).unwrap_err();
    assert_eq!(refused.code(), ErrorCode::RequestCancelled);
}

#[test]
fn a_cancellation_releases_the_waiter_with_one_signal_and_no_receipt() {
    let mut scene = Scene::new();
    let raised = scene.raise(&approve());
    let command = Cancel::read(&machine(), json(REASON)).unwrap();
    let effects = cancel(&raised.0, &command, &machine(), &raised.1, &mut scene.context()).unwrap();
    assert_eq!(effects.request.state, RequestState::Cancelled);
    assert_eq!(effects.request.cancel_reason.as_deref(), Some("no longer needed"));
    assert_eq!(effects.request.waiter.state, WaiterState::Released);
    assert_eq!(effects.request.deliveries[0].state, DeliveryState::Cancelled);
    assert!(effects.receipt.is_none() && effects.authorization.is_none());
    let [signal] = effects.signals.as_slice() else { panic!("one signal") };
    let decision = handoff_protocol::json::to_json(signal.decision.as_ref().unwrap()).unwrap().to_text();
    assert_eq!(
        decision,
        r#"{"outcome":"cancelled","values":{},"source":"policy","effective":null,"receipt_id":null,"authorization_id":null,"superseded_by":null}"#
    );
}

#[test]
fn only_who_raised_under_the_waiter_cancels() {
    let mut scene = Scene::new();
    let (request, waiter) = scene.raise(&approve());
    let stranger = machine_of(9);
    let command = Cancel::read(&stranger, json(REASON)).unwrap();
    let refused = cancel(&request, &command, &stranger, &waiter, &mut scene.context()).unwrap_err();
    assert_eq!(refused.code(), ErrorCode::InsufficientScope);
    assert_eq!(refused.request_id(), Some(request.id));
    let mut shared = waiter;
    shared.raised_by.push(stranger.id().unwrap());
    let _effects = cancel(&request, &command, &stranger, &shared, &mut scene.context()).unwrap();
    assert_eq!(Cancel::read(&person(Role::Admin), json(REASON)).unwrap_err().code(), ErrorCode::InsufficientScope);
}

#[test]
fn a_reason_is_required_and_bounded() {
    let reason = |text: &str| Cancel::read(&machine(), json(&format!(r#"{{"reason":"{text}"}}"#)));
    reason(&"é".repeat(500)).unwrap();
    for refused in [reason(""), reason(&"é".repeat(501)), Cancel::read(&machine(), json("{}"))] {
        assert_eq!(refused.unwrap_err().code(), ErrorCode::InvalidRequest);
    }
}
