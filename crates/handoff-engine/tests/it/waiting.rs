//! Polls, reattachment and acknowledgement. Tokio's time is paused: it jumps to the next deadline when nothing runs.

use std::{sync::Arc, time::Duration};

use handoff_protocol::{
    decision::{
        DecisionError, ErrorCode, WaiterRef,
        terms::{RequestState, SignalType, WaiterState},
        view::{AckResult, SignalView},
    },
    id::{SignalId, Ulid},
};
use tokio::time::Instant;

use super::world::{World, ask, ask_with, code, json};

const HALF_A_MINUTE: Duration = Duration::from_secs(30);

fn waiter(reference: &str) -> WaiterRef {
    WaiterRef::parse(reference).unwrap()
}

async fn poll(world: &World, reference: &str, wait: Duration) -> Result<Vec<SignalView>, DecisionError> {
    world.engine.signals(&world.machine, &waiter(reference), wait).await.map(|list| list.data)
}

async fn ack(world: &World, signal: &SignalView) -> AckResult {
    let body = json(&format!(r#"{{"resume_token":"{}","applied":true}}"#, signal.resume_token));
    world.engine.acknowledge(&world.machine, signal.id, &body).await.unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_held_poll_wakes_on_the_commit_of_each_ending() {
    let world = Arc::new(World::new().await);
    for (place, expected) in [SignalType::Answered, SignalType::Cancelled, SignalType::Expired].into_iter().enumerate()
    {
        let reference = format!("run:{place}");
        let id = world.raised(&ask_with(&reference, "one", r#""ttl":"PT1M""#)).await;
        let began = Instant::now();
        let (held, watched) = (Arc::clone(&world), Arc::clone(&world));
        let poll = tokio::spawn(async move { poll(&held, &reference, HALF_A_MINUTE).await.unwrap() });
        let watch =
            tokio::spawn(async move { watched.engine.request_settled(&watched.machine, id, HALF_A_MINUTE).await });
        tokio::task::yield_now().await;
        match expected {
            SignalType::Answered => drop(world.answer(id, "k").await.unwrap()),
            SignalType::Cancelled => drop(world.cancel(id, "k").await.unwrap()),
            _ => {
                world.clock.advance(Duration::from_secs(60));
                world.engine.run_due_timers().await.unwrap();
            }
        }
        let signals = poll.await.unwrap();
        assert_eq!(signals.iter().map(|signal| signal.signal_type).collect::<Vec<_>>(), [expected]);
        assert!(watch.await.unwrap().unwrap().state.is_final());
        assert!(began.elapsed() < Duration::from_secs(1), "{:?}", began.elapsed());
    }
}

#[tokio::test(start_paused = true)]
async fn a_wait_without_an_ending_is_empty_at_its_end_and_never_longer_than_half_a_minute() {
    let world = World::new().await;
    let id = world.raised(&ask("run:1", "one")).await;
    for (asked, held) in [(0, 0), (1, 1), (30, 30), (86_400, 30)] {
        let began = Instant::now();
        assert!(poll(&world, "run:1", Duration::from_secs(asked)).await.unwrap().is_empty());
        assert_eq!(began.elapsed().as_secs(), held, "a poll of {asked} s");
        let began = Instant::now();
        let request = world.engine.request_settled(&world.machine, id, Duration::from_secs(asked)).await.unwrap();
        assert_eq!((request.state, began.elapsed().as_secs()), (RequestState::Pending, held));
    }
}

#[tokio::test(start_paused = true)]
async fn a_signal_that_is_there_is_returned_at_once_and_reading_consumes_nothing() {
    let world = World::new().await;
    let id = world.raised(&ask("run:1", "one")).await;
    world.answer(id, "k").await.unwrap();
    let began = Instant::now();
    let first = poll(&world, "run:1", HALF_A_MINUTE).await.unwrap();
    assert_eq!(poll(&world, "run:1", HALF_A_MINUTE).await.unwrap(), first);
    assert_eq!((first.len(), began.elapsed().as_secs()), (1, 0));
    assert_eq!((first[0].request_id, first[0].sequence, first[0].acked_at), (id, 1, None));
}

#[tokio::test(start_paused = true)]
async fn an_unknown_waiter_is_not_found_before_anything_is_held() {
    let world = World::new().await;
    world.raised(&ask("run:1", "one")).await;
    let began = Instant::now();
    for reference in ["run:2", "RUN:1", "run:1 ", "run"] {
        assert_eq!(code(poll(&world, reference, HALF_A_MINUTE).await), ErrorCode::WaiterNotFound);
        let reattached = world.engine.reattach(&world.machine, &waiter(reference)).await;
        assert_eq!(code(reattached), ErrorCode::WaiterNotFound);
        // Asking created nothing.
        assert_eq!(code(poll(&world, reference, Duration::ZERO).await), ErrorCode::WaiterNotFound);
    }
    assert_eq!(began.elapsed(), Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn a_poll_dropped_while_it_is_held_changes_nothing() {
    let world = Arc::new(World::new().await);
    let id = world.raised(&ask("run:1", "one")).await;
    for _ in 0..3 {
        let held = Arc::clone(&world);
        let dropped = tokio::spawn(async move { poll(&held, "run:1", HALF_A_MINUTE).await });
        tokio::task::yield_now().await;
        dropped.abort();
        assert!(dropped.await.unwrap_err().is_cancelled());
    }
    let held = Arc::clone(&world);
    let other = tokio::spawn(async move { poll(&held, "run:1", HALF_A_MINUTE).await.unwrap() });
    tokio::task::yield_now().await;
    world.answer(id, "k").await.unwrap();
    let seen = other.await.unwrap();
    assert_eq!(seen.len(), 1, "the one who stayed is woken");
    assert_eq!(world.signals("run:1").await, seen);
    let reattached = world.engine.reattach(&world.machine, &waiter("run:1")).await.unwrap();
    assert_eq!((reattached.state, reattached.signals), (WaiterState::Signalled, seen));
}

#[tokio::test(start_paused = true)]
async fn a_server_that_stops_ends_the_waits() {
    let world = Arc::new(World::new().await);
    world.raised(&ask("run:1", "one")).await;
    let began = Instant::now();
    let held = Arc::clone(&world);
    let poll_before = tokio::spawn(async move { poll(&held, "run:1", HALF_A_MINUTE).await.unwrap() });
    tokio::task::yield_now().await;
    world.engine.stop_waiting();
    assert!(poll_before.await.unwrap().is_empty());
    assert!(poll(&world, "run:1", HALF_A_MINUTE).await.unwrap().is_empty());
    assert_eq!(began.elapsed(), Duration::ZERO);
}

#[tokio::test]
async fn acknowledging_one_of_two_leaves_exactly_the_other() {
    let world = World::new().await;
    let (one, two) = (world.raised(&ask("run:1", "one")).await, world.raised(&ask("run:1", "two")).await);
    let elsewhere = world.raised(&ask("run:2", "three")).await;
    world.answer(one, "k").await.unwrap();
    world.cancel(two, "k").await.unwrap();
    world.answer(elsewhere, "k").await.unwrap();
    let signals = world.signals("run:1").await;
    assert_eq!(
        signals.iter().map(|signal| (signal.request_id, signal.sequence)).collect::<Vec<_>>(),
        [(one, 1), (two, 2)]
    );
    let first = ack(&world, &signals[0]).await;
    world.clock.advance(Duration::from_secs(5));
    let again = ack(&world, &signals[0]).await;
    assert_eq!((first.first_ack, again.first_ack, again.acked_at), (true, false, first.acked_at));
    assert_eq!(world.signals("run:1").await, signals[1..]);
    assert_eq!(world.signals("run:2").await.len(), 1);
    assert_eq!(world.request(one).await.waiter.state, WaiterState::Acked);
    assert_eq!(world.request(two).await.waiter.state, WaiterState::Released);
}

#[tokio::test]
async fn another_signals_token_and_an_unknown_signal_are_refused() {
    let world = World::new().await;
    for (title, key) in [("one", "a"), ("two", "b")] {
        let id = world.raised(&ask("run:1", title)).await;
        world.answer(id, key).await.unwrap();
    }
    let signals = world.signals("run:1").await;
    let body = json(&format!(r#"{{"resume_token":"{}","applied":true}}"#, signals[1].resume_token));
    let wrong = world.engine.acknowledge(&world.machine, signals[0].id, &body).await;
    assert_eq!(code(wrong), ErrorCode::InvalidRequest);
    let unknown = world.engine.acknowledge(&world.machine, SignalId::from_ulid(Ulid::from_u128(5)), &body).await;
    assert_eq!(code(unknown), ErrorCode::SignalNotFound);
    assert_eq!(world.signals("run:1").await, signals);
}

#[tokio::test]
async fn a_waiter_is_what_its_requests_come_to() {
    let world = World::new().await;
    let state = async || world.engine.reattach(&world.machine, &waiter("a/b:é")).await.unwrap();
    let one = world.raised(&ask("a/b:é", "one")).await;
    let two = world.raised(&ask("a/b:é", "two")).await;
    let now = state().await;
    assert_eq!((now.state, now.open_requests, now.signals.len()), (WaiterState::Armed, vec![one, two], 0));
    world.answer(one, "k").await.unwrap();
    let now = state().await;
    assert_eq!((now.state, now.open_requests, now.signals.len()), (WaiterState::Signalled, vec![two], 1));
    let decision = now.signals[0].decision.as_ref().unwrap();
    assert_eq!(decision.values.to_text(), r#"{"decision":"yes"}"#);
    assert!(decision.receipt_id.is_some());
    ack(&world, &now.signals[0]).await;
    assert_eq!(state().await.state, WaiterState::Armed, "another request still waits");
    world.answer(two, "l").await.unwrap();
    ack(&world, &state().await.signals[0]).await;
    let now = state().await;
    assert_eq!((now.state, now.open_requests.len(), now.signals.len()), (WaiterState::Acked, 0, 0));
}

#[tokio::test]
async fn a_long_queue_is_listed_oldest_first_and_what_is_behind_a_sequence_alone() {
    let world = World::new().await;
    for place in 0..1001 {
        let id = world.raised(&ask("run:1", &place.to_string())).await;
        world.cancel(id, "k").await.unwrap();
    }
    let reference = waiter("run:1");
    let behind = async |sequence| {
        let list = world.engine.signals_after(&world.machine, &reference, sequence, Duration::ZERO).await.unwrap();
        let sequences: Vec<u64> = list.data.iter().map(|signal| signal.sequence).collect();
        (sequences, list.has_more)
    };
    assert_eq!(behind(0).await, ((1..=1000).collect(), true));
    assert_eq!(behind(999).await, (vec![1000, 1001], false));
    assert_eq!(behind(1001).await, (vec![], false));
    ack(&world, &world.signals("run:1").await[0]).await;
    assert_eq!(behind(0).await, ((2..=1001).collect(), false));
}
