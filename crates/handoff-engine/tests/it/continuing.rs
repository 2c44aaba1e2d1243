//! Continuation data: in every signal of its request and nowhere else, and sealed anew when keys change (section 18).

use std::sync::Arc;

use handoff_engine::{
    Engine,
    callback::CallbackTransport,
    decision::{Forget, Resealed},
    store::{Reads, Record, RecordKey, RecordKind, RecordWrite, Step, Store, Transaction, WriteSet},
};
use handoff_protocol::{
    continuation::{ContinuationKey, Keyring, OpenError},
    decision::{CallbackPolicy, ErrorCode, Policy},
    id::{RequestId, TenantId},
    json::Json,
};

use super::{
    callbacks::{Receiver, secrets, sweep, verified},
    world::{World, YES, ask, ask_with, code, json, without_ladder},
};

const PAYLOAD: &str = "Y2FuYXJ5LXBheWxvYWQ=";
const REFERENCE: &str = "canary/reference";
const MORE: &str = r#""resume_ref":"canary/reference","resume_payload":"Y2FuYXJ5LXBheWxvYWQ=""#;

fn keyring(names: &[&str]) -> Arc<Keyring> {
    let key = |name: &&str| ContinuationKey::parse(&format!("{name}:{}", name.repeat(64))).unwrap();
    Arc::new(Keyring::new(names.iter().map(key)).unwrap())
}

fn policy(names: &[&str]) -> Policy {
    let callbacks = CallbackPolicy { secrets: secrets(), ..CallbackPolicy::default() };
    Policy { continuation: Some(keyring(names)), callbacks, ..without_ladder() }
}

async fn world() -> (World, Arc<Receiver>) {
    let receiver = Arc::new(Receiver::default());
    let transport = Arc::clone(&receiver) as Arc<dyn CallbackTransport>;
    let with = |builder: handoff_engine::Builder| builder.policy(policy(&["a"])).callbacks(transport);
    (World::with_engine(Arc::new(|_| {}), with).await, receiver)
}

/// Another engine over the same store, with other keys.
async fn with_keys(world: &World, names: &[&str]) -> Engine {
    let store = Arc::clone(&world.store) as Arc<dyn Store>;
    Engine::builder().store(store).clock(Arc::new(world.clock.clone())).policy(policy(names)).build().await.unwrap()
}

/// Each key with how much it seals, and how much of that does not open.
async fn used(engine: &Engine) -> Vec<(String, u64, u64)> {
    let used = engine.continuation_keys().await.unwrap().into_iter();
    used.map(|(key, sealings)| (key.to_string(), sealings.all, sealings.unreadable)).collect()
}

/// Puts what is kept for one request in the place of what is kept for another, each under its own name.
async fn swap(world: &World, one: RequestId, other: RequestId) {
    let kept = [continuation(world, one).await, continuation(world, other).await];
    let sealed = |place: usize| json(&kept[place].document).get("resume_payload").unwrap().clone();
    overwrite(world, &kept[0], sealed(1)).await;
    overwrite(world, &kept[1], sealed(0)).await;
}

async fn continuation(world: &World, id: RequestId) -> Record {
    let key = RecordKey::new(RecordKind::from_static("continuation"), id);
    world.store.get(&TenantId::Org(world.tenant), &[key]).await.unwrap().remove(0).unwrap()
}

/// Puts something else where a sealed payload stands.
async fn overwrite(world: &World, kept: &Record, payload: Json) {
    let tenant = TenantId::Org(world.tenant);
    let mut document = json(&kept.document);
    document.as_object_mut().unwrap().insert("resume_payload", payload);
    let write = RecordWrite::Put {
        key: kept.key.clone(),
        seen: Some(kept.version),
        document: document.to_text().into(),
        index: Vec::new(),
        unindex: Vec::new(),
    };
    let records = vec![write];
    let step = move |_: &_, _: &_| Step::Commit(Box::new(WriteSet { records: records.clone(), ..WriteSet::default() }));
    let transaction = Transaction { tenant, reads: Reads::none(), step: Arc::new(step) };
    let _committed = world.store.transact(transaction).await.unwrap();
}

