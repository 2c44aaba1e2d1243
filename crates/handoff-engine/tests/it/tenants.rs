//! Two tenants: nothing of one is found from the other, and a refusal does not tell that it exists.

use std::time::Duration;

use handoff_protocol::{
    bundle::{Trust, verify},
    decision::{DecisionError, WaiterRef, terms::RequestState},
    id::{AuthorizationId, ReceiptId, RequestId, SignalId, Ulid},
    principal::{Principal, Role},
};

use super::world::{REASON, World, YES, add_machine, add_person, ask, ask_with, json, key_of};

/// A machine and a person of another tenant.
async fn strangers(world: &World) -> (Principal, Principal) {
    let tenant = world.engine.create_tenant().await.unwrap();
    (add_machine(&world.engine, tenant).await, add_person(&world.engine, tenant, Role::Admin).await)
}

#[tokio::test]
async fn objects_of_another_tenant_are_not_found_anywhere() {
    let world = World::new().await;
    let (machine, person) = strangers(&world).await;
    let engine = &world.engine;
    let (done, open) = (world.raised(&ask("run:1", "one")).await, world.raised(&ask("run:1", "two")).await);
    let result = world.answer(done, "k").await.unwrap();
    let signal = world.signals("run:1").await.remove(0);
    let ack = json(&format!(r#"{{"resume_token":"{}","applied":true}}"#, signal.resume_token));
    let effect = json(r#"{"effect_key":"k"}"#);
    let nowhere = Ulid::from_u128(5);
    for (request, receipt, authorization, signal, waiter) in [
        (open, result.receipt.unwrap().id, result.authorization.as_ref().unwrap().id, signal.id, "run:1"),
        (
            RequestId::from_ulid(nowhere),
            ReceiptId::from_ulid(nowhere),
            AuthorizationId::from_ulid(nowhere),
            SignalId::from_ulid(nowhere),
            "run:never",
        ),
    ] {
        let waiter = WaiterRef::parse(waiter).unwrap();
        let long = Duration::from_secs(30);
        for came in [
            engine.request(&machine, request).await.map(drop),
            engine.surface(&person, request).await.map(drop),
            engine.request_settled(&machine, request, long).await.map(drop),
            engine.request_receipt(&machine, request).await.map(drop),
            engine.request_receipt(&machine, done).await.map(drop),
            engine.receipt(&machine, receipt).await.map(drop),
            engine.receipt_signature(&machine, receipt).await.map(drop),
            engine.answer(&person, request, json(YES), Some(&key_of("k"))).await.map(drop),
            engine.cancel(&machine, request, json(REASON), Some(&key_of("k"))).await.map(drop),
        ] {
            assert_eq!(came, Err(DecisionError::RequestNotFound));
        }
        let came = engine.authorization(&machine, authorization).await.map(drop);
        assert_eq!(came, Err(DecisionError::AuthorizationNotFound));
        assert_eq!(engine.redeem(&machine, authorization, &effect).await, Err(DecisionError::AuthorizationNotFound));
        assert_eq!(engine.acknowledge(&machine, signal, &ack).await, Err(DecisionError::SignalNotFound));
        assert_eq!(engine.signals(&machine, &waiter, long).await, Err(DecisionError::WaiterNotFound));
        assert_eq!(engine.reattach(&machine, &waiter).await, Err(DecisionError::WaiterNotFound));
    }
    assert_eq!(world.request(open).await.state, RequestState::Pending);
    assert_eq!(world.signals("run:1").await.len(), 1);
}

#[tokio::test]
async fn keys_waiters_chains_and_listings_of_two_tenants_never_touch() {
    let world = World::new().await;
    let (machine, person) = strangers(&world).await;
    let metadata = format!(r#""metadata":{{"org_id":"{}","tenant":"mine"}}"#, world.tenant);
    let body = ask_with("run:1", "one", &metadata);
    let mine = world.raise(&body, "k").await.unwrap();
    let theirs = world.engine.raise(&machine, json(&body), Some(&key_of("k"))).await.unwrap();
    assert!(mine.created && theirs.created);
    assert_eq!((theirs.request.org_id, mine.request.org_id), (machine.tenant, world.tenant));
    assert_eq!(theirs.request.metadata.to_text(), mine.request.metadata.to_text());
    world.answer(mine.request.id, "k").await.unwrap();
    world.engine.answer(&person, theirs.request.id, json(YES), Some(&key_of("k"))).await.unwrap();
    assert_eq!(world.requests().await, [mine.request.id]);
    let listed = world.engine.requests(&machine, &Default::default()).await.unwrap();
    assert_eq!(listed.data.iter().map(|request| request.id).collect::<Vec<_>>(), [theirs.request.id]);
    for caller in [&world.machine, &machine] {
        let head = world.engine.chain_head(caller).await.unwrap();
        assert_eq!((head.org_id, head.height), (caller.tenant, 1));
        let bundle = world.engine.export_own(caller).await.unwrap().text().await.unwrap();
        assert!(verify(bundle.as_bytes(), &Trust::default()).unwrap().is_sound());
    }
    let signals = world.engine.signals(&machine, &WaiterRef::parse("run:1").unwrap(), Duration::ZERO).await.unwrap();
    assert_eq!(signals.data.iter().map(|signal| signal.sequence).collect::<Vec<_>>(), [1]);
    assert_eq!(world.events().await.len(), 2);
}
