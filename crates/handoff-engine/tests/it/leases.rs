//! Leased waiters in virtual time: signs of life, the end of a lease, and the return (W6, W7, X-10).

use std::{sync::Arc, time::Duration};

use handoff_engine::Engine;
use handoff_protocol::{
    decision::{
        ErrorCode, WaiterRef,
        terms::{RequestState, SignalType, WaiterState},
    },
    id::RequestId,
};
use handoff_testkit::Fault;

use super::world::{World, add_machine, ask, ask_with, code, json};

const SECOND: Duration = Duration::from_secs(1);
const KEEP: &str = r#""liveness":"leased","on_waiter_terminal":"keep""#;
const LEASED: &str = r#""liveness":"leased""#;

fn waiter(reference: &str) -> WaiterRef {
    WaiterRef::parse(reference).unwrap()
}

async fn state(world: &World, id: RequestId) -> (RequestState, WaiterState) {
    let request = world.request(id).await;
    (request.state, request.waiter.state)
}

/// Lets time pass, a sweep a second.
async fn pass(world: &World, seconds: u64) {
    for _ in 0..seconds {
        world.clock.advance(SECOND);
        world.engine.run_due_timers().await.unwrap();
    }
}

#[tokio::test]
async fn a_waiter_that_is_silent_for_90_seconds_is_given_up_and_not_a_second_sooner() {
    let world = World::new().await;
    let kept = world.raised(&ask_with("run:1", "one", KEEP)).await;
    let cancelled = world.raised(&ask_with("run:1", "two", LEASED)).await;
    let durable = world.raised(&ask("run:1", "three")).await;
    pass(&world, 89).await;
    assert_eq!(state(&world, kept).await, (RequestState::Pending, WaiterState::Armed));
    pass(&world, 1).await;
    assert_eq!(state(&world, kept).await, (RequestState::Pending, WaiterState::Orphaned));
    assert_eq!(state(&world, cancelled).await, (RequestState::Cancelled, WaiterState::Released));
    assert_eq!(state(&world, durable).await, (RequestState::Pending, WaiterState::Armed));
    assert_eq!(
        world.request(cancelled).await.cancel_reason.as_deref(),
        Some("the program that asked stopped showing that it waits")
    );
    assert_eq!(world.events_of(kept).await, ["request.raised", "waiter.orphaned"]);
    assert_eq!(world.events_of(cancelled).await, ["request.raised", "request.cancelled"]);
    assert_eq!(world.next_timer().await, None, "a lease that ended is not watched any more");
}

#[tokio::test]
async fn an_orphan_is_answerable_and_its_receipt_says_that_nobody_waited() {
    let world = World::new().await;
    let id = world.raised(&ask_with("run:1", "one", KEEP)).await;
    pass(&world, 90).await;
    world.answer(id, "k").await.unwrap();
    let receipt = world.request(id).await.receipt.unwrap();
    assert_eq!(receipt.get("waiter_state_at_decision").unwrap().as_str(), Some("orphaned"));
    assert_eq!(world.signals("run:1").await.len(), 1, "the outcome is there for whoever comes back");
}

#[tokio::test]
async fn reattaching_takes_orphans_up_again_and_nothing_is_lost() {
    let world = World::new().await;
    let mut ids = Vec::new();
    for place in 0..120 {
        ids.push(world.raised(&ask_with("run:1", &place.to_string(), KEEP)).await);
    }
    pass(&world, 90).await;
    for id in &ids {
        assert_eq!(state(&world, *id).await.1, WaiterState::Orphaned);
    }
    let reattached = world.engine.reattach(&world.machine, &waiter("run:1")).await.unwrap();
    assert_eq!((reattached.state, reattached.open_requests), (WaiterState::Armed, ids.clone()));
    for id in &ids {
        assert_eq!(state(&world, *id).await, (RequestState::Pending, WaiterState::Armed));
    }
    // The lease runs afresh.
    pass(&world, 89).await;
    assert_eq!(state(&world, ids[0]).await.1, WaiterState::Armed);
    pass(&world, 1).await;
    assert_eq!(state(&world, ids[0]).await.1, WaiterState::Orphaned);
}

#[tokio::test]
async fn polls_renew_a_lease_and_one_write_in_half_a_minute_says_so() {
    let world = World::new().await;
    let id = world.raised(&ask_with("run:1", "one", LEASED)).await;
    let before = world.store.transactions();
    for _ in 0..600 {
        assert!(world.signals("run:1").await.is_empty());
        pass(&world, 1).await;
    }
    let written = world.store.transactions() - before;
    assert!((19..=21).contains(&written), "{written} transactions in 600 seconds of polling");
    assert_eq!(state(&world, id).await, (RequestState::Pending, WaiterState::Armed));
    // The last poll was a second ago, whatever was written when.
    pass(&world, 88).await;
    assert_eq!(state(&world, id).await.0, RequestState::Pending);
    pass(&world, 1).await;
    assert_eq!(state(&world, id).await.0, RequestState::Cancelled);
}

