//! Raising: what a declaration must be, in which order it is judged, and what makes two raises the same.

use handoff_protocol::{
    decision::{DecisionError, ErrorCode, Policy, Raise, Request, join, raise, terms::RequestState, view::RequestView},
    digest::Digest,
    json::{Json, Object, from_json, to_json},
    principal::{AuthStrength, Role, Scopes},
};
use proptest::prelude::{Just, Strategy, any, prop_assert_eq, prop_assert_ne, prop_oneof, proptest};

use super::scene::{Scene, approve, ask, json, link, machine, machine_of, person, with};

fn read(body: &str) -> Result<Raise, DecisionError> {
    Raise::read(&machine(), json(body), &Policy::default())
}

fn code(body: &str) -> ErrorCode {
    read(body).unwrap_err().code()
}

#[test]
fn only_a_machine_with_the_scope_raises_and_that_is_judged_first() {
    let mut without = machine();
    without.scopes = Scopes::from(vec!["handoff:requests:read".to_owned()]);
    for principal in [person(Role::Admin), link(AuthStrength::LinkOnly), without] {
        let refused = Raise::read(&principal, json("[]"), &Policy::default()).unwrap_err();
        assert_eq!(refused.code(), ErrorCode::InsufficientScope);
    }
}

#[test]
fn faults_are_reported_in_the_order_of_the_rule() {
    // Each step mends the first fault, and the next one shows (D-2).
    let mut body = r#"{"waiter_ref":"","nonsense":0.5,"prompt":{},"requires":{"answer":{"fields":[{"type":"slider"}]},
        "capabilities":[{"type":"unheard_of"}],"nonsense":1}}"#
        .to_owned();
    assert_eq!(code(&body), ErrorCode::UnsupportedRequiresVersion);
    body = with(&body, "requires.v", "1");
    assert_eq!(code(&body), ErrorCode::UnsupportedFieldType);
    body = with(&body, "requires.answer.fields", "[]");
    assert_eq!(code(&body), ErrorCode::UnsupportedCapabilityType);
    body = with(&body, "requires.capabilities", "[]");
    assert_eq!(code(&body), ErrorCode::InvalidRequest);
    assert_eq!(code(&with(&approve(), "requires", "null")), ErrorCode::InvalidRequest);
    assert_eq!(code("[]"), ErrorCode::InvalidRequest);
}

