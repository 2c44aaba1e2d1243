//! What operators record and ask beside the API: words and changes that settle nothing, a request's story, a proof to take
//! along, the address that a deployment announced.

use handoff_engine::{
    fsck::{Trust as Keys, check},
    store::{Inspect as _, StoredEvent},
};
use handoff_protocol::{
    bundle::{Trust, verify},
    decision::{ErrorCode, terms::RequestState},
    id::{RequestId, TenantId},
    signature::KeySet,
};

use super::world::{World, ask, code};

const UNKNOWN: &str = "req_01K3M7QW8ZC4YRXB2N6VD9FTHE";

#[tokio::test]
async fn words_and_changes_are_recorded_with_their_event_and_settle_nothing() {
    let world = World::new().await;
    let (engine, tenant) = (&world.engine, world.tenant);
    let id = world.raised(&ask("run:1", "one")).await;
    let other = world.raised(&ask("run:1", "two")).await;
    for _ in 0..2 {
        let noted = engine.receive_message(tenant, id, "email", "yes, approved").await.unwrap();
        assert_eq!((noted.request_id, noted.state), (id, RequestState::Pending));
        assert!(noted.id.starts_with("msg_"), "{}", noted.id);
    }
    let noted = engine.observe_change(tenant, id).await.unwrap();
    assert!(noted.id.starts_with("obs_"), "{}", noted.id);
    assert_eq!((world.request(id).await.state, world.receipts().await.len()), (RequestState::Pending, 0));
    let types =
        |events: Vec<StoredEvent>| -> Vec<String> { events.iter().map(|event| event.event_type.to_string()).collect() };
    let told = types(engine.history(tenant, id).await.unwrap());
    let said = "channel.message_received";
    assert_eq!(told, ["request.raised", said, said, "runtime.observation"]);
    assert_eq!(types(engine.history(tenant, other).await.unwrap()), ["request.raised"]);
    world.answer(id, "a").await.unwrap();
    let late = engine.receive_message(tenant, id, "email", "no").await.unwrap();
    assert_eq!(late.state, RequestState::Answered, "what comes late is recorded as well");
    assert_eq!(code(engine.receive_message(tenant, id, " ", "x").await), ErrorCode::InvalidRequest);
    let unknown = RequestId::parse(UNKNOWN).unwrap();
    assert_eq!(code(engine.observe_change(tenant, unknown).await), ErrorCode::RequestNotFound);
    let snapshot = world.store.inner().snapshot(&TenantId::Org(tenant)).await.unwrap();
    assert_eq!(check(&snapshot, &Keys::default()), []);
}

#[tokio::test]
async fn the_tenant_of_a_request_is_found_for_whoever_has_none() {
    let world = World::new().await;
    world.engine.create_tenant().await.unwrap();
    let id = world.raised(&ask("run:1", "one")).await;
    assert_eq!(world.engine.tenant_of_request(id).await.unwrap(), world.tenant);
    let unknown = RequestId::parse(UNKNOWN).unwrap();
    assert_eq!(code(world.engine.tenant_of_request(unknown).await), ErrorCode::RequestNotFound);
}

#[tokio::test]
async fn the_proof_of_a_decision_verifies_by_itself_and_there_is_none_before_the_decision() {
    let world = World::new().await;
    let id = world.raised(&ask("run:1", "one")).await;
    world.answer(world.raised(&ask("run:1", "before")).await, "b").await.unwrap();
    assert_eq!(code(world.engine.proof(&world.machine, id).await), ErrorCode::RequestNotFound);
    let minted = world.answer(id, "a").await.unwrap().receipt.unwrap();
    let proof = world.engine.proof(&world.machine, id).await.unwrap();
    let keys = KeySet::from_jwks(&world.engine.key_set().await.unwrap()).unwrap();
    let keys = Trust { keys: Some(keys), anchors: Vec::new() };
    let text = proof.to_text().unwrap();
    let report = verify(text.as_bytes(), &keys).unwrap();
    assert!(report.is_sound(), "{report:?}");
    assert!(text.contains(&minted.digest.to_string()));
    let forged = text.replacen("\"yes\"", "\"no\"", 1);
    assert_ne!(forged, text);
    assert!(!verify(forged.as_bytes(), &keys).unwrap().is_sound(), "what was decided cannot be changed in it");
}

#[tokio::test]
async fn the_address_that_people_open_is_announced_once() {
    let world = World::with_ports(|builder| builder.public_base("https://h.example")).await;
    assert_eq!(world.engine.announced_public_base().await.unwrap(), None);
    world.engine.announce_public_base().await.unwrap();
    assert_eq!(world.engine.announced_public_base().await.unwrap().as_deref(), Some("https://h.example"));
    let before = world.store.inner().snapshot(&TenantId::System).await.unwrap().records;
    world.engine.announce_public_base().await.unwrap();
    let after = world.store.inner().snapshot(&TenantId::System).await.unwrap().records;
    assert_eq!(before, after, "repeating it writes nothing");
}
