//! Correcting: what a person may put right in the record, and that the decision itself stands (E-4).

use handoff_protocol::{
    chain::{ChainVerifier, Head},
    decision::{Correct, DecisionError, Effects, ErrorCode, Fired, Receipt, Request, correct, view::AnswerResult},
    json::{Json, from_json},
    principal::{AuthStrength, Principal, Role},
};

use super::scene::{Scene, YES, approve, json, link, machine, person, person_of, with};

const NO: &str = r#"{"values":{"decision":"no"},"note":"a slip of the finger"}"#;

/// A request that was answered with yes, its receipt, and the head behind it.
fn answered(scene: &mut Scene, body: &str) -> (Request, Receipt, Head, Json) {
    let raised = scene.raise(body);
    let effects = scene.answer(&raised, &person(Role::Admin), YES).unwrap();
    let sealed = effects.receipt.unwrap();
    let text = json(&sealed.text);
    (effects.request, from_json(text.clone()).unwrap(), sealed.link.head(), text)
}

fn refused(scene: &mut Scene, principal: &Principal, body: &str) -> DecisionError {
    let (request, decision, head, _) = answered(scene, &approve());
    let command = match Correct::read(principal, json(body)) {
        Ok(command) => command,
        Err(refusal) => return refusal,
    };
    correct(&request, &decision, &command, principal, &head, &mut scene.context()).unwrap_err()
}