#[tokio::test]
async fn polls_of_a_durable_waiter_write_nothing() {
    let world = World::new().await;
    world.raised(&ask("run:1", "one")).await;
    let before = world.store.transactions();
    for _ in 0..300 {
        world.signals("run:1").await;
        world.engine.reattach(&world.machine, &waiter("run:1")).await.unwrap();
        pass(&world, 1).await;
    }
    assert_eq!(world.store.transactions(), before);
}

#[tokio::test(start_paused = true)]
async fn a_poll_that_is_held_shows_life_until_it_ends_or_is_hung_up() {
    let world = Arc::new(World::new().await);
    let id = world.raised(&ask_with("run:1", "one", LEASED)).await;
    for hung_up in [false, true] {
        pass(&world, 60).await;
        let held = Arc::clone(&world);
        let poll = tokio::spawn(async move { held.engine.signals(&held.machine, &waiter("run:1"), 30 * SECOND).await });
        tokio::task::yield_now().await;
        pass(&world, 29).await;
        if hung_up {
            poll.abort();
        } else {
            tokio::time::advance(30 * SECOND).await;
        }
        assert_eq!(poll.await.is_err(), hung_up);
        pass(&world, 89).await;
        assert_eq!(state(&world, id).await.0, RequestState::Pending, "hung up: {hung_up}");
        world.signals("run:1").await;
    }
    pass(&world, 90).await;
    assert_eq!(state(&world, id).await.0, RequestState::Cancelled);
}

#[tokio::test(start_paused = true)]
async fn waiting_for_a_request_is_a_sign_of_life_of_whoever_asked_and_of_nobody_else() {
    let world = World::new().await;
    let id = world.raised(&ask_with("run:1", "one", LEASED)).await;
    pass(&world, 60).await;
    world.engine.request_settled(&world.machine, id, SECOND).await.unwrap();
    pass(&world, 60).await;
    world.engine.request_settled(&world.person, id, SECOND).await.unwrap();
    world.engine.request(&world.machine, id).await.unwrap();
    pass(&world, 29).await;
    assert_eq!(state(&world, id).await.0, RequestState::Pending);
    pass(&world, 1).await;
    assert_eq!(state(&world, id).await.0, RequestState::Cancelled);
}

