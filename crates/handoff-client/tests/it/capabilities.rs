//! What a person does on the way to an answer, call by call.

use handoff_client::{CallKey, NewAnswer};
use handoff_protocol::{
    decision::{
        ErrorCode, WaiterRef,
        terms::{CapabilityScope, CapabilityType, RequestState},
        wire::{
            CapabilitySpec, CapabilityUse, FieldSpec, FieldType, RaiseBody, ResolveBody, RevokeBody, ToBody as _,
            ValueSinkSpec,
        },
    },
    digest::AnyDigest,
    id::GrantHandle,
    json::{Json, Object},
    secret::Secret,
};

use super::bench::Bench;

#[tokio::test(flavor = "multi_thread")]
async fn a_person_takes_over_gives_a_secret_and_answers() {
    let Bench { machine, person, vault } = Bench::start().await;
    let surface = CapabilitySpec::new(CapabilityType::InteractiveSurface, CapabilityScope::Drive)
        .of("example/browser", handoff_testkit::surface::RESOURCE)
        .label("the browser")
        .optional();
    let body = RaiseBody::new(WaiterRef::parse("run:1").unwrap(), "Sign in?")
        .field(FieldSpec::new("password", FieldType::Secret).required())
        .value_sink(ValueSinkSpec::new("vault/1"))
        .capability(surface);
    let raised = machine.raise(&body.to_json().unwrap(), None).await.unwrap().request;
    let declared = raised.requires.get("capabilities").and_then(Json::as_array).unwrap();
    let handle = declared.first().and_then(|one| one.get("handle")).and_then(Json::as_str).unwrap();
    let handle = GrantHandle::parse(handle).unwrap();

    let grant = person.grant(handle).await.unwrap();
    assert_eq!((grant.request_id, grant.blast_radius.principals), (Some(raised.id), Some(4)));
    let accepted = AnyDigest::parse(&grant.blast_radius_digest.to_string()).unwrap();
    let resolve = ResolveBody::new(vec![CapabilityScope::View, CapabilityScope::Drive], accepted);
    let key = CallKey::mint().unwrap();
    let session = person.resolve_grant(handle, &resolve, Some(&key)).await.unwrap();
    let again = person.resolve_grant(handle, &resolve, Some(&key)).await.unwrap();
    assert_eq!(session.session_ref, again.session_ref);
    assert_ne!(session.transport.url, again.transport.url);
    assert!(person.renew_session(handle, session.session_ref).await.unwrap().lease_until >= session.lease_until);
    person.release_session(handle, session.session_ref).await.unwrap();
    let gone = person.renew_session(handle, session.session_ref).await.unwrap_err();
    assert!(gone.is_refused_with(ErrorCode::CapabilityNotFound), "{gone}");

    let mut values = Object::new();
    values.insert("password", "hunter2");
    let submitted = person.submit_values("vault/1", &Secret::new(values), None).await.unwrap();
    assert_eq!((submitted.accepted, submitted.state), (vec!["password".to_owned()], RequestState::Pending));
    assert_eq!(vault.count(), 1);
    let mut values = Object::new();
    values.insert("password", Json::object([("provided", Json::from(true))]));
    let used = CapabilityUse { handle, session_ref: session.session_ref };
    let answer = NewAnswer { values, capability_uses: vec![used], ..NewAnswer::default() };
    person.answer(raised.id, &answer, None).await.unwrap();
    assert!(person.grant(handle).await.unwrap().revoked_at.is_some());
    person.revoke_grant(handle, &RevokeBody::default()).await.unwrap();
    let refused = machine.grant(handle).await.unwrap_err();
    assert!(refused.is_refused_with(ErrorCode::RequesterMayNotAnswer), "{refused}");
}
