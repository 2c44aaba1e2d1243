//! Expiring: what each policy comes to, when, and with which receipt.

use handoff_protocol::{
    chain::verify_alone,
    decision::{Effects, Fired, TimerChange, terms::RequestState},
    duration::ExactDuration,
    json::{Json, to_json},
    timestamp::Timestamp,
};

use super::scene::{START, Scene, approve, json, with};

fn with_policy(policy: &str) -> String {
    with(&with(&approve(), "ttl", r#""PT10M""#), "ttl_policy", policy)
}

fn at_deadline(body: &str) -> Box<Effects> {
    let mut scene = Scene::new();
    let raised = scene.raise(body);
    scene.now = raised.0.expires_at.unwrap();
    match scene.expire(&raised) {
        Fired::Acted(effects) => effects,
        Fired::NotDue { .. } => panic!("it is due"),
    }
}

#[test]
fn each_policy_comes_to_what_it_declares() {
    let default = r#"{"on_expiry":"default","default_answer":{"decision":"no"}}"#;
    for (body, effective, values) in [
        (with(&approve(), "ttl", r#""PT10M""#), "deny", "{}"),
        (with_policy(r#"{"on_expiry":"escalate"}"#), "deny", "{}"),
        (with_policy(r#"{"on_expiry":"expire_and_deny"}"#), "deny", "{}"),
        (with_policy(r#"{"on_expiry":"expire_and_deny","default_answer":{"decision":"yes"}}"#), "deny", "{}"),
        (with_policy(default), "default", r#"{"decision":"no"}"#),
    ] {
        let effects = at_deadline(&body);
        assert_eq!(effects.request.state, RequestState::Expired);
        let receipt = json(&effects.receipt.as_ref().unwrap().text);
        verify_alone(&receipt).unwrap();
        let at = |path: &str| path.split('.').fold(&receipt, |place, name| place.get(name).unwrap()).to_text();
        assert_eq!(at("kind"), r#""policy""#);
        assert_eq!(at("decision.effective"), format!("\"{effective}\""), "{body}");
        assert_eq!(at("decision.values"), values);
        assert_eq!(at("actor.type"), r#""policy""#);
        assert_eq!(at("actor.principal_id"), "null", "present and null");
        assert_eq!(at("authority.satisfied"), r#""none""#);
        assert_eq!(at("clearance.source"), r#""timeout""#);
        assert_eq!(at("clearance.actor"), "null");
        assert_eq!(at("via"), r#"{"delivery_id":null,"channel":null,"target":null,"grade_reached":null}"#);
        assert!(effects.authorization.is_none() && effects.request.authorization.is_none());
        let [signal] = effects.signals.as_slice() else { panic!("one signal") };
        let decision = to_json(signal.decision.as_ref().unwrap()).unwrap();
        assert_eq!(decision.get("source").and_then(Json::as_str), Some("policy"));
        assert_eq!(decision.get("values").unwrap().to_text(), values);
        assert_eq!(decision.get("effective").and_then(Json::as_str), Some(effective));
        assert_eq!(decision.get("receipt_id").unwrap().to_text(), at("id"));
        assert_eq!(decision.get("authorization_id"), Some(&Json::Null));
        assert_eq!(effects.events[0].event_type.as_str(), "request.expired");
    }
}

#[test]
fn a_deadline_acts_at_its_moment_and_not_before() {
    let mut scene = Scene::new();
    let raised = scene.raise(&with(&approve(), "ttl", r#""PT10M""#));
    let deadline = START.saturating_add(ExactDuration::from_minutes(10));
    assert_eq!(raised.0.deadline(), Some(deadline));
    scene.now = deadline.saturating_sub(std::time::Duration::from_millis(1));
    assert_eq!(scene.expire(&raised), Fired::NotDue { again: Some(deadline) });
    scene.now = deadline;
    assert!(matches!(scene.expire(&raised), Fired::Acted(_)));
}

#[test]
fn what_is_parked_or_has_no_ttl_never_expires() {
    for body in [
        approve(),
        with_policy(r#"{"on_expiry":"park"}"#),
        with(&approve(), "ttl_policy", r#"{"on_expiry":"expire_and_deny"}"#),
    ] {
        let mut scene = Scene::new();
        let effects = scene.raise_effects(json(&body));
        assert_eq!((effects.request.expires_at, effects.timers.len()), (None, 0), "{body}");
        scene.now = Timestamp::from_unix_millis(i64::MAX);
        assert_eq!(scene.expire(&(effects.request, effects.waiter.unwrap())), Fired::NotDue { again: None });
    }
}

#[test]
fn a_request_with_a_deadline_sets_its_timer() {
    let effects = Scene::new().raise_effects(json(&with(&approve(), "ttl", r#""PT10M""#)));
    assert_eq!(effects.timers, [TimerChange::SetDeadline(effects.request.expires_at.unwrap())]);
}

#[test]
fn time_saturates_instead_of_wrapping() {
    let end_of_time = Timestamp::from_unix_millis(i64::MAX);
    let mut scene = Scene::new();
    scene.policy.authorization_ttl = ExactDuration::from_seconds(u64::MAX);
    let raised = scene.raise(&with(&approve(), "ttl", &format!("\"PT{}S\"", u64::MAX)));
    assert_eq!(raised.0.expires_at, Some(end_of_time));
    let person = super::scene::person(handoff_protocol::principal::Role::Viewer);
    let effects = scene.answer(&raised, &person, super::scene::YES).unwrap();
    assert_eq!(effects.authorization.unwrap().expires_at, end_of_time);
    verify_alone(&json(&effects.receipt.unwrap().text)).unwrap();
    // A ttl of nothing is legal, and due at once.
    let raised = scene.raise(&with(&approve(), "ttl", r#""PT0S""#));
    assert!(matches!(scene.expire(&raised), Fired::Acted(_)));
}
