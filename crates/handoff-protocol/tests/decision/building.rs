//! What clients in Rust build, step by step, is the body that they would have written, and the readers accept it.

use std::sync::Arc;

use handoff_protocol::{
    callback::CallbackSecret,
    continuation::{ContinuationKey, Keyring},
    decision::{
        Answer, CallbackPolicy, Policy, Raise, WaiterRef,
        capability::Resolve,
        terms::{CapabilityScope, CapabilityType, Grade, OnExpiry, Urgency},
        wire::{
            AnswerBody, Assignee, AssigneeKind, AuthoritySpec, CallbackSpec, CapabilitySpec, Evidence, EvidenceKind,
            FieldSpec, FieldType, Prompt, RaiseBody, ReportedGrade, ResolveBody, RoutingSpec, ToBody, TtlPolicySpec,
            ValueSinkSpec,
        },
    },
    digest::AnyDigest,
    duration::ExactDuration,
    id::SinkRef,
    json::Object,
    principal::{AuthStrength, Role},
};

use super::scene::{json, machine, person};

const DIGEST: &str = "sha256:eeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee";

fn digest() -> AnyDigest {
    AnyDigest::parse(DIGEST).unwrap()
}

fn object(text: &str) -> Object {
    json(text).as_object().unwrap().clone()
}

/// A deployment that takes callbacks and continuation data.
fn policy() -> Policy {
    let key = ContinuationKey::parse(&format!("a:{}", "a".repeat(64))).unwrap();
    let secrets = vec![CallbackSecret::new("whsec_a").unwrap()];
    Policy {
        callbacks: CallbackPolicy { secrets, ..CallbackPolicy::default() },
        continuation: Some(Arc::new(Keyring::new([key]).unwrap())),
        ..Policy::default()
    }
}

#[test]
fn everything_that_a_raise_can_say_is_said_step_by_step() {
    let evidence = Evidence::new(EvidenceKind::Link, "The order")
        .url("https://example.com/20417")
        .value("20417")
        .reference("order");
    let choice =
        FieldSpec::choice("decision", [("yes", "Yes"), ("no", "No")]).label("Decide").help("Look first").required();
    let sink = SinkRef::parse("snk_01K3M7QW8ZC4YRXB2N6VD9FTHF").unwrap();
    let surface = CapabilitySpec::new(CapabilityType::InteractiveSurface, CapabilityScope::View)
        .of("local", "opaque:browser")
        .label("The page")
        .purpose("To see what it shows")
        .optional();
    let body = RaiseBody::new(WaiterRef::parse("run:1").unwrap(), "A draft")
        .prompt(Prompt::new("Refund?").body("*240*").evidence(evidence))
        .field(choice)
        .field(FieldSpec::new("password", FieldType::Secret).sink(sink))
        .authority(AuthoritySpec::of_role(Role::Editor).auth_strength(AuthStrength::Session).quorum(2))
        .capability(surface)
        .value_sink(ValueSinkSpec::new("opaque:password"))
        .urgency(Urgency::High)
        .expires(ExactDuration::from_seconds(60), TtlPolicySpec::new(OnExpiry::Escalate))
        .routing(
            RoutingSpec::default()
                .target(Assignee::new(AssigneeKind::Group, "ops"))
                .rung(ExactDuration::ZERO, ["inapp"])
                .rung(ExactDuration::from_seconds(30), ["pager", "mail"]),
        )
        .callback(CallbackSpec::new("https://receiver.example/cb"))
        .resume_ref("step 3")
        .resume_payload("state")
        .dedupe_key("order 20417")
        .metadata(object(r#"{"team":"shop"}"#))
        .effect_digest(digest());
    let written = json(&format!(
        r#"{{"waiter_ref":"run:1",
            "prompt":{{"title":"Refund?","body":"*240*","evidence":[{{"kind":"link","label":"The order",
                "url":"https://example.com/20417","value":"20417","ref":"order"}}]}},
            "requires":{{"v":1,
                "authority":{{"min_role":"editor","auth_strength":"session","quorum":2}},
                "capabilities":[{{"type":"interactive_surface","scope":"view","provider":"local",
                    "resource_ref":"opaque:browser","label":"The page","purpose":"To see what it shows","optional":true}}],
                "answer":{{"fields":[
                    {{"name":"decision","type":"choice","label":"Decide","help":"Look first","required":true,
                        "options":[{{"id":"yes","label":"Yes"}},{{"id":"no","label":"No"}}]}},
                    {{"name":"password","type":"secret","sink_ref":"snk_01K3M7QW8ZC4YRXB2N6VD9FTHF"}}],
                    "value_sink":{{"ref":"opaque:password"}}}}}},
            "urgency":"high","ttl":"PT1M","ttl_policy":{{"on_expiry":"escalate"}},
            "routing":{{"targets":[{{"kind":"group","value":"ops"}}],
                "ladder":[{{"after":"PT0S","channels":["inapp"]}},{{"after":"PT30S","channels":["pager","mail"]}}]}},
            "callback":{{"url":"https://receiver.example/cb"}},"resume_ref":"step 3","resume_payload":"c3RhdGU=",
            "dedupe_key":"order 20417","metadata":{{"team":"shop"}},"effect_digest":"{DIGEST}"}}"#
    ));
    let built = body.to_json().unwrap();
    assert_eq!(built.canonical().unwrap(), written.canonical().unwrap());
    Raise::read(&machine(), built, &policy()).unwrap();
}

