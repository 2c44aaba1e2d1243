//! What clients can say with the types of `wire` is what the readers accept, and no documented limit is wider than them.

use std::{collections::BTreeSet, sync::Arc};

use handoff_protocol::{
    callback::CallbackSecret,
    continuation::{ContinuationKey, Keyring},
    decision::{
        Acknowledge, Amend, Answer, Arm, CallbackPolicy, Cancel, Correct, DecisionError, Escalate, FieldKind, Policy,
        Raise, Reassign, Redeem, ReportGrade, Supersede, WaiterRef,
        capability::{Resolve, Revoke},
        limits,
        sink::SinkSubmission,
        terms::{CapabilityScope, CapabilityType, Mode, OnExpiry, PresentationBinding, Urgency, WaiterTerminal},
        wire::{
            AckBody, AmendBody, AnswerBody, AssigneeKind, AttemptBody, AuthoritySpec, CallbackSpec, CancelBody,
            CapabilitySpec, CorrectBody, EscalateBody, Evidence, EvidenceKind, FieldSpec, FieldType, GradeBody, Prompt,
            RaiseBody, ReassignBody, RedeemBody, Requires, ResolveBody, RevokeBody, SinkValuesBody, SupersedeBody,
            ToBody, TtlPolicySpec, ValueSinkSpec,
        },
    },
    digest::{AnyDigest, Digest},
    duration::ExactDuration,
    id::SinkRef,
    json::{Json, Object, from_json},
    principal::{AuthStrength, Role},
    secret::Secret,
};
use proptest::{
    collection::vec,
    option,
    prelude::{Just, Strategy, any, prop_assert, prop_assert_eq, prop_oneof, proptest},
    sample::select,
};
use schemars::{JsonSchema, Schema, schema_for};

use super::{
    scene::{json, machine, person},
    schema_walk::Walk,
};

fn text(least: usize, most: usize) -> impl Strategy<Value = String> {
    let some = vec(any::<char>(), least..=most.min(12)).prop_map(String::from_iter);
    prop_oneof![4 => some, 1 => Just("é".repeat(most))]
}

fn object() -> impl Strategy<Value = Object> {
    vec((text(0, 8), -9..9_i64), 0..3)
        .prop_map(|members| members.into_iter().map(|(name, value)| (name, Json::from(value))).collect())
}