#[test]
fn a_correction_is_a_receipt_of_its_own_and_the_decision_stands() {
    let mut scene = Scene::new();
    let (request, decision, head, first) = answered(&mut scene, &approve());
    let mut walk = ChainVerifier::after(Head::GENESIS);
    walk.check(&first);
    let (mut state, mut end) = (request.clone(), head);
    for round in 1..=2 {
        let command = Correct::read(&person_of(8, Role::Admin), json(NO)).unwrap();
        let who = person_of(8, Role::Admin);
        let effects: Effects = correct(&state, &decision, &command, &who, &end, &mut scene.context()).unwrap();
        let sealed = effects.receipt.as_ref().unwrap();
        let receipt = json(&sealed.text);
        walk.check(&receipt);
        let receipt: Receipt = from_json(receipt).unwrap();
        // Also a second correction names the decision, not the first correction.
        assert_eq!((receipt.kind.as_str(), receipt.corrects), ("correction", Some(decision.id)));
        assert_eq!(receipt.decision.values, json(r#"{"decision":"no"}"#));
        assert_eq!(receipt.decision.note.as_deref(), Some("a slip of the finger"));
        assert_eq!((receipt.actor.principal_id, receipt.clearance.actor), (who.id(), who.id()));
        assert_eq!(
            (receipt.request_digest, receipt.request_version, receipt.rendered.digest),
            (decision.request_digest, decision.request_version, decision.rendered.digest)
        );
        // Nothing but the list of corrections changes, and nothing goes to the waiter.
        let mut expected = state.clone();
        expected.corrections.push(*effects.request.corrections.last().unwrap());
        assert_eq!((&effects.request, effects.request.corrections.len()), (&expected, round));
        assert!(effects.waiter.is_none() && effects.authorization.is_none() && effects.signals.is_empty());
        assert!(effects.timers.is_empty() && effects.renderings.is_empty());
        let events: Vec<&str> = effects.events.iter().map(|event| event.event_type.as_str()).collect();
        assert_eq!(events, ["receipt.corrected"]);
        end = sealed.link.head();
        state = effects.request;
    }
    assert!(walk.finish().is_sound());
    let served = AnswerResult::new(&state, None, None);
    assert_eq!((served.request.state, served.request.answered_at), (request.state, request.answered_at));
}

#[test]
fn who_may_not_answer_may_not_correct() {
    let mut scene = Scene::new();
    let code = |scene: &mut Scene, principal: &Principal| refused(scene, principal, NO).code();
    assert_eq!(code(&mut scene, &machine()), ErrorCode::RequesterMayNotAnswer);
    let admin = with(&approve(), "requires.authority.min_role", r#""admin""#);
    let (request, decision, head, _) = answered(&mut scene, &admin);
    let editor = person(Role::Editor);
    let command = Correct::read(&editor, json(NO)).unwrap();
    let lesser = correct(&request, &decision, &command, &editor, &head, &mut scene.context()).unwrap_err();
    assert_eq!((lesser.code(), lesser.request_id()), (ErrorCode::InsufficientAuthority, Some(request.id)));
    // Handed to the transition by a machine although a person's call was read.
    let machine = correct(&request, &decision, &command, &machine(), &head, &mut scene.context()).unwrap_err();
    assert_eq!(machine.code(), ErrorCode::RequesterMayNotAnswer);

    let by_link = with(&approve(), "requires.authority.auth_strength", r#""link_only""#);
    let (request, decision, head, _) = answered(&mut scene, &by_link);
    let holder = link(AuthStrength::LinkOnly);
    let command = Correct::read(&holder, json(NO)).unwrap();
    let weak = correct(&request, &decision, &command, &holder, &head, &mut scene.context()).unwrap_err();
    assert_eq!(weak.code(), ErrorCode::AuthStrengthNotPermitted);
}

#[test]
fn a_correction_says_all_that_is_wrong_with_it() {
    let mut scene = Scene::new();
    let who = person(Role::Admin);
    let long = format!(r#"{{"values":{{"decision":"no"}},"note":"{}"}}"#, "x".repeat(2001));
    for body in [
        "[]",
        "{}",
        r#"{"values":[],"note":"x"}"#,
        r#"{"values":{"decision":"no"}}"#,
        r#"{"values":{"decision":"no"},"note":""}"#,
        r#"{"values":{"decision":"no"},"note":null}"#,
        r#"{"values":{"decision":"no"},"note":"x","rendered_digest":"y"}"#,
        &long,
    ] {
        assert_eq!(refused(&mut scene, &who, body).code(), ErrorCode::InvalidRequest, "{body}");
    }
    let faults = |refusal: &DecisionError| refusal.fields().iter().map(|fault| fault.name.clone()).collect::<Vec<_>>();
    let unfit = refused(&mut scene, &who, r#"{"values":{"decision":"perhaps","more":1},"note":"x"}"#);
    assert_eq!((unfit.code(), faults(&unfit).len()), (ErrorCode::AnswerValidationFailed, 2));
    let numbers = r#"{"values":{"decision":0.5,"a":{"b":9007199254740992}},"note":"x"}"#;
    let numbers = refused(&mut scene, &who, numbers);
    assert_eq!(
        (numbers.code(), faults(&numbers)),
        (ErrorCode::AnswerValidationFailed, vec!["decision".into(), "a".into()])
    );
}

#[test]
fn only_a_decision_is_corrected() {
    let mut scene = Scene::new();
    let who = person(Role::Admin);
    let command = Correct::read(&who, json(NO)).unwrap();
    let (request, decision, head, _) = answered(&mut scene, &approve());
    let effects = correct(&request, &decision, &command, &who, &head, &mut scene.context()).unwrap();
    let sealed = effects.receipt.unwrap();
    let correction: Receipt = from_json(json(&sealed.text)).unwrap();
    let again = correct(&effects.request, &correction, &command, &who, &sealed.link.head(), &mut scene.context());
    assert_eq!(again.unwrap_err().code(), ErrorCode::InvalidRequest);

    let raised = scene.raise(&with(&approve(), "ttl", r#""PT1M""#));
    scene.now = raised.0.expires_at.unwrap();
    let Fired::Acted(expired) = scene.expire(&raised) else { panic!("not due") };
    let policy: Receipt = from_json(json(&expired.receipt.unwrap().text)).unwrap();
    let refused = correct(&expired.request, &policy, &command, &who, &head, &mut scene.context());
    assert_eq!(refused.unwrap_err().code(), ErrorCode::InvalidRequest);
}
