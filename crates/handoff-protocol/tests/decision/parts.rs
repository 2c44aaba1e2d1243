//! Partial answers (R12, rule S-3): what is recorded, what is asked for from then on, and what the receipt says in the end.

use handoff_protocol::{
    decision::{
        Amend, Correct, DecisionError, Effects, ErrorCode, Policy, Raise, Request, TimerChange, Waiter, amend, correct,
        join, limits,
        terms::{DeliveryState, RequestState, UrgencyState},
        view::{AnswerResult, RequestView},
    },
    duration::ExactDuration,
    json::{Json, from_json, to_json},
    principal::{AuthStrength, Role},
};

use super::scene::{START, Scene, approve, ask, json, link, machine, person, person_of, with};

/// A form of four fields, of which two are required.
fn form() -> String {
    ask(
        r#"{"name":"decision","type":"choice","required":true,"options":[{"id":"yes","label":"Yes"},{"id":"no","label":"No"}]},
        {"name":"amount","type":"number","max":10,"required":true},
        {"name":"reason","type":"text","max_len":5},
        {"name":"kinds","type":"choice","multi":true,"required":true,"options":[{"id":"a","label":"A"}]}"#,
    )
}

fn part(values: &str) -> String {
    format!(r#"{{"values":{values},"partial":true}}"#)
}

fn whole(values: &str) -> String {
    format!(r#"{{"values":{values}}}"#)
}

/// Records a step and gives what follows.
fn step(scene: &mut Scene, pending: &(Request, Waiter), values: &str) -> (Request, Waiter) {
    let effects = scene.answer(pending, &person(Role::Editor), &part(values)).unwrap();
    (effects.request, pending.1.clone())
}

fn fields(request: &Request) -> Vec<&str> {
    let fields = request.requires.pointer("/answer/fields").and_then(Json::as_array).unwrap();
    fields.iter().map(|field| field.get("name").and_then(Json::as_str).unwrap()).collect()
}

fn receipt(effects: &Effects) -> Json {
    json(&effects.receipt.as_ref().unwrap().text)
}

fn at(receipt: &Json, pointer: &str) -> String {
    receipt.pointer(pointer).unwrap_or_else(|| panic!("no {pointer}")).to_text()
}

fn code(refused: Result<Effects, DecisionError>) -> ErrorCode {
    refused.unwrap_err().code()
}

#[test]
fn a_step_is_recorded_and_the_rest_is_asked_for_at_the_next_version() {
    let mut scene = Scene::new();
    let raised = scene.raise(&form());
    scene.now = START.saturating_add(ExactDuration::from_seconds(60));
    let effects = scene.answer(&raised, &person(Role::Editor), &part(r#"{"amount":3e0}"#)).unwrap();
    let request = &effects.request;
    assert_eq!((request.state, request.version), (RequestState::Pending, 2));
    assert_eq!(fields(request), ["decision", "reason", "kinds"]);
    assert_eq!(*request.declared(), raised.0.requires);
    assert_ne!(request.rendered_digest().unwrap(), raised.0.rendered_digest().unwrap());
    assert_ne!(request.request_digest().unwrap(), raised.0.request_digest().unwrap());
    // What was shown until then is kept.
    let [before] = effects.renderings.as_slice() else { panic!("one rendering") };
    assert_eq!(before.digest, raised.0.rendered_digest().unwrap());

    let [given] = request.progress.steps.as_slice() else { panic!("one step") };
    let own = raised.0.deliveries[0].id;
    assert_eq!(
        to_json(&given.recorded).unwrap().to_text(),
        format!(
            r#"{{"n":1,"at":"{}","fields_provided":["amount"],"secret_fields":[],"via_delivery_id":"{own}"}}"#,
            scene.now
        )
    );
    assert_eq!(given.by.principal_id, person(Role::Editor).id());
    assert_eq!(request.progress.given, json(r#"{"amount":3}"#).as_object().unwrap().clone());
    assert_eq!(request.deliveries[0].state, DeliveryState::Acted);
    // Nothing is settled, and nobody hears of it.
    assert!(effects.receipt.is_none() && effects.authorization.is_none() && effects.signals.is_empty());
    assert!(effects.waiter.is_none());
    let result = to_json(&AnswerResult::new(request, None, None)).unwrap();
    assert_eq!((result.get("receipt"), result.get("authorization")), (Some(&Json::Null), Some(&Json::Null)));
    let [event] = effects.events.as_slice() else { panic!("one event") };
    assert_eq!(event.event_type.as_str(), "request.step_recorded");
    assert!(!Json::Object(event.data.clone()).to_text().contains("amount"));
    let served = to_json(&RequestView::new(request.clone(), None, None, "http://x").unwrap()).unwrap();
    assert_eq!(at(&served, "/steps/0/fields_provided"), r#"["amount"]"#);
    assert!(served.get("given").is_none() && served.get("progress").is_none() && served.get("declared").is_none());
}

#[test]
fn a_null_gives_nothing_and_its_field_is_still_asked_for() {
    let mut scene = Scene::new();
    let raised = scene.raise(&form());
    let (request, waiter) = step(&mut scene, &raised, r#"{"decision":null,"reason":null,"amount":3}"#);
    assert_eq!(fields(&request), ["decision", "reason", "kinds"]);
    assert_eq!(request.progress.steps[0].recorded.fields_provided, ["amount"]);
    // It takes nothing back either.
    let (request, _) = step(&mut scene, &(request, waiter), r#"{"decision":"yes","amount":null}"#);
    assert_eq!(fields(&request), ["reason", "kinds"]);
}

#[test]
fn each_step_begins_a_full_fresh_window_whatever_was_left_of_the_one_before() {
    let mut scene = Scene::new();
    let mut pending = scene.raise(&with(&form(), "attempt_ttl", r#""PT10M""#));
    for minutes in [0, 9, 30] {
        scene.now = START.saturating_add(ExactDuration::from_seconds(minutes * 60));
        pending.0.attempt_notified = true;
        pending.0.urgency_state = UrgencyState::Waiting;
        let effects = scene.answer(&pending, &person(Role::Editor), &part(r#"{"amount":1}"#)).unwrap();
        let lapses_at = scene.now.saturating_add(ExactDuration::from_seconds(600));
        assert_eq!(effects.timers, [TimerChange::SetAttempt(lapses_at)]);
        pending.0 = effects.request;
        assert_eq!((pending.0.attempt_expires_at, pending.0.attempt_notified), (Some(lapses_at), false));
        assert_eq!(pending.0.urgency_state, UrgencyState::Attention);
    }
}

#[test]
fn only_what_is_submitted_is_judged_in_a_step_and_every_fault_is_named() {
    let mut scene = Scene::new();
    let raised = scene.raise(&form());
    let refused = scene
        .answer(&raised, &person(Role::Editor), &part(r#"{"amount":11,"reason":"longer","other":1,"kinds":[]}"#))
        .unwrap_err();
    let named: Vec<_> = refused.fields().iter().map(|fault| format!("{} {:?}", fault.name, fault.code)).collect();
    assert_eq!(
        named,
        ["amount OutOfRange", "reason OutOfRange", "kinds Required", "other UndeclaredField"],
        "{refused}"
    );
    assert_eq!(refused.request_id(), Some(raised.0.id));
    for nothing in ["{}", r#"{"amount":null}"#] {
        let refused = scene.answer(&raised, &person(Role::Editor), &part(nothing)).unwrap_err();
        assert_eq!(refused.code(), ErrorCode::InvalidRequest);
        assert!(refused.to_string().contains("`values`"), "{refused}");
    }
    for wrong in [part(r#"{"a":0.5}"#), part(r#"{"amount":9007199254740992}"#)] {
        assert_eq!(code(scene.answer(&raised, &person(Role::Editor), &wrong)), ErrorCode::AnswerValidationFailed);
    }
}

#[test]
fn a_step_needs_the_authority_and_the_presentation_that_a_decision_needs() {
    let mut scene = Scene::new();
    let body = with(&form(), "requires.authority.min_role", r#""editor""#);
    let raised = scene.raise(&with(&body, "presentation_binding", r#""strict""#));
    let body = part(r#"{"amount":1}"#);
    assert_eq!(code(scene.answer(&raised, &person(Role::Viewer), &body)), ErrorCode::InsufficientAuthority);
    assert_eq!(code(scene.answer(&raised, &person(Role::Editor), &body)), ErrorCode::PresentationStale);
    let shown = raised.0.rendered_digest().unwrap();
    let body = with(&body, "rendered_digest", &format!("\"{shown}\""));
    let effects = scene.answer(&raised, &person(Role::Editor), &body).unwrap();
    // The form that was shown is not the one that is asked now.
    let next = (effects.request, raised.1.clone());
    let rest = with(&whole(r#"{"decision":"yes","kinds":["a"]}"#), "rendered_digest", &format!("\"{shown}\""));
    assert_eq!(code(scene.answer(&next, &person(Role::Editor), &rest)), ErrorCode::PresentationStale);
    let shown = next.0.rendered_digest().unwrap();
    let _settled =
        scene.answer(&next, &person(Role::Editor), &with(&rest, "rendered_digest", &format!("\"{shown}\""))).unwrap();
}

#[test]
fn the_receipt_carries_what_all_steps_gave_and_every_step_with_the_last() {
    let mut scene = Scene::new();
    let raised = scene.raise(&form());
    let first = step(&mut scene, &raised, r#"{"amount":3,"reason":"why"}"#);
    // What was given can be given again, and counts as it was given last; a null takes nothing back.
    let second = step(&mut scene, &first, r#"{"kinds":["a"],"amount":4,"reason":null}"#);
    assert_eq!(fields(&second.0), ["decision"]);
    // All that was given is still held against the declaration.
    let faulty = scene.answer(&second, &person(Role::Editor), &whole(r#"{"amount":11}"#)).unwrap_err();
    let named: Vec<_> = faulty.fields().iter().map(|fault| fault.name.as_str()).collect();
    assert_eq!(named, ["decision", "amount"]);

    let ended = scene.answer(&second, &person_of(8, Role::Viewer), &whole(r#"{"decision":"no"}"#)).unwrap();
    let receipt = receipt(&ended);
    let values = r#"{"amount":4,"reason":"why","kinds":["a"],"decision":"no"}"#;
    assert_eq!(at(&receipt, "/decision/values"), values);
    assert_eq!(ended.authorization.as_ref().unwrap().grants.to_text(), values);
    assert_eq!(ended.signals[0].decision.as_ref().unwrap().values.to_text(), values);
    let steps: Vec<String> = (0..3)
        .map(|n| {
            format!(
                "{} {}",
                at(&receipt, &format!("/steps/{n}/n")),
                at(&receipt, &format!("/steps/{n}/fields_provided"))
            )
        })
        .collect();
    assert_eq!(steps, [r#"1 ["amount","reason"]"#, r#"2 ["amount","kinds"]"#, r#"3 ["decision"]"#]);
    assert_eq!(at(&receipt, "/actor/principal_id"), format!("\"{}\"", person_of(8, Role::Viewer).id().unwrap()));
    assert_eq!(at(&receipt, "/request_version"), "3");
    assert_eq!(at(&receipt, "/rendered/digest"), format!("\"{}\"", second.0.rendered_digest().unwrap()));
    assert_eq!((ended.signals.len(), ended.receipt.as_ref().unwrap().link.height), (1, 1));
    // Values stay where they count alone.
    assert!(ended.request.progress.given.is_empty());
}

#[test]
fn a_form_that_was_given_in_full_still_waits_for_its_last_word() {
    let mut scene = Scene::new();
    let raised = scene.raise(&approve());
    let given = step(&mut scene, &raised, r#"{"decision":"yes"}"#);
    assert_eq!((given.0.state, fields(&given.0).len()), (RequestState::Pending, 0));
    let ended = scene.answer(&given, &person(Role::Editor), &whole("{}")).unwrap();
    assert_eq!(at(&receipt(&ended), "/decision/values"), r#"{"decision":"yes"}"#);
    assert_eq!(at(&receipt(&ended), "/steps/1/fields_provided"), "[]");
}

#[test]
fn once_somebody_began_to_answer_the_question_stays_what_it_is() {
    let mut scene = Scene::new();
    let raised = scene.raise(&form());
    let (begun, waiter) = step(&mut scene, &raised, r#"{"amount":3}"#);
    let command = Amend::read(&machine(), json(r#"{"prompt":{"title":"?"}}"#), &Policy::default()).unwrap();
    let refused = amend(&begun, &command, &machine(), &waiter, &mut scene.context()).unwrap_err();
    assert_eq!((refused.code(), refused.request_id()), (ErrorCode::RequestInProgress, Some(begun.id)));

    let mut asked_again = |body: &str| {
        let command = Raise::read(&machine(), json(body), &Policy::default()).unwrap();
        join(&command, &machine(), &begun, Some(&waiter), &mut scene.context())
    };
    let other_words = asked_again(&with(&form(), "prompt.body", r#""more""#)).unwrap_err();
    assert_eq!((other_words.code(), other_words.request_id()), (ErrorCode::RequestInProgress, Some(begun.id)));
    // A program that comes back with the very same question finds it as it stands.
    let same = asked_again(&form()).unwrap();
    assert_eq!(same.request, begun);
    assert!(same.events.is_empty() && same.renderings.is_empty());
}

#[test]
fn what_a_link_began_is_begun_too_though_no_delivery_tells_of_it() {
    let mut scene = Scene::new();
    scene.policy.link_only_permitted = true;
    let raised = scene.raise(&with(&form(), "requires.authority.auth_strength", r#""link_only""#));
    let effects = scene.answer(&raised, &link(AuthStrength::LinkOnly), &part(r#"{"amount":1}"#)).unwrap();
    assert_eq!(effects.request.deliveries[0].grade_reached, None);
    assert!(effects.request.is_in_progress());
    assert_eq!(effects.request.progress.steps[0].by.principal_id, None);
}

#[test]
fn a_deadline_after_some_steps_counts_as_the_policy_says_and_names_them() {
    let mut scene = Scene::new();
    let raised = scene.raise(&with(&form(), "ttl", r#""PT1M""#));
    let begun = step(&mut scene, &raised, r#"{"amount":3}"#);
    scene.now = begun.0.expires_at.unwrap();
    let handoff_protocol::decision::Fired::Acted(expired) = scene.expire(&begun) else { panic!("it was due") };
    let receipt = receipt(&expired);
    assert_eq!(
        (at(&receipt, "/decision/values"), at(&receipt, "/decision/effective")),
        ("{}".into(), r#""deny""#.into())
    );
    assert_eq!(at(&receipt, "/steps/0/fields_provided"), r#"["amount"]"#);
    assert!(expired.request.progress.given.is_empty());
}

#[test]
fn a_decision_of_several_steps_is_corrected_as_a_whole() {
    let mut scene = Scene::new();
    let raised = scene.raise(&form());
    let begun = step(&mut scene, &raised, r#"{"amount":3,"kinds":["a"]}"#);
    let ended = scene.answer(&begun, &person(Role::Editor), &whole(r#"{"decision":"yes"}"#)).unwrap();
    let sealed = ended.receipt.clone().unwrap();
    let decision = from_json(json(&sealed.text)).unwrap();
    let mut corrected = |values: &str| {
        let body = format!(r#"{{"values":{values},"note":"a slip"}}"#);
        let command = Correct::read(&person(Role::Editor), json(&body)).unwrap();
        let head = sealed.link.head();
        correct(&ended.request, &decision, &command, &person(Role::Editor), &head, &mut scene.context())
    };
    let part = corrected(r#"{"decision":"no"}"#).unwrap_err();
    let named: Vec<_> = part.fields().iter().map(|fault| fault.name.as_str()).collect();
    assert_eq!(named, ["amount", "kinds"]);
    let effects = corrected(r#"{"decision":"no","amount":3,"kinds":["a"]}"#).unwrap();
    assert_eq!(
        (at(&receipt(&effects), "/steps"), at(&receipt(&effects), "/request_version")),
        ("[]".into(), "2".into())
    );
}

#[test]
fn steps_are_bounded_and_the_answer_is_not_refused_for_it() {
    let mut scene = Scene::new();
    let mut pending = scene.raise(&form());
    for _ in 0..limits::STEPS {
        pending = step(&mut scene, &pending, r#"{"amount":1}"#);
    }
    let refused = scene.answer(&pending, &person(Role::Editor), &part(r#"{"amount":1}"#)).unwrap_err();
    assert_eq!(refused.code(), ErrorCode::InvalidRequest);
    assert!(refused.to_string().contains("`partial`"), "{refused}");
    let ended = scene.answer(&pending, &person(Role::Editor), &whole(r#"{"decision":"yes","kinds":["a"]}"#)).unwrap();
    assert_eq!(receipt(&ended).get("steps").and_then(Json::as_array).unwrap().len(), limits::STEPS + 1);
}
