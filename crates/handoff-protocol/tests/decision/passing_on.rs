//! Dispositions that decide nothing (R13, rule S-2): passing a request on, and saying that one is unable.

use handoff_protocol::{
    decision::{
        Amend, Answer, DecisionError, Effects, ErrorCode, Fired, Policy, RecordedDisposition, Request, Waiter, amend,
        limits,
        terms::{Disposition, RequestState},
    },
    json::Json,
    principal::{AuthStrength, Principal, Role},
};

use super::scene::{Scene, YES, approve, json, link, machine, person, person_of, with};

const UNABLE: &str = r#"{"values":{},"disposition":"unable","note":"on leave"}"#;

fn pass_to(kind: &str, value: &str) -> String {
    format!(
        r#"{{"values":{{}},"disposition":"delegate","delegate_to":{{"kind":"{kind}","value":"{value}"}},"note":"above my limit"}}"#
    )
}

fn read(body: &str) -> Result<Answer, DecisionError> {
    Answer::read(&person(Role::Admin), json(body))
}

/// A request that is assigned to one person.
fn assigned_to(principal: &Principal) -> String {
    let assignee = format!(r#"[{{"kind":"principal","value":"{}"}}]"#, principal.id().unwrap());
    with(&approve(), "requires.authority.assignees", &assignee)
}

/// Records a disposition and gives the record of it with the request that follows.
fn recorded(effects: Effects, waiter: &Waiter) -> (RecordedDisposition, (Request, Waiter)) {
    assert!(effects.receipt.is_none() && effects.authorization.is_none() && effects.signals.is_empty());
    assert!(effects.waiter.is_none() && effects.timers.is_empty() && effects.renderings.is_empty());
    let [event] = effects.events.as_slice() else { panic!("one event") };
    assert_eq!(event.event_type.as_str(), "request.disposition_recorded");
    assert!(!Json::Object(event.data.clone()).to_text().contains("limit"));
    (effects.disposition.unwrap(), (effects.request, waiter.clone()))
}

fn delegated_to(effects: &Effects) -> String {
    let receipt = json(&effects.receipt.as_ref().unwrap().text);
    receipt.pointer("/decision/delegated_to").unwrap().to_text()
}

#[test]
fn members_that_do_not_belong_together_are_named() {
    for (body, member) in [
        (with(YES, "disposition", r#""delegate""#), "`delegate_to`"),
        (with(&with(YES, "disposition", r#""delegate""#), "delegate_to", "null"), "`delegate_to`"),
        (with(YES, "delegate_to", r#"{"kind":"role","value":"admin"}"#), "`delegate_to`"),
        (with(UNABLE, "delegate_to", r#"{"kind":"role","value":"admin"}"#), "`delegate_to`"),
        (with(UNABLE, "partial", "true"), "`partial`"),
        (with(&pass_to("role", "admin"), "partial", "true"), "`partial`"),
        (with(YES, "disposition", r#""maybe""#), "`disposition`"),
        (with(YES, "partial", r#""yes""#), "`partial`"),
        (pass_to("nobody", "x"), "`delegate_to.kind`"),
        (with(&pass_to("role", "admin"), "delegate_to.more", "1"), "`delegate_to.more`"),
    ] {
        let refused = read(&body).unwrap_err();
        assert_eq!(refused.code(), ErrorCode::InvalidRequest, "{body}");
        assert!(refused.to_string().contains(member), "{body}: {refused}");
    }
    for body in [UNABLE.to_owned(), pass_to("anyone", "*"), with(UNABLE, "values", r#"{"decision":"yes"}"#)] {
        read(&body).unwrap();
    }
}

#[test]
fn who_is_unable_leaves_the_request_as_it_is_with_their_words_on_record() {
    let mut scene = Scene::new();
    let raised = scene.raise(&approve());
    // Whatever was filled in on the way is neither judged nor kept.
    let body = with(UNABLE, "values", r#"{"decision":"perhaps"}"#);
    let (first, next) = recorded(scene.answer(&raised, &person(Role::Viewer), &body).unwrap(), &raised.1);
    assert_eq!((first.n, first.disposition, first.note.as_deref()), (1, Disposition::Unable, Some("on leave")));
    assert_eq!((first.by.principal_id, first.at, first.delegate_to), (person(Role::Viewer).id(), scene.now, None));
    let mut unchanged = next.0.clone();
    unchanged.progress = raised.0.progress.clone();
    assert_eq!(unchanged, raised.0);
    let (second, next) = recorded(scene.answer(&next, &person_of(8, Role::Viewer), UNABLE).unwrap(), &next.1);
    assert_eq!(second.n, 2);

    // Nobody began to answer, so the question may still be mended.
    let command = Amend::read(&machine(), json(r#"{"prompt":{"title":"?"}}"#), &Policy::default()).unwrap();
    let _mended = amend(&next.0, &command, &machine(), &next.1, &mut scene.context()).unwrap();
    let answered = scene.answer(&next, &person(Role::Viewer), YES).unwrap();
    assert_eq!(delegated_to(&answered), "null");
}

#[test]
fn who_it_is_passed_on_to_may_answer_and_is_reached() {
    let mut scene = Scene::new();
    let (owner, other) = (person(Role::Editor), person_of(8, Role::Editor));
    let raised = scene.raise(&assigned_to(&owner));
    let refused = scene.answer(&raised, &other, YES).unwrap_err();
    assert_eq!(refused.code(), ErrorCode::InsufficientAuthority);
    // Nobody passes to themselves what is not theirs.
    let to_other = pass_to("principal", &other.id().unwrap().to_string());
    assert_eq!(scene.answer(&raised, &other, &to_other).unwrap_err().code(), ErrorCode::InsufficientAuthority);

    let (record, next) = recorded(scene.answer(&raised, &owner, &to_other).unwrap(), &raised.1);
    assert_eq!((record.disposition, record.note.as_deref()), (Disposition::Delegate, Some("above my limit")));
    let minted = next.0.deliveries.last().unwrap();
    assert_eq!((Some(minted.id), Some(&minted.target)), (record.delivery_id, record.delegate_to.as_ref()));
    assert_eq!((next.0.deliveries.len(), next.0.version, next.0.state), (2, 1, RequestState::Pending));
    // What was declared is served as it was declared (D-7).
    assert_eq!(next.0.requires, raised.0.requires);

    let answered = scene.answer(&next, &other, YES).unwrap();
    assert_eq!(delegated_to(&answered), format!(r#"{{"kind":"principal","value":"{}"}}"#, other.id().unwrap()));
    let required = json(&answered.receipt.as_ref().unwrap().text);
    assert_eq!(
        required.pointer("/authority/required/assignees").unwrap().to_text(),
        format!(r#"[{{"kind":"principal","value":"{}"}}]"#, owner.id().unwrap())
    );
    // The one who passed it on may still answer, too.
    let _settled = scene.answer(&next, &owner, YES).unwrap();
}

#[test]
fn passing_on_lowers_no_other_requirement() {
    let mut scene = Scene::new();
    let body = with(&assigned_to(&person(Role::Admin)), "requires.authority.min_role", r#""admin""#);
    let raised = scene.raise(&body);
    let (_, next) = recorded(scene.answer(&raised, &person(Role::Admin), &pass_to("anyone", "*")).unwrap(), &raised.1);
    let refused = scene.answer(&next, &person_of(8, Role::Editor), YES).unwrap_err();
    assert_eq!(refused.code(), ErrorCode::InsufficientAuthority);
    let _settled = scene.answer(&next, &person_of(8, Role::Admin), YES).unwrap();
}

#[test]
fn the_receipt_names_the_last_delegation_also_when_nobody_answered() {
    let mut scene = Scene::new();
    let raised = scene.raise(&with(&approve(), "ttl", r#""PT1M""#));
    let admin = person(Role::Admin);
    let (_, next) = recorded(scene.answer(&raised, &admin, &pass_to("role", "admin")).unwrap(), &raised.1);
    let (_, next) = recorded(scene.answer(&next, &admin, &pass_to("role", "editor")).unwrap(), &next.1);
    // The same target again is reached already.
    let (third, next) = recorded(scene.answer(&next, &admin, &pass_to("role", "admin")).unwrap(), &next.1);
    assert_eq!((third.n, next.0.deliveries.len(), next.0.progress.also_assigned.len()), (3, 3, 2));
    assert_eq!(third.delivery_id, Some(next.0.deliveries[1].id));
    let admins = r#"{"kind":"role","value":"admin"}"#;
    assert_eq!(delegated_to(&scene.answer(&next, &admin, YES).unwrap()), admins);
    scene.now = next.0.expires_at.unwrap();
    let Fired::Acted(expired) = scene.expire(&next) else { panic!("it was due") };
    assert_eq!(delegated_to(&expired), admins);
}

#[test]
fn a_link_says_that_it_is_unable_but_passes_nothing_on() {
    let mut scene = Scene::new();
    let raised = scene.raise(&with(&approve(), "requires.authority.auth_strength", r#""link_only""#));
    let holder = link(AuthStrength::LinkOnly);
    assert_eq!(scene.answer(&raised, &holder, UNABLE).unwrap_err().code(), ErrorCode::AuthStrengthNotPermitted);
    scene.policy.link_only_permitted = true;
    let refused = scene.answer(&raised, &holder, &pass_to("anyone", "*")).unwrap_err();
    assert_eq!(refused.code(), ErrorCode::InsufficientScope);
    let (record, _) = recorded(scene.answer(&raised, &holder, UNABLE).unwrap(), &raised.1);
    assert_eq!((record.by.actor_type.as_str(), record.by.principal_id), ("anonymous_link", None));
}

#[test]
fn a_request_is_passed_on_to_so_many_and_no_more() {
    let mut scene = Scene::new();
    let mut pending = scene.raise(&approve());
    let admin = person(Role::Admin);
    let user = |place: usize| person_of(100 + u128::try_from(place).unwrap(), Role::Viewer).id().unwrap().to_string();
    for place in 0..limits::ASSIGNEES {
        let body = pass_to("principal", &user(place));
        pending = recorded(scene.answer(&pending, &admin, &body).unwrap(), &pending.1).1;
    }
    let refused = scene.answer(&pending, &admin, &pass_to("principal", &user(500))).unwrap_err();
    assert_eq!(refused.code(), ErrorCode::InvalidRequest);
    assert!(refused.to_string().contains("`delegate_to`") && !refused.to_string().contains("usr_"), "{refused}");
    let _again = scene.answer(&pending, &admin, &pass_to("principal", &user(7))).unwrap();
}

#[test]
fn what_was_raised_to_try_things_out_is_passed_on_to_nobody() {
    let mut scene = Scene::new();
    let raised = scene.raise(&with(&approve(), "test_mode", "true"));
    let effects = scene.answer(&raised, &person(Role::Admin), &pass_to("role", "admin")).unwrap();
    assert!(effects.request.deliveries.iter().all(|delivery| delivery.channel == "sandbox"));
}
