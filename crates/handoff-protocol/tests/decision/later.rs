//! What this build does not do yet is refused with the contract's code, never accepted and ignored.

use handoff_protocol::{
    decision::{Answer, ErrorCode, Policy, Raise},
    principal::Role,
};

use super::scene::{YES, approve, ask, json, machine, person, with};

fn refusal(body: &str) -> ErrorCode {
    match Raise::read(&machine(), json(body), &Policy::default()) {
        Err(error) => error.code(),
        Ok(_) => panic!("accepted: {body}"),
    }
}

#[test]
fn field_types_that_are_not_implemented_have_a_code_of_their_own() {
    for field in [
        r#"{"name":"a","type":"slider"}"#,
        r#"{"name":"a","type":"Choice"}"#,
        r#"{"name":"a","type":null}"#,
        r#"{"name":"a","type":1}"#,
        r#"{"name":"a"}"#,
        "1",
    ] {
        assert_eq!(refusal(&ask(field)), ErrorCode::UnsupportedFieldType, "{field}");
    }
}

#[test]
fn capabilities_have_a_code_of_their_own_and_an_empty_list_is_fine() {
    for capability in [r#"[{"type":"unheard_of"}]"#, "[{}]", "[1]"] {
        let body = with(&approve(), "requires.capabilities", capability);
        assert_eq!(refusal(&body), ErrorCode::UnsupportedCapabilityType, "{capability}");
    }
    Raise::read(&machine(), json(&with(&approve(), "requires.capabilities", "[]")), &Policy::default()).unwrap();
    assert_eq!(refusal(&with(&approve(), "requires.capabilities", "{}")), ErrorCode::InvalidRequest);
}

#[test]
fn versions_of_requires_have_a_code_of_their_own() {
    for version in ["null", "0", "2", "1.5", "\"1\"", "true", "1e400"] {
        let body = with(&approve(), "requires.v", version);
        assert_eq!(refusal(&body), ErrorCode::UnsupportedRequiresVersion, "{version}");
    }
    for version in ["1", "1.0", "10e-1"] {
        Raise::read(&machine(), json(&with(&approve(), "requires.v", version)), &Policy::default()).unwrap();
    }
}

#[test]
fn leave_for_requesters_to_answer_is_an_invalid_request() {
    let body = with(&approve(), "requires.authority.forbid_requester", "false");
    assert_eq!(refusal(&body), ErrorCode::InvalidRequest);
}

#[test]
fn what_this_build_does_is_accepted() {
    for (path, value) in [
        ("requires.authority.auth_strength", r#""session""#),
        ("requires.authority.auth_strength", r#""link_only""#),
        ("requires.authority.auth_strength", r#""reauth""#),
        ("requires.authority.auth_strength", r#""mfa""#),
        ("presentation_binding", r#""strict""#),
        ("test_mode", "true"),
        ("requires.authority.forbid_requester", "true"),
        ("test_mode", "false"),
        ("liveness", r#""durable""#),
        ("liveness", r#""leased""#),
        ("presentation_binding", r#""advisory""#),
        ("routing", "null"),
        ("routing", "{}"),
        ("routing", r#"{"targets":[{"kind":"anyone","value":"*"}]}"#),
        ("routing", r#"{"targets":[],"ladder":[]}"#),
        ("requires.authority.assignees", r#"[{"kind":"group","value":"finance"}]"#),
        ("requires.authority.assignees", r#"[{"kind":"rotation","value":"on-call"}]"#),
        ("ttl_policy", r#"{"on_expiry":"park","reminder_every":"PT1H"}"#),
        ("mode", r#""gated""#),
        ("on_waiter_terminal", r#""cancel""#),
    ] {
        let body = with(&approve(), path, value);
        Raise::read(&machine(), json(&body), &Policy::default())
            .unwrap_or_else(|error| panic!("{path} {value}: {error}"));
    }
}

#[test]
fn members_that_nobody_knows_are_invalid_requests() {
    let error = Answer::read(&person(Role::Admin), json(&with(YES, "quorum", "1"))).unwrap_err();
    assert_eq!(error.code(), ErrorCode::InvalidRequest);
    Answer::read(&person(Role::Admin), json(&with(YES, "capability_uses", "[]"))).unwrap();
}