#[test]
fn members_that_nobody_knows_are_refused_at_every_level() {
    let field =
        |more: &str| ask(&format!(r#"{{"name":"a","type":"choice","options":[{{"id":"x","label":"X"}}]{more}}}"#));
    read(&field("")).unwrap();
    for body in [
        with(&approve(), "kind", r#""approval""#),
        with(&approve(), "org_id", r#""org_01K0A2QW8ZC4YRXB2N6VD9FTHE""#),
        with(&approve(), "id", r#""req_01K0A2QW8ZC4YRXB2N6VD9FTHE""#),
        with(&approve(), "x-mine", "1"),
        with(&approve(), "prompt.footer", "1"),
        with(&approve(), "requires.kind", "1"),
        with(&approve(), "requires.answer.kind", "1"),
        with(&approve(), "requires.answer.x-mine", "1"),
        with(&approve(), "requires.authority.kind", "1"),
        with(&approve(), "ttl_policy", r#"{"on_expiry":"park","more":1}"#),
        field(r#","more":1"#),
        ask(r#"{"name":"a","type":"choice","options":[{"id":"x","label":"X","more":1}]}"#),
        with(&approve(), "requires.authority.assignees", r#"[{"kind":"anyone","value":"*","more":1}]"#),
        with(&approve(), "prompt.evidence", r#"[{"kind":"text","label":"L","more":1}]"#),
    ] {
        assert_eq!(code(&body), ErrorCode::InvalidRequest, "{body}");
    }
}

#[test]
fn private_members_and_metadata_come_back_untouched() {
    let body = with(&approve(), "requires.x-trace", r#"{"z":[1,null],"a":""}"#);
    let body = with(&body, "metadata", r#"{"org_id":"org_x","hint":"question","n":{"deep":[]}}"#);
    let (request, _) = Scene::new().raise(&body);
    assert_eq!(request.requires.get("x-trace").unwrap().to_text(), r#"{"z":[1,null],"a":""}"#);
    assert_eq!(request.metadata.unwrap().to_text(), r#"{"org_id":"org_x","hint":"question","n":{"deep":[]}}"#);
}

#[test]
fn no_fields_are_served_as_an_empty_list() {
    for answer in ["null", "{}", r#"{"fields":null}"#, r#"{"fields":[]}"#] {
        let (request, _) = Scene::new().raise(&with(&approve(), "requires.answer", answer));
        let fields = request.requires.get("answer").and_then(|answer| answer.get("fields")).unwrap();
        assert_eq!(fields.to_text(), "[]", "{answer}");
    }
}

#[test]
fn sizes_are_bounded_on_both_sides() {
    let text = |length: usize| format!("\"{}\"", "é".repeat(length));
    let fields = |count: usize| {
        (0..count).map(|place| format!(r#"{{"name":"f{place}","type":"boolean"}}"#)).collect::<Vec<_>>().join(",")
    };
    let options = |count: usize| {
        let list: Vec<_> = (0..count).map(|place| format!(r#"{{"id":"o{place}","label":"L"}}"#)).collect();
        ask(&format!(r#"{{"name":"a","type":"choice","options":[{}]}}"#, list.join(",")))
    };
    let evidence = |count: usize| format!("[{}]", vec![r#"{"kind":"text","label":"L"}"#; count].join(","));
    let assignees = |count: usize| format!("[{}]", vec![r#"{"kind":"anyone","value":"*"}"#; count].join(","));
    for (path, most, more) in [
        ("waiter_ref", text(256), text(257)),
        ("prompt.title", text(200), text(201)),
        ("prompt.body", text(20_000), text(20_001)),
        ("prompt.evidence", evidence(50), evidence(51)),
        ("requires.answer.fields", format!("[{}]", fields(64)), format!("[{}]", fields(65))),
        ("requires.authority.assignees", assignees(50), assignees(51)),
        ("requires.authority.reason", text(500), text(501)),
        ("dedupe_key", text(255), text(256)),
    ] {
        read(&with(&approve(), path, &most)).unwrap_or_else(|error| panic!("{path}: {error}"));
        assert_eq!(code(&with(&approve(), path, &more)), ErrorCode::InvalidRequest, "{path}");
    }
    for (path, value) in [("waiter_ref", r#""""#), ("prompt.title", r#""""#), ("prompt", "{}")] {
        assert_eq!(code(&with(&approve(), path, value)), ErrorCode::InvalidRequest, "{path}");
    }
    read(&options(100)).unwrap();
    for body in [options(101), options(0)] {
        assert_eq!(code(&body), ErrorCode::InvalidRequest);
    }
}

#[test]
fn declarations_of_fields_are_checked() {
    for field in [
        r#"{"name":"A","type":"boolean"}"#,
        r#"{"name":"1a","type":"boolean"}"#,
        r#"{"name":"","type":"boolean"}"#,
        r#"{"name":"a-b","type":"boolean"}"#,
        r#"{"type":"boolean"}"#,
        r#"{"name":"a","type":"boolean"},{"name":"a","type":"text"}"#,
        r#"{"name":"a","type":"choice"}"#,
        r#"{"name":"a","type":"choice","options":[{"id":"x","label":"1"},{"id":"x","label":"2"}]}"#,
        r#"{"name":"a","type":"choice","options":[{"id":"x"}]}"#,
        r#"{"name":"a","type":"text","options":[]}"#,
        r#"{"name":"a","type":"text","multi":false}"#,
        r#"{"name":"a","type":"text","max_len":0}"#,
        r#"{"name":"a","type":"number","min":2,"max":1}"#,
        r#"{"name":"a","type":"number","min":0.5}"#,
        r#"{"name":"a","type":"number","max":9007199254740992}"#,
        r#"{"name":"a","type":"text","required":"yes"}"#,
    ] {
        assert_eq!(code(&ask(field)), ErrorCode::InvalidRequest, "{field}");
    }
    read(&ask(&format!(r#"{{"name":"a{}","type":"number","min":1,"max":1}}"#, "_9".repeat(31)))).unwrap();
    assert_eq!(
        code(&ask(&format!(r#"{{"name":"a{}","type":"boolean"}}"#, "_9".repeat(32)))),
        ErrorCode::InvalidRequest
    );
}

#[test]
fn defaults_are_those_of_the_rule() {
    let (request, waiter) = Scene::new().raise(&approve());
    assert_eq!(request.state, RequestState::Pending);
    let terms = [
        request.urgency.as_str(),
        request.mode.as_str(),
        request.presentation_binding.as_str(),
        request.liveness.as_str(),
        request.on_waiter_terminal.as_str(),
        request.urgency_state.as_str(),
        request.waiter.state.as_str(),
    ];
    assert_eq!(terms, ["normal", "advisory", "advisory", "durable", "keep", "attention", "armed"]);
    assert_eq!((request.version, request.attempt_ttl.seconds()), (1, 900));
    assert_eq!((request.expires_at, request.attempt_expires_at), (None, None));
    let authority = request.requires().unwrap().authority;
    assert_eq!(
        (authority.min_role, authority.auth_strength, authority.quorum),
        (Role::Viewer, AuthStrength::Session, 1)
    );
    assert_eq!(waiter.last_sequence, 0);
}

#[test]
fn a_default_answer_must_be_able_to_settle() {
    let policy = |answer: &str| with(&approve(), "ttl_policy", &format!(r#"{{"on_expiry":"default"{answer}}}"#));
    read(&policy(r#","default_answer":{"decision":"no"}"#)).unwrap();
    for answer in [
        "",
        r#","default_answer":null"#,
        r#","default_answer":[]"#,
        r#","default_answer":{}"#,
        r#","default_answer":{"decision":"perhaps"}"#,
        r#","default_answer":{"decision":"no","more":1}"#,
    ] {
        assert_eq!(code(&policy(answer)), ErrorCode::InvalidRequest, "{answer}");
    }
    // One that is never used is still a set of values.
    for answer in ["5", "[]", "\"no\""] {
        let body = with(&approve(), "ttl_policy", &format!(r#"{{"on_expiry":"park","default_answer":{answer}}}"#));
        assert_eq!(code(&body), ErrorCode::InvalidRequest, "{answer}");
    }
}

#[test]
fn the_derived_key_is_the_hash_of_waiter_requires_and_title() {
    let body = r#"{"waiter_ref":"run:é/1","prompt":{"title":"Say \"hi\"","body":"b"},
        "requires":{"x-b":2.0,"v":1e0,"authority":{"min_role":"admin"},"x-a":-0.0}}"#;
    let canonical = r#"{"authority":{"min_role":"admin"},"v":1,"x-a":0,"x-b":2}"#;
    let expected = Digest::of(format!(r#"run:é/1{canonical}"Say \"hi\"""#)).hex();
    assert_eq!(read(body).unwrap().dedupe_key(), format!("derived:{expected}"));
    // What it does not cover does not matter; what it covers does.
    let key = |body: &str| read(body).unwrap().dedupe_key().to_owned();
    let same = with(&with(body, "prompt.body", r#""other words""#), "urgency", r#""high""#);
    assert_eq!(key(&same), key(body));
    for (path, value) in [("prompt.title", r#""Hi""#), ("requires.x-b", "3"), ("waiter_ref", r#""run:2""#)] {
        assert_ne!(key(&with(body, path, value)), key(body), "{path}");
    }
    // A given key that spells a derived one is still another key.
    assert_ne!(key(&with(body, "dedupe_key", &format!("\"{expected}\""))), key(body));
}

#[test]
fn a_raise_that_joins_replaces_words_and_requirements_at_the_next_version() {
    let mut scene = Scene::new();
    let first = scene.raise(&with(&approve(), "dedupe_key", r#""k""#));
    let again = with(&ask(r#"{"name":"ok","type":"attestation"}"#), "prompt.title", r#""Newer words""#);
    let again = with(&with(&again, "dedupe_key", r#""k""#), "ttl", r#""PT1S""#);
    let command = Raise::read(&machine_of(9), json(&again), &Policy::default()).unwrap();
    let effects = join(&command, &machine_of(9), &first.0, Some(&first.1), &mut scene.context()).unwrap();
    let request = &effects.request;
    assert_eq!((request.id, request.version, request.title()), (first.0.id, 2, "Newer words"));
    assert_eq!(request.requires().unwrap().fields[0].name, "ok");
    assert_eq!((request.ttl, request.created_at), (None, first.0.created_at), "nothing else is replaced");
    assert_eq!(request.dedupe_key, first.0.dedupe_key);
    assert_eq!(effects.events[0].event_type.as_str(), "request.amended");
    // What somebody may have been shown is kept.
    assert_eq!(effects.renderings[0].digest, first.0.rendered_digest().unwrap());
    assert!(effects.waiter.unwrap().is_owned_by(machine_of(9).id().unwrap()));
}

#[test]
fn a_raise_that_joins_cannot_break_the_default_answer() {
    let mut scene = Scene::new();
    let policy = r#"{"on_expiry":"default","default_answer":{"decision":"no"}}"#;
    let body = with(&with(&approve(), "ttl_policy", policy), "dedupe_key", r#""k""#);
    let first = scene.raise(&body);
    let other = with(&ask(r#"{"name":"ok","type":"attestation"}"#), "dedupe_key", r#""k""#);
    let command = Raise::read(&machine(), json(&other), &Policy::default()).unwrap();
    let refused = join(&command, &machine(), &first.0, Some(&first.1), &mut scene.context()).unwrap_err();
    assert_eq!(refused.code(), ErrorCode::InvalidRequest);
    let fitting =
        Raise::read(&machine(), json(&with(&body, "prompt.title", r#""Newer""#)), &Policy::default()).unwrap();
    let _joined = join(&fitting, &machine(), &first.0, Some(&first.1), &mut scene.context()).unwrap();
}

#[test]
fn a_request_names_nobody_but_its_tenant_and_its_asker() {
    let mut scene = Scene::new();
    let command = Raise::read(&machine_of(9), json(&approve()), &Policy::default()).unwrap();
    let effects = raise(&command, &machine_of(9), None, &mut scene.context()).unwrap();
    assert_eq!(Some(effects.request.raised_by), machine_of(9).id());
    assert_eq!(effects.request.org_id, machine_of(9).tenant);
    let event = Json::Object(effects.events[0].data.clone()).to_text();
    assert!(!event.contains("run:1") && !event.contains("Refund"), "{event}");
    assert!(!event.contains("somebody"), "{event}");
}

#[test]
fn a_request_keeps_its_askers_name_and_one_kept_without_reads_as_before() {
    let mut scene = Scene::new();
    let request = scene.raise(&approve()).0;
    assert_eq!(request.raised_by_display.as_deref(), Some("somebody"));
    let view = RequestView::new(request.clone(), None, None, "").unwrap();
    let served = to_json(&view).unwrap();
    assert_eq!(served.get("raised_by_display").and_then(Json::as_str), Some("somebody"));
    let nameless = Request { raised_by_display: None, ..request };
    let kept = to_json(&nameless).unwrap();
    assert!(kept.get("raised_by_display").is_none());
    assert_eq!(from_json::<Request>(kept).unwrap(), nameless);
    let served = to_json(&RequestView::new(nameless, None, None, "").unwrap()).unwrap();
    assert!(served.get("raised_by_display").is_none());
}

/// Text of a document with its members turned around and blanks between all tokens.
fn other_spelling(document: &Json, blank: &str) -> String {
    match document {
        Json::Array(items) => {
            let items: Vec<_> = items.iter().map(|item| other_spelling(item, blank)).collect();
            format!("[{blank}{}{blank}]", items.join(&format!("{blank},{blank}")))
        }
        Json::Object(members) => {
            let mut members: Vec<_> = members
                .iter()
                .map(|(name, value)| {
                    format!("{}{blank}:{blank}{}", Json::from(name).to_text(), other_spelling(value, blank))
                })
                .collect();
            members.reverse();
            format!("{{{blank}{}{blank}}}", members.join(&format!("{blank},{blank}")))
        }
        other => other.to_text(),
    }
}

pub(super) fn documents() -> impl Strategy<Value = Json> {
    let leaves = prop_oneof![
        Just(Json::Null),
        any::<bool>().prop_map(Json::from),
        (-9_007_199_254_740_991_i64..=9_007_199_254_740_991).prop_map(Json::from),
        any::<String>().prop_map(Json::from),
    ];
    leaves.prop_recursive(4, 32, 5, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..5).prop_map(Json::from),
            proptest::collection::vec((any::<String>(), inner), 0..5)
                .prop_map(|members| Json::Object(members.into_iter().collect::<Object>())),
        ]
    })
}

proptest! {
    #[test]
    fn the_digest_of_a_raise_does_not_depend_on_blanks_or_order(
        value in documents(),
        blank in prop_oneof![Just(""), Just(" "), Just("\n\t"), Just("\r\n  ")],
    ) {
        let body = with(&with(&approve(), "metadata.m", &value.to_text()), "requires.x-m", &value.to_text());
        let other = other_spelling(&json(&body), blank);
        let (one, two) = (read(&body).unwrap(), read(&other).unwrap());
        prop_assert_eq!(one.digest(), two.digest());
        prop_assert_eq!(one.dedupe_key(), two.dedupe_key());
        let changed = with(&body, "metadata.more", "1");
        prop_assert_ne!(read(&changed).unwrap().digest(), one.digest());
    }
}

#[test]
fn what_is_tried_out_is_never_the_question_that_is_meant() {
    let read = |body: &str| read(body).unwrap();
    for body in [approve(), with(&approve(), "dedupe_key", r#""k""#)] {
        let (meant, tried) = (read(&body), read(&with(&body, "test_mode", "true")));
        assert_ne!(meant.dedupe_key(), tried.dedupe_key());
    }
}

#[test]
fn a_raise_that_is_bound_to_another_effect_does_not_join() {
    let digest = |digit: &str| format!("\"sha256:{}\"", digit.repeat(64));
    let mut scene = Scene::new();
    let (pending, waiter) = scene.raise(&with(&approve(), "effect_digest", &digest("a")));
    for (effect, joins) in [(Some(digest("a")), true), (None, true), (Some(digest("b")), false)] {
        let body = effect.map_or_else(approve, |effect| with(&approve(), "effect_digest", &effect));
        let command = Raise::read(&machine(), json(&body), &Policy::default()).unwrap();
        let joined = join(&command, &machine(), &pending, Some(&waiter), &mut scene.context());
        match joined {
            Ok(effects) => assert!(joins && effects.request.effect_digest == pending.effect_digest),
            Err(error) => {
                assert!(!joins, "{error}");
                assert_eq!(error.code(), ErrorCode::InvalidRequest);
                assert!(error.to_string().contains("effect_digest"), "{error}");
            }
        }
    }
}
