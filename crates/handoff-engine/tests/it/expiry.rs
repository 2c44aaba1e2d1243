//! Deadlines in virtual time, through the worker's own sweep.

use std::{sync::Arc, time::Duration};

use handoff_engine::{
    store::{Reads, Step, Store as _, TimerKey, TimerWrite, Transaction, WriteSet},
    worker::Swept,
};
use handoff_protocol::{
    decision::{ErrorCode, terms::RequestState},
    id::TenantId,
    timestamp::Timestamp,
};

use super::world::{World, ask, ask_with, code};

const MINUTE: Duration = Duration::from_secs(60);

/// Puts a timer beside the engine's back.
pub(crate) async fn put_timer(world: &World, key: &str, due: Timestamp, action: &str) {
    let (key, action) = (TimerKey::new(key), Arc::<str>::from(action));
    let step = move |_: &_, _: &_| {
        let put = TimerWrite::Put { key: key.clone(), due, action: Arc::clone(&action) };
        Step::Commit(Box::new(WriteSet { timers: vec![put], ..WriteSet::default() }))
    };
    let transaction = Transaction { tenant: TenantId::Org(world.tenant), reads: Reads::none(), step: Arc::new(step) };
    let _committed = world.store.transact(transaction).await.unwrap();
}

#[tokio::test]
async fn each_policy_comes_to_its_end_at_its_deadline() {
    let world = World::new().await;
    let mut cases = Vec::new();
    for (place, (policy, effective, values)) in [
        ("", "deny", "{}"),
        (r#","ttl_policy":{"on_expiry":"escalate"}"#, "deny", "{}"),
        (r#","ttl_policy":{"on_expiry":"expire_and_deny"}"#, "deny", "{}"),
        (
            r#","ttl_policy":{"on_expiry":"default","default_answer":{"decision":"no"}}"#,
            "default",
            r#"{"decision":"no"}"#,
        ),
    ]
    .into_iter()
    .enumerate()
    {
        let waiter = format!("run:{place}");
        let id = world.raised(&ask_with(&waiter, "one", &format!(r#""ttl":"PT1M"{policy}"#))).await;
        cases.push((id, waiter, effective, values));
    }
    world.clock.advance(MINUTE - Duration::from_millis(1));
    assert_eq!(world.engine.run_due_timers().await.unwrap(), Swept::default());
    world.clock.advance(Duration::from_millis(1));
    assert_eq!(world.engine.run_due_timers().await.unwrap(), Swept { acted: 4, failed: 0 });
    for (id, waiter, effective, values) in cases {
        let request = world.request(id).await;
        assert_eq!((request.state, request.authorization), (RequestState::Expired, None));
        let receipt = request.receipt.unwrap();
        assert_eq!(receipt.get("kind").unwrap().as_str(), Some("policy"));
        assert!(receipt.get("actor").unwrap().get("principal_id").unwrap().is_null());
        let signals = world.signals(&waiter).await;
        let decision = signals[0].decision.as_ref().unwrap();
        assert_eq!((signals.len(), decision.effective.unwrap().as_str()), (1, effective));
        assert_eq!(decision.values.to_text(), values);
        let late = world.answer(id, "k").await;
        assert_eq!(code(late), ErrorCode::RequestExpired);
    }
    // Nothing is left to do, ever.
    world.clock.advance(MINUTE * 1000);
    assert_eq!(world.engine.run_due_timers().await.unwrap(), Swept::default());
}

#[tokio::test]
async fn what_is_parked_stays_answerable() {
    let world = World::new().await;
    let parked = world.raised(&ask_with("run:1", "one", r#""ttl":"PT1M","ttl_policy":{"on_expiry":"park"}"#)).await;
    let endless = world.raised(&ask("run:1", "two")).await;
    assert_eq!(world.next_timer().await, None);
    world.clock.advance(MINUTE * 60 * 24 * 365);
    assert_eq!(world.engine.run_due_timers().await.unwrap(), Swept::default());
    for (id, key) in [(parked, "a"), (endless, "b")] {
        assert_eq!((world.request(id).await.state, world.request(id).await.expires_at), (RequestState::Pending, None));
        world.answer(id, key).await.unwrap();
    }
}

#[tokio::test]
async fn a_pending_deadline_has_its_timer_and_an_ending_takes_it_away() {
    let world = World::new().await;
    let mut ids = Vec::new();
    for (place, minutes) in [3, 1, 2].into_iter().enumerate() {
        ids.push(world.raised(&ask_with("run:1", &place.to_string(), &format!(r#""ttl":"PT{minutes}M""#))).await);
    }
    let deadline = async |place: usize| world.request(ids[place]).await.expires_at;
    assert_eq!(world.next_timer().await, deadline(1).await);
    // Joining leaves the deadline where it was.
    world.clock.advance(Duration::from_secs(30));
    let body = ask_with("run:1", "1", r#""ttl":"PT1M""#);
    world.engine.raise(&world.machine, super::world::json(&body), None).await.unwrap();
    assert_eq!(world.next_timer().await, deadline(1).await);
    world.engine.answer(&world.person, ids[1], super::world::json(super::world::YES), None).await.unwrap();
    assert_eq!(world.next_timer().await, deadline(2).await);
    world.engine.cancel(&world.machine, ids[2], super::world::json(super::world::REASON), None).await.unwrap();
    assert_eq!(world.next_timer().await, deadline(0).await);
    world.clock.advance(MINUTE * 3);
    assert_eq!(world.engine.run_due_timers().await.unwrap(), Swept { acted: 1, failed: 0 });
    assert_eq!(world.next_timer().await, None);
}

#[tokio::test]
async fn a_poisoned_timer_does_not_stop_the_others() {
    let world = World::new().await;
    let id = world.raised(&ask_with("run:1", "one", r#""ttl":"PT1M""#)).await;
    let start = Timestamp::from_unix_millis(1);
    for (place, action) in ["nonsense", "{}", r#"{"do":"something of a later version"}"#].into_iter().enumerate() {
        put_timer(&world, &format!("bad/{place}"), start, action).await;
    }
    world.clock.advance(MINUTE);
    assert_eq!(world.engine.run_due_timers().await.unwrap(), Swept { acted: 1, failed: 3 });
    assert_eq!(world.request(id).await.state, RequestState::Expired);
    // They come back when their claim lapses, and still stop nobody.
    let id = world.raised(&ask_with("run:1", "two", r#""ttl":"PT1M""#)).await;
    world.clock.advance(MINUTE);
    assert_eq!(world.engine.run_due_timers().await.unwrap(), Swept { acted: 1, failed: 3 });
    assert_eq!(world.request(id).await.state, RequestState::Expired);
}

#[tokio::test]
async fn a_timer_that_fires_early_is_put_back() {
    let world = World::new().await;
    let id = world.raised(&ask_with("run:1", "one", r#""ttl":"PT1M""#)).await;
    let deadline = world.request(id).await.expires_at.unwrap();
    let action = format!(r#"{{"do":"expire","request":"{id}"}}"#);
    put_timer(&world, &format!("deadline/{id}"), Timestamp::from_unix_millis(1), &action).await;
    assert_eq!(world.engine.run_due_timers().await.unwrap(), Swept { acted: 1, failed: 0 });
    assert_eq!(world.request(id).await.state, RequestState::Pending);
    assert_eq!(world.next_timer().await, Some(deadline));
    world.clock.advance(MINUTE);
    world.engine.run_due_timers().await.unwrap();
    assert_eq!(world.request(id).await.state, RequestState::Expired);
}

#[tokio::test]
async fn more_deadlines_than_one_claim_takes_are_met_in_one_sweep() {
    let world = World::new().await;
    for place in 0..150 {
        world.raised(&ask_with("run:1", &place.to_string(), r#""ttl":"PT1M""#)).await;
    }
    world.clock.advance(MINUTE);
    assert_eq!(world.engine.run_due_timers().await.unwrap(), Swept { acted: 150, failed: 0 });
    assert_eq!((world.receipts().await.len(), world.next_timer().await), (150, None));
}

#[tokio::test]
async fn a_failed_deadline_comes_back_when_its_claim_lapses() {
    let world = World::new().await;
    let id = world.raised(&ask_with("run:1", "one", r#""ttl":"PT1M""#)).await;
    world.clock.advance(MINUTE);
    world.store.fail_next(handoff_testkit::Fault::Unreachable);
    assert_eq!(world.engine.run_due_timers().await.unwrap(), Swept { acted: 0, failed: 1 });
    assert_eq!(world.request(id).await.state, RequestState::Pending);
    assert_eq!(world.engine.run_due_timers().await.unwrap(), Swept::default(), "its claim still holds");
    world.clock.advance(MINUTE);
    assert_eq!(world.engine.run_due_timers().await.unwrap(), Swept { acted: 1, failed: 0 });
    assert_eq!((world.request(id).await.state, world.receipts().await.len()), (RequestState::Expired, 1));
}

#[tokio::test]
async fn a_worker_that_is_stopped_ends_what_it_claimed_and_leaves_the_rest_unclaimed() {
    let world = Arc::new(World::new().await);
    for place in 0..200 {
        world.raised(&ask_with(&format!("run:{place}"), "one", r#""ttl":"PT1M""#)).await;
    }
    world.clock.advance(MINUTE);
    let working = Arc::clone(&world);
    let worker = tokio::spawn(async move { working.engine.run_timers(Duration::from_millis(50)).await });
    while world.engine.sweep_stats().acted == 0 {
        tokio::task::yield_now().await;
    }
    world.engine.stop_timers();
    worker.await.unwrap();
    let expired = usize::try_from(world.engine.sweep_stats().acted).unwrap();
    let left = world.store.claim_timers(1000, MINUTE).await.unwrap().timers.len();
    assert_eq!(expired + left, 200, "nothing waits for a claim to lapse");
}
