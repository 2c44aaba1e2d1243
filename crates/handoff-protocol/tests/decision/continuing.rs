//! What a runtime hands over, and gets back with its signals (section 18).

use std::sync::Arc;

use handoff_protocol::{
    continuation::{ContinuationKey, Keyring, OpenError},
    decision::{Continuation, ErrorCode, Policy, Raise, raise},
    json::{from_json, to_json},
};

use super::scene::{Scene, YES, approve, json, machine, person, tenant, with};
use handoff_protocol::principal::Role;

fn keyring(names: &[&str]) -> Keyring {
    let key = |name: &&str| ContinuationKey::parse(&format!("{name}:{}", name.repeat(64))).unwrap();
    Keyring::new(names.iter().map(key)).unwrap()
}

fn policy() -> Policy {
    Policy { continuation: Some(Arc::new(keyring(&["a"]))), ..Policy::default() }
}

fn kept(scene: &mut Scene, body: &str) -> Option<Continuation> {
    scene.policy = policy();
    let command = Raise::read(&machine(), json(body), &scene.policy).unwrap();
    let effects = raise(&command, &machine(), None, &mut scene.context()).unwrap();
    assert_eq!(effects.request.continued, effects.continuation.is_some());
    let document = to_json(&effects.request).unwrap().to_text();
    assert!(!document.contains("c2VjcmV0") && !document.contains("thread/1"), "{document}");
    effects.continuation
}

#[test]
fn what_was_handed_over_comes_back_byte_for_byte_and_is_nowhere_readable() {
    let body = with(&with(&approve(), "resume_ref", r#""thread/1 é""#), "resume_payload", r#""c2VjcmV0AA==""#);
    let continuation = kept(&mut Scene::new(), &body).unwrap();
    let stored = to_json(&continuation).unwrap();
    for text in [stored.to_text(), format!("{continuation:?}")] {
        assert!(!text.contains("c2VjcmV0") && !text.contains("secret"), "{text}");
    }
    let read: Continuation = from_json(stored).unwrap();
    let resumed = read.resume(tenant(), Some(&keyring(&["b", "a"]))).unwrap();
    assert_eq!(resumed.reference.as_deref(), Some("thread/1 é"));
    assert_eq!(resumed.payload.as_deref(), Some("c2VjcmV0AA=="));
    assert_eq!(format!("{resumed:?}"), "[redacted]");
}

#[test]
fn without_a_key_a_payload_is_refused_and_a_reference_is_kept() {
    let refused = Raise::read(&machine(), json(&with(&approve(), "resume_payload", r#""""#)), &Policy::default());
    let refused = refused.unwrap_err();
    assert_eq!(refused.code(), ErrorCode::InvalidRequest);
    assert!(refused.to_string().contains("`resume_payload`"), "{refused}");
    let mut scene = Scene::new();
    let effects = scene.raise_effects(json(&with(&approve(), "resume_ref", r#""thread/1""#)));
    let resumed = effects.continuation.unwrap().resume(tenant(), None).unwrap();
    assert_eq!((resumed.reference.as_deref(), resumed.payload), (Some("thread/1"), None));
    assert!(scene.raise_effects(json(&approve())).continuation.is_none());
}

#[test]
fn only_canonical_base64_of_at_most_64_kib_is_taken_and_none_is_repeated() {
    for text in
        ["c2VjcmV0AA", "c2VjcmV0AA=", "c2VjcmV0AB==", "c2VjcmV0AA==\n", " c2VjcmV0AA==", "c2VjcmV0_w==", "=", "é"]
    {
        let body = with(&approve(), "resume_payload", &handoff_protocol::json::Json::from(text).to_text());
        let refused = Raise::read(&machine(), json(&body), &policy()).unwrap_err();
        assert_eq!(refused.code(), ErrorCode::InvalidRequest, "{text}");
        assert!(!refused.to_string().contains("c2VjcmV0"), "{refused}");
    }
    let of = |bytes: usize| {
        use base64::Engine as _;
        let text = base64::engine::general_purpose::STANDARD.encode(vec![7; bytes]);
        Raise::read(&machine(), json(&with(&approve(), "resume_payload", &format!("{text:?}"))), &policy())
    };
    assert!(of(65_536).is_ok());
    assert_eq!(of(65_537).unwrap_err().code(), ErrorCode::InvalidRequest);
    assert!(of(0).is_ok(), "nothing is something to hand over");
}

#[test]
fn it_opens_for_its_own_tenant_and_request_alone() {
    let mut scene = Scene::new();
    let continuation = kept(&mut scene, &with(&approve(), "resume_payload", r#""c2VjcmV0""#)).unwrap();
    let other = handoff_protocol::id::OrgId::from_ulid(handoff_protocol::id::Ulid::from_u128(99));
    assert_eq!(continuation.resume(other, Some(&keyring(&["a"]))).unwrap_err(), OpenError::Altered);
    let mut elsewhere = continuation.clone();
    elsewhere.request_id = scene.raise(&approve()).0.id;
    assert_ne!(elsewhere.request_id, continuation.request_id);
    assert_eq!(elsewhere.resume(tenant(), Some(&keyring(&["a"]))).unwrap_err(), OpenError::Altered);
    assert!(matches!(continuation.resume(tenant(), Some(&keyring(&["b"]))), Err(OpenError::UnknownKey(_))));
    assert!(matches!(continuation.resume(tenant(), None), Err(OpenError::UnknownKey(_))));
}

#[test]
fn it_is_sealed_anew_under_the_current_key_once() {
    let mut scene = Scene::new();
    let old = kept(&mut scene, &with(&approve(), "resume_payload", r#""c2VjcmV0""#)).unwrap();
    let rotated = keyring(&["b", "a"]);
    let new = old.reseal(tenant(), &rotated, scene.context().mint).unwrap().unwrap();
    assert_eq!(new.resume_payload.as_ref().unwrap().key.as_str(), "b");
    let resumed = new.resume(tenant(), Some(&keyring(&["b"]))).unwrap();
    assert_eq!(resumed.payload.as_deref(), Some("c2VjcmV0"));
    assert_eq!(new.reseal(tenant(), &rotated, scene.context().mint).unwrap(), None);
}

#[test]
fn a_request_has_one_digest_whatever_was_handed_over_with_it() {
    let mut scene = Scene::new();
    let plain = scene.raise(&approve()).0.request_digest().unwrap();
    let continued = scene.raise(&with(&approve(), "resume_ref", r#""thread/1""#));
    assert_eq!(continued.0.request_digest().unwrap(), plain);
    let effects = scene.answer(&continued, &person(Role::Editor), YES).unwrap();
    assert!(effects.signals[0].continued);
}