async fn ack(world: &World) {
    let signal = world.signals("run:1").await.remove(0);
    let body = format!(r#"{{"resume_token":"{}","applied":true}}"#, signal.resume_token);
    world.engine.acknowledge(&world.machine, signal.id, &json(&body)).await.unwrap();
}

#[tokio::test]
async fn every_signal_of_the_request_gives_it_back_and_no_other_does() {
    let (world, receiver) = world().await;
    let callback = r#""callback":{"url":"https://receiver.example/"}"#;
    let id = world.raised(&ask_with("run:1", "one", &format!("{MORE},{callback}"))).await;
    let other = world.raised(&ask_with("run:1", "two", callback)).await;
    world.engine.arm_attempt(&world.machine, id, json("{}"), None).await.unwrap();
    world.clock.advance(std::time::Duration::from_secs(15 * 60));
    sweep(&world).await;
    for id in [id, other] {
        world.engine.answer(&world.person, id, json(YES), None).await.unwrap();
    }
    sweep(&world).await;
    let reattached = world.engine.reattach(&world.machine, &json_waiter()).await.unwrap().signals;
    let polled = world.signals("run:1").await;
    assert_eq!(polled, reattached);
    assert_eq!(polled.len(), 3);
    for signal in &polled {
        let expected = (signal.request_id == id).then_some((REFERENCE, PAYLOAD));
        assert_eq!(signal.resume_ref.as_deref().zip(signal.resume_payload.as_deref()), expected);
    }
    let pushed: Vec<_> = receiver.got().iter().map(|post| verified(&world, post, &secrets())).collect();
    assert!(pushed.len() >= 3);
    for body in pushed {
        let own = body.get("request_id").unwrap().as_str() == Some(&id.to_string());
        assert_eq!(body.get("resume_payload").unwrap().as_str(), own.then_some(PAYLOAD));
        assert_eq!(body.get("resume_ref").unwrap().as_str(), own.then_some(REFERENCE));
    }
}

fn json_waiter() -> handoff_protocol::decision::WaiterRef {
    handoff_protocol::decision::WaiterRef::parse("run:1").unwrap()
}

#[tokio::test]
async fn a_repeated_raise_and_everything_else_that_is_read_shows_nothing_of_it() {
    let (world, _) = world().await;
    let body = ask_with("run:1", "one", MORE);
    let first = world.raise(&body, "k").await.unwrap();
    let again = world.raise(&body, "k").await.unwrap();
    let joined = world.engine.raise(&world.machine, json(&body), None).await.unwrap();
    let id = first.request.id;
    world.engine.answer(&world.person, id, json(YES), None).await.unwrap();
    let mut seen = format!("{first:?}{again:?}{joined:?}{:?}", world.request(id).await);
    for event in world.events().await {
        seen.push_str(&event.data);
    }
    for receipt in world.receipts().await {
        seen.push_str(&receipt.to_text());
    }
    for canary in [PAYLOAD, REFERENCE, "canary-payload"] {
        assert!(!seen.contains(canary), "{canary}");
    }
    assert_eq!(world.signals("run:1").await[0].resume_payload.as_deref(), Some(PAYLOAD));
}

#[tokio::test]
async fn without_a_key_a_payload_creates_nothing_and_a_reference_is_given_back() {
    let world = World::new().await;
    assert!(!world.engine.keeps_continuations());
    let refused = world.engine.raise(&world.machine, json(&ask_with("run:1", "one", MORE)), None).await;
    assert_eq!(code(refused), ErrorCode::InvalidRequest);
    assert_eq!(world.requests().await, []);
    let id = world.raised(&ask_with("run:1", "one", r#""resume_ref":"canary/reference""#)).await;
    world.engine.answer(&world.person, id, json(YES), None).await.unwrap();
    let signal = world.signals("run:1").await.remove(0);
    assert_eq!((signal.resume_ref.as_deref(), signal.resume_payload), (Some(REFERENCE), None));
}

#[tokio::test]
async fn what_no_signal_gives_back_any_more_is_not_kept() {
    let (world, _) = world().await;
    let id = world.raised(&ask_with("run:1", "one", MORE)).await;
    world.engine.arm_attempt(&world.machine, id, json("{}"), None).await.unwrap();
    world.clock.advance(std::time::Duration::from_secs(15 * 60));
    sweep(&world).await;
    ack(&world).await;
    assert_eq!(world.engine.continuation_keys().await.unwrap().len(), 1, "it is pending still");
    world.engine.answer(&world.person, id, json(YES), None).await.unwrap();
    assert_eq!(world.signals("run:1").await[0].resume_payload.as_deref(), Some(PAYLOAD));
    ack(&world).await;
    assert!(world.engine.continuation_keys().await.unwrap().is_empty());
}

#[tokio::test]
async fn keys_rotate_and_one_that_is_in_use_is_missed() {
    let (world, _) = world().await;
    for place in 0..60 {
        world.raised(&ask_with("run:1", &place.to_string(), MORE)).await;
    }
    assert!(world.engine.missing_continuation_keys().await.unwrap().is_empty());
    let early = with_keys(&world, &["b"]).await;
    let missing = early.missing_continuation_keys().await.unwrap();
    assert!(matches!(missing.as_slice(), [OpenError::UnknownKey(key)] if key.as_str() == "a"), "{missing:?}");
    let left = early.reseal_continuations(&Forget { unreadable: true, keys: Vec::new() }).await.unwrap();
    assert_eq!((left.sealed, left.forgotten.len(), left.left.len()), (0, 0, 60), "nothing is given up by accident");

    let rotated = with_keys(&world, &["b", "a"]).await;
    rotated.raise(&world.machine, json(&ask_with("run:1", "newer", MORE)), None).await.unwrap();
    assert_eq!(used(&rotated).await, [("a".to_owned(), 60, 0), ("b".to_owned(), 1, 0)]);
    for sealed in [60, 0] {
        let done = rotated.reseal_continuations(&Forget::default()).await.unwrap();
        assert_eq!(done, Resealed { sealed, ..Resealed::default() });
    }

    let after = with_keys(&world, &["b"]).await;
    assert!(after.missing_continuation_keys().await.unwrap().is_empty());
    let id = world.requests().await[0];
    world.engine.answer(&world.person, id, json(YES), None).await.unwrap();
    let polled = after.signals(&world.machine, &json_waiter(), std::time::Duration::ZERO).await.unwrap();
    assert_eq!(polled.data[0].resume_payload.as_deref(), Some(PAYLOAD));
}

#[tokio::test]
async fn what_does_not_open_holds_up_neither_its_waiter_nor_its_push_and_is_never_served() {
    let (world, receiver) = world().await;
    let callback = r#""callback":{"url":"https://receiver.example/"}"#;
    let mut ids = Vec::new();
    for title in ["one", "two", "three"] {
        ids.push(world.raised(&ask_with("run:1", title, &format!("{MORE},{callback}"))).await);
    }
    let plain = world.raised(&ask("run:1", "four")).await;
    swap(&world, ids[0], ids[1]).await;
    for id in ids.iter().chain([&plain]) {
        world.engine.answer(&world.person, *id, json(YES), None).await.unwrap();
    }
    sweep(&world).await;
    let polled = world.signals("run:1").await;
    let payloads: Vec<_> = polled.iter().map(|signal| signal.resume_payload.as_deref()).collect();
    assert_eq!(payloads, [None, None, Some(PAYLOAD), None]);
    assert_eq!(polled[0].resume_ref.as_deref(), Some(REFERENCE), "what was never sealed is given back");
    assert_eq!(world.engine.reattach(&world.machine, &json_waiter()).await.unwrap().signals, polled);
    let pushed: Vec<_> = receiver.got().iter().map(|post| verified(&world, post, &secrets())).collect();
    assert_eq!(pushed.len(), 3, "each once: {pushed:?}");
    for body in pushed {
        let whole = body.get("request_id").unwrap().as_str() == Some(&ids[2].to_string());
        assert_eq!(body.get("resume_payload").unwrap().as_str(), whole.then_some(PAYLOAD));
    }
    for _ in 0..4 {
        ack(&world).await;
    }
    assert!(world.signals("run:1").await.is_empty());
    assert!(used(&world.engine).await.is_empty(), "nothing of them is kept");
}

#[tokio::test]
async fn what_does_not_open_is_told_apart_and_given_up_on_demand_and_the_rest_is_sealed_anew() {
    let (world, _) = world().await;
    let mut ids = Vec::new();
    for place in 0..60 {
        ids.push(world.raised(&ask_with("run:1", &place.to_string(), MORE)).await);
    }
    swap(&world, ids[3], ids[40]).await;
    let rotated = with_keys(&world, &["b", "a"]).await;
    assert!(rotated.missing_continuation_keys().await.unwrap().is_empty());
    assert_eq!(used(&rotated).await, [("a".to_owned(), 60, 2)]);
    let done = rotated.reseal_continuations(&Forget::default()).await.unwrap();
    let mut named: Vec<_> = done.left.iter().map(|unreadable| unreadable.request).collect();
    named.sort_unstable();
    assert_eq!((done.sealed, named, done.forgotten.len()), (58, vec![ids[3], ids[40]], 0));
    assert_eq!(used(&rotated).await, [("a".to_owned(), 2, 2), ("b".to_owned(), 58, 0)]);
    let done = rotated.reseal_continuations(&Forget { unreadable: true, keys: Vec::new() }).await.unwrap();
    assert_eq!((done.sealed, done.forgotten.len(), done.left.len()), (0, 2, 0));
    assert_eq!(used(&rotated).await, [("b".to_owned(), 58, 0)]);

    let after = with_keys(&world, &["b"]).await;
    assert!(after.missing_continuation_keys().await.unwrap().is_empty());
    for id in [ids[3], ids[4]] {
        world.engine.answer(&world.person, id, json(YES), None).await.unwrap();
    }
    let polled = after.signals(&world.machine, &json_waiter(), std::time::Duration::ZERO).await.unwrap().data;
    let payloads: Vec<_> = polled.iter().map(|signal| signal.resume_payload.as_deref()).collect();
    assert_eq!(payloads, [None, Some(PAYLOAD)], "given up is as if there had been none");
}

#[tokio::test]
async fn a_record_that_is_no_longer_one_holds_up_no_other_and_pins_no_key() {
    let (world, _) = world().await;
    let mut ids = Vec::new();
    for place in 0..4 {
        ids.push(world.raised(&ask_with("run:1", &place.to_string(), MORE)).await);
    }
    overwrite(&world, &continuation(&world, ids[0]).await, Json::from("no longer sealed")).await;
    let rotated = with_keys(&world, &["b", "a"]).await;
    assert_eq!(used(&rotated).await, [("a".to_owned(), 4, 1)]);
    let done = rotated.reseal_continuations(&Forget::default()).await.unwrap();
    let left: Vec<_> = done.left.iter().map(|unreadable| unreadable.request).collect();
    assert_eq!((done.sealed, left), (3, vec![ids[0]]));
    let after = with_keys(&world, &["b"]).await;
    assert!(after.missing_continuation_keys().await.unwrap().is_empty());
    let done = after.reseal_continuations(&Forget { unreadable: true, keys: Vec::new() }).await.unwrap();
    assert_eq!((done.forgotten.len(), done.left.len()), (1, 0));
    assert_eq!(used(&after).await, [("b".to_owned(), 3, 0)]);
    world.engine.answer(&world.person, ids[0], json(YES), None).await.unwrap();
    let polled = after.signals(&world.machine, &json_waiter(), std::time::Duration::ZERO).await.unwrap();
    let signal = &polled.data[0];
    assert_eq!((signal.resume_payload.as_deref(), signal.resume_ref.as_deref()), (None, Some(REFERENCE)));
}

#[tokio::test]
async fn another_key_of_the_same_name_is_missed_as_one_that_is_not_there() {
    let (world, _) = world().await;
    world.raised(&ask_with("run:1", "one", MORE)).await;
    let other = ContinuationKey::parse(&format!("a:{}", "9".repeat(64))).unwrap();
    let other = Policy { continuation: Some(Arc::new(Keyring::new([other]).unwrap())), ..policy(&["a"]) };
    let store = Arc::clone(&world.store) as Arc<dyn Store>;
    let changed = Engine::builder().store(store).clock(Arc::new(world.clock.clone())).policy(other);
    let changed = changed.build().await.unwrap();
    let missing = changed.missing_continuation_keys().await.unwrap();
    assert!(matches!(missing.as_slice(), [OpenError::OtherKey(key)] if key.as_str() == "a"), "{missing:?}");
    let sealings = changed.continuation_keys().await.unwrap().into_values().next().unwrap();
    assert_eq!((sealings.all, sealings.unreadable, sealings.under_another), (1, 0, 1));
    let forget = |keys: &[&str]| Forget { unreadable: true, keys: keys.iter().map(|key| (*key).to_owned()).collect() };
    assert_eq!(changed.reseal_continuations(&forget(&["b"])).await.unwrap().left.len(), 1);
    assert_eq!(changed.reseal_continuations(&forget(&["a"])).await.unwrap().forgotten.len(), 1);
    assert!(changed.missing_continuation_keys().await.unwrap().is_empty());
}

#[tokio::test]
async fn a_raise_that_joins_leaves_what_was_handed_over_first() {
    let (world, _) = world().await;
    let given = |more: &str| ask_with("run:1", "one", &format!(r#""dedupe_key":"k",{more}"#));
    let id = world.raised(&given(MORE)).await;
    let joined = world.raise(&given(r#""resume_ref":"newer","resume_payload":"bmV3""#), "k").await.unwrap();
    assert_eq!((joined.created, joined.request.id), (false, id));
    world.engine.answer(&world.person, id, json(YES), None).await.unwrap();
    let signal = world.signals("run:1").await.remove(0);
    assert_eq!((signal.resume_ref.as_deref(), signal.resume_payload.as_deref()), (Some(REFERENCE), Some(PAYLOAD)));
}

#[tokio::test]
async fn a_replaced_client_that_replays_an_old_signal_redeems_nothing_anew() {
    let (world, _) = world().await;
    let id = world.raised(&ask_with("run:1", "one", MORE)).await;
    world.engine.answer(&world.person, id, json(YES), None).await.unwrap();
    let old = world.signals("run:1").await.remove(0);
    let authorization = old.decision.as_ref().unwrap().authorization_id.unwrap();
    let redeem = async |key: &str| {
        let body = json(&format!(r#"{{"effect_key":"{key}"}}"#));
        world.engine.redeem(&world.machine, authorization, &body).await
    };
    assert!(redeem("mail:1").await.unwrap().first_redemption);
    ack(&world).await;
    let body = format!(r#"{{"resume_token":"{}","applied":true}}"#, old.resume_token);
    assert!(!world.engine.acknowledge(&world.machine, old.id, &json(&body)).await.unwrap().first_ack);
    assert!(!redeem("mail:1").await.unwrap().first_redemption);
    assert_eq!(code(redeem("mail:2").await), ErrorCode::AuthorizationSpent);
}