#[test]
fn each_way_of_ending_and_of_answering_is_built_as_it_is_written() {
    let policies = [
        (TtlPolicySpec::remind(ExactDuration::from_seconds(60)), r#"{"on_expiry":"park","reminder_every":"PT1M"}"#),
        (
            TtlPolicySpec::answer(object(r#"{"decision":"no"}"#)),
            r#"{"on_expiry":"default","default_answer":{"decision":"no"}}"#,
        ),
    ];
    for (built, written) in policies {
        let raise = RaiseBody::new(WaiterRef::parse("run:1").unwrap(), "Refund?")
            .field(FieldSpec::choice("decision", [("yes", "Yes"), ("no", "No")]).required())
            .expires(ExactDuration::from_seconds(600), built)
            .to_json()
            .unwrap();
        assert_eq!(raise.get("ttl_policy").unwrap().to_text(), written);
        Raise::read(&machine(), raise, &policy()).unwrap();
    }
    let values = || AnswerBody::new(object(r#"{"decision":"yes"}"#));
    let answers = [
        (
            values().note("as agreed").rendered_digest(digest()),
            format!(r#"{{"values":{{"decision":"yes"}},"note":"as agreed","rendered_digest":"{DIGEST}"}}"#),
        ),
        (values().partial(), r#"{"values":{"decision":"yes"},"partial":true}"#.to_owned()),
        (
            AnswerBody::new(Object::new()).delegate_to(AssigneeKind::Role, "admin"),
            r#"{"values":{},"disposition":"delegate","delegate_to":{"kind":"role","value":"admin"}}"#.to_owned(),
        ),
        (AnswerBody::new(Object::new()).unable(), r#"{"values":{},"disposition":"unable"}"#.to_owned()),
    ];
    for (built, written) in answers {
        let built = built.to_json().unwrap();
        assert_eq!(built.canonical().unwrap(), json(&written).canonical().unwrap());
        Answer::read(&person(Role::Admin), built).unwrap();
    }
    let resolve = ResolveBody::new(vec![CapabilityScope::View], digest()).to_json().unwrap();
    assert_eq!(resolve.to_text(), format!(r#"{{"scopes":["view"],"accepted_blast_radius_digest":"{DIGEST}"}}"#));
    Resolve::read(&person(Role::Admin), resolve).unwrap();
    assert_eq!(
        (Grade::from(ReportedGrade::Delivered), Grade::from(ReportedGrade::Seen)),
        (Grade::Delivered, Grade::Seen)
    );
}