#[tokio::test]
async fn an_acknowledgement_is_a_sign_of_life() {
    let world = World::new().await;
    let id = world
        .raised(&ask_with("run:1", "one", r#""liveness":"leased","on_waiter_terminal":"keep","ttl":"PT5M""#))
        .await;
    world.engine.arm_attempt(&world.machine, id, json(r#"{"ttl":"PT10S"}"#), None).await.unwrap();
    pass(&world, 90).await;
    assert_eq!(state(&world, id).await.1, WaiterState::Orphaned);
    let nudge = world.engine.waiter_ended(&world.machine, &waiter("run:1")).await.unwrap().signals.remove(0);
    assert_eq!(nudge.signal_type, SignalType::AttemptLapsed);
    let body = json(&format!(r#"{{"resume_token":"{}","applied":true}}"#, nudge.resume_token));
    world.engine.acknowledge(&world.machine, nudge.id, &body).await.unwrap();
    assert_eq!(state(&world, id).await.1, WaiterState::Armed);
    pass(&world, 89).await;
    assert_eq!(state(&world, id).await.1, WaiterState::Armed);
    pass(&world, 1).await;
    assert_eq!(state(&world, id).await.1, WaiterState::Orphaned);
}

#[tokio::test]
async fn a_runtime_that_reports_its_end_is_given_up_at_once_whatever_its_liveness() {
    let world = World::new().await;
    let kept = world.raised(&ask("run:1", "one")).await;
    let cancelled = world.raised(&ask_with("run:1", "two", r#""on_waiter_terminal":"cancel""#)).await;
    let leased = world.raised(&ask_with("run:1", "three", LEASED)).await;
    let elsewhere = world.raised(&ask("run:2", "four")).await;
    let standing = world.engine.waiter_ended(&world.machine, &waiter("run:1")).await.unwrap();
    assert_eq!((standing.state, standing.open_requests), (WaiterState::Signalled, vec![kept]));
    assert_eq!(state(&world, kept).await, (RequestState::Pending, WaiterState::Orphaned));
    for id in [cancelled, leased] {
        let request = world.request(id).await;
        assert_eq!(request.state, RequestState::Cancelled);
        assert_eq!(request.cancel_reason.as_deref(), Some("the program that asked has ended"));
    }
    assert_eq!(state(&world, elsewhere).await, (RequestState::Pending, WaiterState::Armed));
    let again = world.engine.waiter_ended(&world.machine, &waiter("run:1")).await.unwrap();
    assert_eq!(again.signals.len(), 2, "a second report signals nothing more");
    // It comes back by asking anew.
    world.raised(&ask("run:1", "five")).await;
    assert_eq!(state(&world, kept).await, (RequestState::Pending, WaiterState::Armed));
}

#[tokio::test]
async fn only_a_program_that_raised_under_a_waiter_can_say_that_it_ended() {
    let world = World::new().await;
    let id = world.raised(&ask("run:1", "one")).await;
    let other = add_machine(&world.engine, world.tenant).await;
    for principal in [&other, &world.person] {
        let refused = world.engine.waiter_ended(principal, &waiter("run:1")).await;
        assert_eq!(code(refused), ErrorCode::InsufficientScope);
    }
    let unknown = world.engine.waiter_ended(&world.machine, &waiter("run:2")).await;
    assert_eq!(code(unknown), ErrorCode::WaiterNotFound);
    assert_eq!(state(&world, id).await, (RequestState::Pending, WaiterState::Armed));
}

#[tokio::test]
async fn a_server_that_was_away_does_not_hold_the_silence_against_a_waiter() {
    let world = World::new().await;
    let id = world.raised(&ask_with("run:1", "one", LEASED)).await;
    world.clock.advance(Duration::from_secs(3600));
    let engine = Engine::builder().store(Arc::clone(world.engine.store())).clock(Arc::new(world.clock.clone()));
    let restarted = engine.build().await.unwrap();
    for _ in 0..89 {
        restarted.run_due_timers().await.unwrap();
        world.clock.advance(SECOND);
    }
    assert_eq!(state(&world, id).await.0, RequestState::Pending);
    world.clock.advance(SECOND);
    restarted.run_due_timers().await.unwrap();
    assert_eq!(state(&world, id).await.0, RequestState::Cancelled);
}

#[tokio::test]
async fn a_waiter_with_nothing_leased_left_stops_writing() {
    let world = World::new().await;
    let id = world.raised(&ask_with("run:1", "one", LEASED)).await;
    world.raised(&ask("run:1", "two")).await;
    world.answer(id, "k").await.unwrap();
    pass(&world, 95).await;
    let before = world.store.transactions();
    for _ in 0..120 {
        world.signals("run:1").await;
        pass(&world, 1).await;
    }
    assert_eq!(world.store.transactions(), before);
}

#[tokio::test]
async fn asking_again_takes_up_what_was_orphaned_before_it_answers() {
    let world = World::new().await;
    let id = world.raised(&ask("run:1", "one")).await;
    world.engine.waiter_ended(&world.machine, &waiter("run:1")).await.unwrap();
    let again = world.raise(&ask("run:1", "one"), "k").await.unwrap();
    assert_eq!((again.created, again.request.id), (false, id));
    assert_eq!(again.request.waiter.state, WaiterState::Armed);
    let before = world.store.transactions();
    world.signals("run:1").await;
    assert_eq!(world.store.transactions(), before, "it is an ordinary waiter again");
}

#[tokio::test]
async fn a_waiter_that_left_very_much_behind_is_given_up_page_by_page() {
    let world = World::new().await;
    for place in 0..400 {
        world.raised(&ask_with("run:1", &place.to_string(), LEASED)).await;
    }
    let urgent = world.raised(&ask_with("run:2", "one", r#""ttl":"PT91S""#)).await;
    world.clock.advance(90 * SECOND);
    world.engine.run_due_timers().await.unwrap();
    world.clock.advance(SECOND);
    world.engine.run_due_timers().await.unwrap();
    assert_eq!(state(&world, urgent).await.0, RequestState::Expired);
    assert_eq!(world.signals("run:1").await.len(), 400, "each of them ended");
}

#[tokio::test]
async fn an_old_token_takes_an_orphan_up_again_and_a_crash_in_between_leaves_it_watched() {
    let world = World::new().await;
    let id = world.raised(&ask_with("run:1", "one", KEEP)).await;
    world.engine.arm_attempt(&world.machine, id, json(r#"{"ttl":"PT2S"}"#), None).await.unwrap();
    pass(&world, 3).await;
    let nudge = world.signals("run:1").await.remove(0);
    world.engine.waiter_ended(&world.machine, &waiter("run:1")).await.unwrap();
    assert_eq!(state(&world, id).await, (RequestState::Pending, WaiterState::Orphaned));
    let body = json(&format!(r#"{{"resume_token":"{}","applied":true}}"#, nudge.resume_token));
    // The acknowledgement is written, and the sign of life that it is comes to nothing.
    world.store.fail_after(1, Fault::Unreachable);
    world.engine.acknowledge(&world.machine, nudge.id, &body).await.unwrap_err();
    assert_eq!(state(&world, id).await, (RequestState::Pending, WaiterState::Orphaned));
    let again = world.engine.acknowledge(&world.machine, nudge.id, &body).await.unwrap();
    assert!(!again.first_ack);
    assert_eq!(state(&world, id).await, (RequestState::Pending, WaiterState::Armed));
    let events = world.events_of(id).await;
    assert_eq!(events.last().map(String::as_str), Some("waiter.rearmed"));
    pass(&world, 91).await;
    assert_eq!(state(&world, id).await, (RequestState::Pending, WaiterState::Orphaned), "and is watched from then on");
}
