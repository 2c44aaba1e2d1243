//! Refusals as they travel: the members of each, and nothing that was submitted.

use handoff_protocol::{
    decision::{Acknowledge, Answer, Cancel, DecisionError, ErrorEnvelope, Policy, Raise, Redeem},
    json::{Json, to_json},
    principal::Role,
};

use super::scene::{Scene, YES, approve, ask, json, machine, person, with};

const CANARY: &str = "c4n4ry";

/// A body with the canary in the place of one member's value, for every member and every shape of value.
fn poisoned(body: &str, paths: &[&str]) -> Vec<String> {
    let shapes = [
        format!("\"{CANARY}\""),
        format!("\"{}\"", CANARY.repeat(4000)),
        format!(r#"["{CANARY}"]"#),
        format!(r#"{{"v":"{CANARY}"}}"#),
    ];
    paths.iter().flat_map(|path| shapes.iter().map(|shape| with(body, path, shape))).collect()
}

fn silent(refused: &DecisionError) {
    let envelope = to_json(&ErrorEnvelope::from(refused)).unwrap().to_text();
    assert!(!envelope.contains(CANARY), "{envelope}");
}

#[test]
fn no_refusal_repeats_a_submitted_value() {
    let mut refusals = 0;
    let mut check = |refused: Option<DecisionError>| {
        if let Some(refused) = refused {
            refusals += 1;
            silent(&refused);
        }
    };
    let raise = with(&approve(), "ttl_policy", r#"{"on_expiry":"park"}"#);
    for body in poisoned(
        &raise,
        &[
            "waiter_ref",
            "liveness",
            "urgency",
            "prompt",
            "prompt.title",
            "prompt.body",
            "prompt.evidence",
            "requires",
            "requires.v",
            "requires.answer",
            "requires.answer.fields",
            "requires.answer.value_sink",
            "requires.capabilities",
            "requires.authority",
            "requires.authority.min_role",
            "requires.authority.auth_strength",
            "requires.authority.quorum",
            "requires.authority.assignees",
            "requires.authority.reason",
            "requires.authority.forbid_requester",
            "ttl",
            "ttl_policy",
            "ttl_policy.on_expiry",
            "ttl_policy.default_answer",
            "ttl_policy.reminder_every",
            "attempt_ttl",
            "on_waiter_terminal",
            "routing",
            "mode",
            "presentation_binding",
            "dedupe_key",
            "callback",
            "metadata",
            "test_mode",
            "resume_ref",
            "resume_payload",
            "effect_digest",
            "unknown",
        ],
    ) {
        check(Raise::read(&machine(), json(&body), &Policy::default()).err());
    }
    for member in ["name", "type", "label", "help", "required", "options", "multi", "max_len", "min", "max", "sink_ref"]
    {
        for field in poisoned(r#"{"name":"a","type":"number"}"#, &[member]) {
            check(Raise::read(&machine(), json(&ask(&field)), &Policy::default()).err());
        }
    }
    for body in poisoned(
        YES,
        &[
            "values",
            "note",
            "via_delivery_id",
            "rendered_digest",
            "disposition",
            "partial",
            "delegate_to",
            "capability_uses",
            "more",
        ],
    ) {
        check(Answer::read(&person(Role::Viewer), json(&body)).err());
    }
    let passed_on = with(YES, "disposition", r#""delegate""#);
    for body in poisoned(&passed_on, &["delegate_to", "delegate_to.kind", "delegate_to.value", "delegate_to.more"]) {
        check(Answer::read(&person(Role::Viewer), json(&body)).err());
    }
    for body in poisoned(r#"{"reason":"r"}"#, &["reason", "more"]) {
        check(Cancel::read(&machine(), json(&body)).err());
    }
    for body in poisoned(r#"{"effect_key":"k"}"#, &["effect_key", "effect_digest", "more"]) {
        check(Redeem::read(&machine(), &json(&body)).err());
    }
    for body in poisoned(r#"{"resume_token":"x","applied":true}"#, &["resume_token", "applied", "reason", "more"]) {
        check(Acknowledge::read(&json(&body)).err());
    }
    let mut scene = Scene::new();
    let raised = scene.raise(&approve());
    let in_part = with(YES, "partial", "true");
    for body in poisoned(&in_part, &["values.decision", "values.undeclared"]) {
        check(scene.answer(&raised, &person(Role::Viewer), &body).err());
    }
    for body in poisoned(YES, &["values.decision", "values.undeclared"]) {
        check(scene.answer(&raised, &person(Role::Viewer), &body).err());
    }
    assert!(refusals > 150, "{refusals}");
}

#[test]
fn a_default_answer_that_cannot_settle_names_fields_and_no_values() {
    let policy = format!(r#"{{"on_expiry":"default","default_answer":{{"decision":"{CANARY}","{CANARY}":1}}}}"#);
    let refused =
        Raise::read(&machine(), json(&with(&approve(), "ttl_policy", &policy)), &Policy::default()).unwrap_err();
    assert!(refused.to_string().contains("decision"));
    silent(&refused);
}

#[test]
fn a_refusal_carries_the_members_of_its_code_and_no_others() {
    let mut scene = Scene::new();
    let raised = scene.raise(&with(&approve(), "requires.authority.min_role", r#""editor""#));
    let members = |refused: &DecisionError| {
        let envelope = to_json(&ErrorEnvelope::from(refused)).unwrap();
        assert_eq!(envelope.as_object().unwrap().len(), 1);
        envelope.get("error").and_then(Json::as_object).unwrap().keys().map(str::to_owned).collect::<Vec<_>>()
    };
    let too_low = scene.answer(&raised, &person(Role::Viewer), YES).unwrap_err();
    assert_eq!(members(&too_low), ["code", "message", "request_id"]);
    let wrong = scene.answer(&raised, &person(Role::Editor), r#"{"values":{}}"#).unwrap_err();
    assert_eq!(members(&wrong), ["code", "message", "request_id", "fields"]);
    let settled = scene.answer(&raised, &person(Role::Editor), YES).unwrap();
    let second = scene.answer(&(settled.request, settled.waiter.unwrap()), &person(Role::Editor), YES).unwrap_err();
    assert_eq!(members(&second), ["code", "message", "request_id", "receipt_id"]);
    let unknown = Raise::read(&machine(), json("{}"), &Policy::default()).unwrap_err();
    assert_eq!(members(&unknown), ["code", "message"]);
}