fn terms<T: Copy + std::fmt::Debug + 'static>(all: &'static [(&'static str, T)]) -> impl Strategy<Value = Option<T>> {
    option::of(select(all).prop_map(|(_, term)| term))
}

fn evidence() -> impl Strategy<Value = Evidence> {
    use EvidenceKind::{Document, Image, Link, Table, Text};
    let url = option::of(Just("https://example.com/a?b=c".to_owned()));
    let kinds = select(vec![Link, Table, Image, Document, Text]);
    let (label, reference) = (text(0, limits::LABEL_CHARS), option::of(text(0, limits::REF_CHARS)));
    (kinds, label, url, option::of(-9..9_i64), reference).prop_map(|(kind, label, url, value, reference)| {
        let mut evidence = Evidence::new(kind, label);
        (evidence.url, evidence.value, evidence.reference) = (url, value.map(Json::from), reference);
        evidence
    })
}

fn prompt() -> impl Strategy<Value = Prompt> {
    let (title, body) = (text(1, limits::TITLE_CHARS), option::of(text(0, limits::BODY_CHARS)));
    (title, body, vec(evidence(), 0..4)).prop_map(|(title, body, evidence)| {
        let mut prompt = Prompt::new(title);
        (prompt.body, prompt.evidence) = (body, evidence);
        prompt
    })
}

/// A field of any type, and a value that it accepts.
fn field(place: usize) -> impl Strategy<Value = (FieldSpec, Json)> {
    let types = select(&FieldKind::NAMES[..]).prop_map(|name| from_json::<FieldType>(Json::from(name)).unwrap());
    let words = (option::of(text(0, limits::LABEL_CHARS)), option::of(text(0, limits::HELP_CHARS)));
    (types, words, any::<bool>(), any::<bool>(), 1..4_usize).prop_map(move |(kind, words, required, multi, many)| {
        let name = format!("f{place}");
        let mut field = match kind {
            FieldType::Choice => FieldSpec::choice(name, (0..many).map(|place| (format!("o{place}"), "An option"))),
            other => FieldSpec::new(name, other),
        };
        (field.label, field.help) = words;
        field.required = required;
        let value = match kind {
            FieldType::Choice => {
                field.multi = multi;
                if multi { Json::from(vec![Json::from("o0")]) } else { Json::from("o0") }
            }
            FieldType::Text => {
                field.max_len = required.then_some(5);
                Json::from("words")
            }
            FieldType::Number => {
                (field.min, field.max) = (multi.then_some(-7), required.then_some(7));
                Json::from(7)
            }
            FieldType::Document => {
                field.schema_ref = required.then(|| "https://example.com/schema".to_owned());
                json(r#"{"any":["thing"]}"#)
            }
            FieldType::Secret => {
                field.sink_ref = required.then(|| SinkRef::parse("snk_01K3M7QW8ZC4YRXB2N6VD9FTHF").unwrap());
                json(r#"{"provided":true}"#)
            }
            FieldType::FileRef => Json::from("file"),
            _ => Json::from(true),
        };
        (field, value)
    })
}

fn authority() -> impl Strategy<Value = AuthoritySpec> {
    use AssigneeKind::{Anyone, Group, Principal, Role as OfRole, Rotation};
    let kinds = select(vec![Principal, OfRole, Group, Rotation, Anyone]);
    let assignees = vec((kinds, text(0, limits::TARGET_VALUE_CHARS)), 0..3);
    let (quorum, forbid) = (option::of(1..=limits::MAX_QUORUM), option::of(Just(true)));
    let reason = option::of(text(0, limits::REASON_CHARS));
    (terms(&Role::ALL), terms(&AuthStrength::ALL), assignees, quorum, forbid, reason).prop_map(
        |(role, strength, assignees, quorum, forbid, reason)| {
            let mut authority = AuthoritySpec::default();
            (authority.min_role, authority.auth_strength) = (role, strength);
            (authority.quorum, authority.forbid_requester, authority.reason) = (quorum, forbid, reason);
            assignees.into_iter().fold(authority, |authority, (kind, value)| authority.assignee(kind, value))
        },
    )
}

fn capability() -> impl Strategy<Value = CapabilitySpec> {
    let types = select(CapabilityType::ALL).prop_map(|(_, term)| term);
    let scopes = select(CapabilityScope::ALL).prop_map(|(_, term)| term);
    let words = (option::of(text(0, limits::LABEL_CHARS)), option::of(text(0, limits::PURPOSE_CHARS)));
    let names = (option::of(text(0, limits::PROVIDER_CHARS)), option::of(text(0, limits::RESOURCE_REF_CHARS)));
    (types, scopes, words, names, duration(), any::<bool>(), option::of(object())).prop_map(
        |(capability_type, scope, words, names, ttl, optional, constraints)| {
            let mut capability = CapabilitySpec::new(capability_type, scope);
            (capability.label, capability.purpose) = words;
            // What looks like an address is refused (rule G-2).
            (capability.provider, capability.resource_ref) = (names.0, names.1.map(|text| text.replace('/', ".")));
            (capability.ttl, capability.optional, capability.constraints) = (ttl, optional, constraints);
            capability
        },
    )
}

fn value_sink() -> impl Strategy<Value = ValueSinkSpec> {
    let names = (option::of(text(0, limits::SINK_NAME_CHARS)), option::of(text(0, limits::SINK_NAME_CHARS)));
    // What looks like an address is refused (rule K-S7).
    let reference = text(1, limits::SINK_REF_CHARS).prop_map(|text| text.replace('/', "."));
    (names, reference).prop_map(|((provider, op), reference)| ValueSinkSpec { provider, op, reference })
}

/// Fields with values that they accept, and everything else that can be required.
fn requires() -> impl Strategy<Value = (Requires, Object)> {
    let fields = (0..5_usize).prop_flat_map(|many| (0..many).map(field).collect::<Vec<_>>());
    let used = (vec(capability(), 0..3), option::of(value_sink()));
    (fields, option::of(authority()), object(), used).prop_map(
        |(fields, authority, extensions, (capabilities, sink))| {
            let mut requires = Requires::new();
            let mut values = Object::new();
            for (field, value) in fields {
                values.insert(field.name.clone(), value);
                requires = requires.field(field);
            }
            requires.authority = authority;
            requires.capabilities = capabilities;
            if let Some(sink) = sink {
                requires = requires.value_sink(sink);
            }
            requires.extensions = extensions.into_iter().map(|(name, value)| (format!("x-{name}"), value)).collect();
            (requires, values)
        },
    )
}

fn duration() -> impl Strategy<Value = Option<ExactDuration>> {
    option::of(any::<u32>().prop_map(|seconds| ExactDuration::from_seconds(seconds.into())))
}

fn raises() -> impl Strategy<Value = (RaiseBody, Object)> {
    let waiter = text(1, 100).prop_map(|text| WaiterRef::parse(&text).unwrap());
    let terms = (
        terms(Urgency::ALL),
        terms(Mode::ALL),
        terms(PresentationBinding::ALL),
        terms(WaiterTerminal::ALL),
        terms(OnExpiry::ALL),
    );
    let rest = (option::of(text(0, limits::DEDUPE_KEY_CHARS)), option::of(object()), any::<bool>(), any::<bool>());
    let resumed = (option::of(text(0, limits::RESUME_REF_CHARS)), option::of(vec(any::<u8>(), 0..80)), any::<bool>());
    (waiter, prompt(), requires(), duration(), duration(), terms, rest, resumed).prop_map(
        |(waiter, prompt, (requires, values), ttl, attempt_ttl, terms, rest, (reference, payload, called))| {
            let (dedupe_key, metadata, test_mode, bound) = rest;
            let mut body = RaiseBody::new(waiter, "?").prompt(prompt);
            body.requires = requires;
            (body.ttl, body.attempt_ttl) = (ttl, attempt_ttl);
            (body.urgency, body.mode, body.presentation_binding, body.on_waiter_terminal) =
                (terms.0, terms.1, terms.2, terms.3);
            body.ttl_policy = terms.4.map(|policy| match policy {
                OnExpiry::Default => TtlPolicySpec::answer(values.clone()),
                other => TtlPolicySpec::new(other),
            });
            (body.dedupe_key, body.metadata, body.test_mode) = (dedupe_key, metadata, test_mode);
            body.callback = called.then(|| CallbackSpec::new("https://example.com/cb").signed_with("billing"));
            body.resume_ref = reference;
            if let Some(payload) = payload {
                body = body.resume_payload(payload);
            }
            body.effect_digest = bound.then(|| AnyDigest::parse(&Digest::of("the effect").to_string()).unwrap());
            (body, values)
        },
    )
}

/// A deployment that can push and keep.
fn policy() -> Policy {
    let secrets = vec![CallbackSecret::new("whsec_shared").unwrap()];
    let names = ["billing".to_owned(), "?".to_owned(), "x".repeat(limits::SECRET_REF_CHARS)];
    let named = names.into_iter().map(|name| (name, secrets.clone())).collect();
    let key = ContinuationKey::parse(&format!("k1:{}", "0".repeat(64))).unwrap();
    Policy {
        callbacks: CallbackPolicy { secrets, named, ..CallbackPolicy::default() },
        continuation: Some(Arc::new(Keyring::new([key]).unwrap())),
        ..Policy::default()
    }
}

fn raise(body: &Json) -> Result<(), DecisionError> {
    Raise::read(&machine(), body.clone(), &policy()).map(drop)
}

proptest! {
    #[test]
    fn a_raise_that_the_types_can_say_is_accepted_and_survives_the_round_trip((body, _) in raises()) {
        let sent = body.to_json().unwrap();
        prop_assert!(raise(&sent).is_ok(), "{:?}\n{}", raise(&sent), sent.to_text());
        prop_assert_eq!(from_json::<RaiseBody>(sent).unwrap(), body);
    }

    #[test]
    fn an_answer_that_the_types_can_say_is_accepted(
        (_, values) in raises(),
        note in option::of(text(0, limits::NOTE_CHARS)),
        intent in 0..4_u8,
    ) {
        let mut body = AnswerBody::new(values);
        body.note = note;
        body = match intent {
            0 => body,
            1 => body.partial(),
            2 => body.delegate_to(AssigneeKind::Role, "admin"),
            _ => body.unable(),
        };
        let sent = body.to_json().unwrap();
        prop_assert!(Answer::read(&person(Role::Admin), sent.clone()).is_ok(), "{}", sent.to_text());
        prop_assert_eq!(from_json::<AnswerBody>(sent).unwrap(), body.clone());
        let correct = CorrectBody::new(body.values, "why");
        prop_assert!(Correct::read(&person(Role::Admin), correct.to_json().unwrap()).is_ok());
    }

    #[test]
    fn the_other_bodies_that_the_types_can_say_are_accepted(
        (prompt, (requires, _)) in (prompt(), requires()),
        given in any::<(bool, bool)>(),
        ttl in duration(),
        reason in text(1, limits::REASON_CHARS),
        effect_key in text(1, limits::EFFECT_KEY_CHARS),
    ) {
        let amend = AmendBody { prompt: given.0.then_some(prompt), requires: given.1.then_some(requires) };
        prop_assert!(Amend::read(&machine(), amend.to_json().unwrap(), &Policy::default()).is_ok());
        let attempt = AttemptBody { ttl };
        prop_assert!(Arm::read(&machine(), attempt.to_json().unwrap()).is_ok());
        prop_assert!(Cancel::read(&machine(), CancelBody::new(reason).to_json().unwrap()).is_ok());
        prop_assert!(Redeem::read(&machine(), &RedeemBody::new(effect_key).to_json().unwrap()).is_ok());
    }
}

#[test]
fn the_types_of_fields_are_those_that_the_readers_know() {
    let schema = serde_json::to_value(schema_for!(FieldType)).unwrap();
    let names: Vec<&str> =
        schema["oneOf"].as_array().unwrap().iter().map(|one| one["const"].as_str().unwrap()).collect();
    assert_eq!(names, FieldKind::NAMES);
}

/// Its limit is one of bytes, and its schema counts characters: not all that fit are base64 of few enough bytes.
const PAYLOAD: &str = "resume_payload maxLength";

/// Tries every limit of a body's schema: what lies within is accepted, one step beyond is refused.
fn hold<B: JsonSchema>(full: &str, lenient: &[&str], read: impl Fn(&Json) -> Result<(), DecisionError>) {
    let full = json(full);
    assert!(read(&full).is_ok(), "{:?}", read(&full));
    let schema: Schema = schema_for!(B);
    let schema = json(&serde_json::to_string(&schema).unwrap());
    let walk = Walk::new(&schema, &full);
    // What else a field declares belongs to its type; the generated fields try every type.
    // What else an answer holds belongs to its disposition, likewise.
    let is_linked = |place: &str| place.ends_with(".type oneOf") || place == "disposition oneOf" || place == PAYLOAD;
    for (place, body) in walk.within().into_iter().filter(|(place, _)| !is_linked(place)) {
        assert!(read(&body).is_ok(), "{place} is within: {:?}", read(&body));
    }
    for (place, body) in walk.beyond() {
        let refused = read(&body).is_err();
        assert!(
            refused != lenient.contains(&place.as_str()),
            "{place} is beyond, and {refused} is whether it is refused"
        );
    }
    assert_eq!(walk.unvisited(), BTreeSet::new(), "the full body gives a value to every member");
}

#[test]
fn every_documented_limit_of_a_raise_is_the_readers_own() {
    let full = r#"{"waiter_ref":"run:1","liveness":"durable","urgency":"low","ttl":"PT1H","attempt_ttl":"PT1H",
        "prompt":{"title":"?","body":"?","evidence":[{"kind":"link","label":"?","url":"a:b","value":1,"ref":"?"}]},
        "requires":{"v":1,"x-own":1,"authority":{"min_role":"viewer","auth_strength":"session",
            "assignees":[{"kind":"anyone","value":"*"}],"quorum":1,"forbid_requester":true,"reason":"?"},
            "answer":{"fields":[
                {"name":"a","type":"choice","label":"?","help":"?","required":false,"multi":true,"initial":[],
                 "options":[{"id":"a","label":"?"}]},
                {"name":"b","type":"number","min":1},{"name":"c","type":"number","max":1},
                {"name":"d","type":"text","max_len":1},{"name":"e","type":"document","schema_ref":"a:b"},
                {"name":"f","type":"secret","sink_ref":"snk_01K3M7QW8ZC4YRXB2N6VD9FTHF"}],
                "value_sink":{"provider":"?","op":"?","ref":"?"}},
            "capabilities":[{"handle":"hg_01K3M7QW8ZC4YRXB2N6VD9FTHG","type":"document","scope":"view","provider":"?",
                "resource_ref":"?","label":"?","purpose":"?","optional":true,"ttl":"PT1H","constraints":{},
                "blast_radius_digest":"sha256:00000000000000000000000000000000"}]},
        "ttl_policy":{"on_expiry":"default","default_answer":{},"reminder_every":"PT1H"},
        "routing":{"targets":[{"kind":"group","value":"?"}],"ladder":[{"after":"PT0S","channels":["?"],
            "to":{"kind":"rotation","value":"?"}}]},"on_waiter_terminal":"keep","mode":"gated",
        "callback":{"url":"https://example.com/cb","secret_ref":"?"},"resume_ref":"?","resume_payload":"AAAA",
        "presentation_binding":"strict","dedupe_key":"?","metadata":{},"test_mode":true,
        "effect_digest":"sha256:00000000000000000000000000000000"}"#;
    // A reference is looked up and never opened, so that any text will do; a handle is replaced, whatever it is.
    let lenient = ["requires.answer.fields.4.schema_ref format", "requires.capabilities.0.handle pattern"];
    hold::<RaiseBody>(full, &lenient, raise);
}

#[test]
fn every_documented_limit_of_the_other_bodies_is_the_readers_own() {
    let answer = r#"{"values":{},"via_delivery_id":"dlv_01K3M7QW9A8ZC4YRXB2N6VD9FT","partial":false,"note":"?",
        "disposition":"delegate","delegate_to":{"kind":"role","value":"admin"},"capability_uses":[{"handle":"hg_01K3M7QW8ZC4YRXB2N6VD9FTHG",
        "session_ref":"hs_01K3MB2R4S8ZC4YRXB2N6VD9FT"}],"rendered_digest":"sha256:00000000000000000000000000000000"}"#;
    // A wrong delivery never blocks an answer (rule S-6).
    let read = |body: &Json| Answer::read(&person(Role::Admin), body.clone()).map(drop);
    hold::<AnswerBody>(answer, &["via_delivery_id pattern"], read);
    let read = |body: &Json| Correct::read(&person(Role::Admin), body.clone()).map(drop);
    hold::<CorrectBody>(r#"{"values":{},"note":"?"}"#, &[], read);
    hold::<CancelBody>(r#"{"reason":"?"}"#, &[], |body| Cancel::read(&machine(), body.clone()).map(drop));
    hold::<AttemptBody>(r#"{"ttl":"PT1H"}"#, &[], |body| Arm::read(&machine(), body.clone()).map(drop));
    // An id that does not parse names nothing, and that is found out later (rule B-3).
    let supersede = r#"{"by":"req_01K3M7QW9A8ZC4YRXB2N6VD9FT"}"#;
    hold::<SupersedeBody>(supersede, &["by pattern"], |body| Supersede::read(&machine(), body.clone()).map(drop));
    // A number beyond every ladder is found out later, too.
    hold::<EscalateBody>(r#"{"rung":1}"#, &["rung maximum"], |body| Escalate::read(&machine(), body.clone()).map(drop));
    let reassign = r#"{"to":{"kind":"rotation","value":"?"},"reason":"?"}"#;
    hold::<ReassignBody>(reassign, &[], |body| Reassign::read(&machine(), body.clone()).map(drop));
    let grade = r#"{"grade":"seen"}"#;
    hold::<GradeBody>(grade, &[], |body| ReportGrade::read(&machine(), body.clone()).map(drop));
    let redeem = r#"{"effect_key":"?","effect_digest":"sha256:00000000000000000000000000000000"}"#;
    hold::<RedeemBody>(redeem, &[], |body| Redeem::read(&machine(), body).map(drop));
    let resolve = r#"{"scopes":["view"],"accepted_blast_radius_digest":"sha256:00000000000000000000000000000000",
        "constraints":{}}"#;
    hold::<ResolveBody>(resolve, &[], |body| Resolve::read(&person(Role::Admin), body.clone()).map(drop));
    hold::<RevokeBody>(r#"{"reason":"?"}"#, &[], |body| Revoke::read(&person(Role::Admin), body).map(drop));
    hold::<SinkValuesBody>(r#"{"values":{}}"#, &[], |body| {
        SinkSubmission::read(&person(Role::Admin), Secret::new(body.clone())).map(drop)
    });
    let ack = r#"{"resume_token":"rt_01K3M7QW9A8ZC4YRXB2N6VD9FT","applied":true,"reason":"?"}"#;
    hold::<AckBody>(ack, &[], |body| Acknowledge::read(body).map(drop));
}
