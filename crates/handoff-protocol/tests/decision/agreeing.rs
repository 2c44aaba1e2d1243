//! Quorum (R14, rule A-8): several people answer, and the one who makes it enough settles the request for all.

use handoff_protocol::{
    decision::{
        Amend, Correct, DecisionError, Effects, ErrorCode, Policy, Raise, Receipt, Request, TimerChange, Waiter, amend,
        correctable, terms::RequestState, view::RequestView,
    },
    digest::Digest,
    duration::ExactDuration,
    json::{Json, from_json, to_json},
    principal::{AuthStrength, Identity, Principal, Role},
};

use super::scene::{START, Scene, ask, json, link, machine, person_of, with};

/// A question that so many must agree on, with a text beside the choice.
fn council(quorum: u64) -> String {
    let fields = r#"{"name":"decision","type":"choice","required":true,"options":[{"id":"yes","label":"Yes"},{"id":"no","label":"No"}]},
        {"name":"why","type":"text"},{"name":"amount","type":"number"}"#;
    with(&ask(fields), "requires.authority.quorum", &quorum.to_string())
}

fn says(values: &str) -> String {
    format!(r#"{{"values":{values},"note":"a word"}}"#)
}

fn member(number: u128) -> Principal {
    person_of(100 + number, Role::Editor)
}

fn receipt(effects: &Effects) -> Json {
    json(&effects.receipt.as_ref().unwrap().text)
}

/// What is not enough yet, after everything that must hold for it.
fn recorded(effects: Result<Effects, DecisionError>, waiter: &Waiter) -> (Request, Waiter) {
    let effects = effects.unwrap();
    assert!(effects.receipt.is_none() && effects.authorization.is_none() && effects.signals.is_empty());
    assert_eq!((effects.request.state, effects.request.receipt), (RequestState::Pending, None));
    let [event] = effects.events.as_slice() else { panic!("one event") };
    assert_eq!(event.event_type.as_str(), "request.endorsed");
    assert!(!Json::Object(event.data.clone()).to_text().contains("word"));
    (effects.request, waiter.clone())
}

fn endorsers(receipt: &Json) -> Vec<Json> {
    let listed = receipt.pointer("/authority/endorsements").and_then(Json::as_array).unwrap();
    listed.iter().map(|one| one.get("principal_id").unwrap().clone()).collect()
}

fn ids(members: &[&Principal]) -> Vec<Json> {
    members.iter().map(|member| member.id().map(|id| id.to_string()).into()).collect()
}

#[test]
fn a_quorum_is_from_one_to_what_the_deployment_takes_and_never_taken_for_less() {
    let mut policy = Policy::default();
    for (max, quorum, is_taken) in [
        (5, "1", true),
        (5, "5", true),
        (5, "6", false),
        (5, "0", false),
        (5, "-1", false),
        (1, "2", false),
        (9, "9", true),
    ] {
        policy.max_quorum = max;
        let body = with(&council(1), "requires.authority.quorum", quorum);
        let raised = Raise::read(&machine(), json(&body), &policy);
        let requires = json(&body).get("requires").unwrap().to_text();
        let amended = Amend::read(&machine(), json(&format!(r#"{{"requires":{requires}}}"#)), &policy);
        assert_eq!((raised.is_ok(), amended.is_ok()), (is_taken, is_taken), "{quorum} of {max}");
        for refused in [raised.err(), amended.err()].into_iter().flatten() {
            assert_eq!(refused.code(), ErrorCode::InvalidRequest);
            assert!(refused.to_string().contains("`requires.authority.quorum`"), "{refused}");
        }
    }
}

#[test]
fn the_answer_that_is_enough_settles_with_one_receipt_that_names_all_who_agree() {
    let mut scene = Scene::new();
    let raised = scene.raise(&council(3));
    let first = recorded(scene.answer(&raised, &member(1), &says(r#"{"decision":"yes","why":"because"}"#)), &raised.1);
    // Who answered is served, and not what.
    let served = to_json(&RequestView::new(first.0.clone(), None, None, "http://x").unwrap()).unwrap();
    assert_eq!(
        served.get("endorsements").unwrap().to_text(),
        format!(r#"[{{"principal_id":"{}","at":"{START}"}}]"#, member(1).id().unwrap())
    );
    assert!(!served.to_text().contains("because") && !served.to_text().contains("a word"));
    scene.now = START.saturating_add(ExactDuration::from_seconds(1));
    let second = recorded(scene.answer(&first, &member(2), &says(r#"{"decision":"no"}"#)), &first.1);
    let third = recorded(scene.answer(&second, &member(3), r#"{"values":{"why":"so","decision":"yes"}}"#), &second.1);
    let effects = scene.answer(&third, &member(4), &says(r#"{"decision":"yes","why":"indeed"}"#)).unwrap();
    let receipt = receipt(&effects);
    assert_eq!(endorsers(&receipt), ids(&[&member(1), &member(3), &member(4)]));
    let listed = receipt.pointer("/authority/endorsements").unwrap().to_text();
    let [one, three, four] = [1, 3, 4].map(|number| member(number).id().unwrap());
    assert_eq!(
        listed,
        format!(
            r#"[{{"principal_id":"{one}","at":"{START}","note":"a word"}},{{"principal_id":"{three}","at":"{now}"}},{{"principal_id":"{four}","at":"{now}","note":"a word"}}]"#,
            now = scene.now
        )
    );
    // The texts are those of the answer that settles.
    assert_eq!(receipt.pointer("/decision/values").unwrap().to_text(), r#"{"decision":"yes","why":"indeed"}"#);
    assert_eq!(receipt.pointer("/actor/principal_id"), ids(&[&member(4)]).first());
    assert_eq!(receipt.pointer("/authority/required/quorum"), Some(&Json::from(3)));
    assert_eq!(receipt.pointer("/steps").unwrap().to_text(), "[]");
    assert_eq!((effects.signals.len(), effects.authorization.is_some()), (1, true));
    assert!(effects.request.progress.endorsements.is_empty());
    let late = scene.answer(&(effects.request, third.1), &member(5), &says(r#"{"decision":"yes"}"#)).unwrap_err();
    assert_eq!(late.code(), ErrorCode::AlreadyAnswered);
}

#[test]
fn one_person_counts_once_and_their_later_answer_takes_the_place_of_the_earlier() {
    let mut scene = Scene::new();
    let raised = scene.raise(&council(2));
    let mut pending = raised;
    for values in [r#"{"decision":"yes"}"#, r#"{"decision":"yes","why":"again"}"#, r#"{"decision":"no"}"#] {
        pending = recorded(scene.answer(&pending, &member(1), &says(values)), &pending.1);
        assert_eq!(pending.0.progress.endorsements.len(), 1);
    }
    // What they said first counts no more.
    let split = recorded(scene.answer(&pending, &member(2), &says(r#"{"decision":"yes"}"#)), &pending.1);
    // Another credential of the same person is the same person.
    let mut elsewhere = member(1);
    elsewhere.strength = AuthStrength::Mfa;
    let agreed = scene.answer(&split, &elsewhere, &says(r#"{"decision":"yes"}"#)).unwrap();
    assert_eq!(endorsers(&receipt(&agreed)), ids(&[&member(2), &member(1)]));
}

#[test]
fn answers_count_together_by_value_and_not_by_spelling() {
    let mut scene = Scene::new();
    let raised = scene.raise(&council(2));
    let first = scene.answer(&raised, &member(1), &says(r#"{"amount":3e0,"decision":"yes","why":"x"}"#));
    let first = recorded(first, &raised.1);
    for other in [r#"{"decision":"yes"}"#, r#"{"decision":"yes","amount":4}"#, r#"{"decision":"no","amount":3}"#] {
        let _other = recorded(scene.answer(&first, &member(2), &says(other)), &first.1);
    }
    for same in [r#"{"decision":"yes","amount":3.0,"why":null}"#, r#"{"why":"","amount":3,"decision":"yes"}"#] {
        let _settled = scene.answer(&first, &member(2), &says(same)).unwrap().receipt.unwrap();
    }
    let none = recorded(scene.answer(&raised, &member(1), &says(r#"{"decision":"yes","amount":null}"#)), &raised.1);
    let _settled = scene.answer(&none, &member(2), &says(r#"{"decision":"yes"}"#)).unwrap().receipt.unwrap();
}

#[test]
fn an_answer_that_could_not_settle_is_no_endorsement_either() {
    let mut scene = Scene::new();
    let raised = scene.raise(&with(&council(2), "requires.authority.min_role", r#""editor""#));
    let low = scene.answer(&raised, &person_of(9, Role::Viewer), &says(r#"{"decision":"yes"}"#)).unwrap_err();
    assert_eq!(low.code(), ErrorCode::InsufficientAuthority);
    let wrong = scene.answer(&raised, &member(1), &says(r#"{"why":"x"}"#)).unwrap_err();
    assert_eq!(wrong.code(), ErrorCode::AnswerValidationFailed);
}

#[test]
fn links_agree_only_where_links_may_answer_and_each_is_told_by_its_credential() {
    let mut scene = Scene::new();
    let raised = scene.raise(&with(&council(3), "requires.authority.auth_strength", r#""link_only""#));
    let holders = ["one", "two"]
        .map(|token| Principal { identity: Identity::Link(Digest::of(token)), ..link(AuthStrength::LinkOnly) });
    let yes = says(r#"{"decision":"yes"}"#);
    assert_eq!(scene.answer(&raised, &holders[0], &yes).unwrap_err().code(), ErrorCode::AuthStrengthNotPermitted);
    scene.policy.link_only_permitted = true;
    let first = recorded(scene.answer(&raised, &holders[0], &yes), &raised.1);
    assert!(first.0.deliveries[0].grade_reached.is_none() && first.0.attempt_expires_at.is_none());
    let same = recorded(scene.answer(&first, &holders[0], &yes), &first.1);
    let second = recorded(scene.answer(&same, &holders[1], &yes), &same.1);
    let settled = scene.answer(&second, &member(1), &yes).unwrap();
    assert_eq!(endorsers(&receipt(&settled)), [Json::Null, Json::Null, ids(&[&member(1)]).remove(0)]);
}

#[test]
fn once_somebody_agreed_the_question_stays_and_the_window_is_armed() {
    let mut scene = Scene::new();
    let raised = scene.raise(&council(2));
    let effects = scene.answer(&raised, &member(1), &says(r#"{"decision":"yes"}"#)).unwrap();
    assert_eq!(effects.timers, [TimerChange::SetAttempt(START.saturating_add(ExactDuration::from_seconds(900)))]);
    assert_eq!(effects.request.version, 1);
    let command = Amend::read(&machine(), json(r#"{"prompt":{"title":"?"}}"#), &Policy::default()).unwrap();
    let refused = amend(&effects.request, &command, &machine(), &raised.1, &mut scene.context()).unwrap_err();
    assert_eq!(refused.code(), ErrorCode::RequestInProgress);
}

#[test]
fn agreement_outlives_a_step_and_counts_over_all_that_was_given() {
    let mut scene = Scene::new();
    let raised = scene.raise(&council(2));
    let agreed = recorded(scene.answer(&raised, &member(1), &says(r#"{"decision":"yes","amount":3}"#)), &raised.1);
    let step = scene.answer(&agreed, &member(2), r#"{"values":{"decision":"yes"},"partial":true}"#).unwrap();
    assert_eq!((step.request.version, step.request.progress.endorsements.len()), (2, 1));
    let stepped = (step.request, agreed.1);
    // Another amount is another answer; the same one is enough, and it has two steps.
    let _other = recorded(scene.answer(&stepped, &member(3), &says(r#"{"amount":4}"#)), &stepped.1);
    let settled = scene.answer(&stepped, &member(3), &says(r#"{"amount":3}"#)).unwrap();
    let receipt = receipt(&settled);
    assert_eq!(receipt.pointer("/decision/values").unwrap().to_text(), r#"{"decision":"yes","amount":3}"#);
    assert_eq!(endorsers(&receipt), ids(&[&member(1), &member(3)]));
    assert_eq!(receipt.get("steps").and_then(Json::as_array).unwrap().len(), 2);
}

#[test]
fn what_several_decided_is_not_corrected_by_one() {
    let mut scene = Scene::new();
    let raised = scene.raise(&council(2));
    let first = recorded(scene.answer(&raised, &member(1), &says(r#"{"decision":"yes"}"#)), &raised.1);
    let settled = scene.answer(&first, &member(2), &says(r#"{"decision":"yes"}"#)).unwrap();
    let decision: Receipt = from_json(receipt(&settled)).unwrap();
    Correct::read(&member(1), json(r#"{"values":{"decision":"no"},"note":"x"}"#)).unwrap();
    assert_eq!(correctable(&decision).unwrap_err().code(), ErrorCode::InvalidRequest);
}
