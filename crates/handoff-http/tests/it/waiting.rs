//! Long polls: they wake on commit, end by themselves, and leave nothing behind.

use std::time::{Duration, Instant};

use futures::future::join_all;
use handoff_protocol::json::Json;

use crate::{
    logs::Log,
    world::{World, question},
};

/// Far less than any hold and far more than a wake takes.
const PROMPT: Duration = Duration::from_secs(10);

// One thread: the server runs on until it waits, so a poll that was authenticated is held before the test goes on.
#[tokio::test]
async fn a_held_poll_wakes_when_a_person_answers() {
    let world = World::new().await;
    let request = world.raise("run:1").await.str("id");
    let mut calls = world.clock.reads();
    let started = Instant::now();
    let poll = tokio::spawn(world.get("/v1/waiters/run:1/signals?wait=30").token(&world.home.machine).expect(200));
    calls.changed().await.unwrap();
    assert!(!poll.is_finished());
    world.approve(&request).await;
    let heard = poll.await.unwrap();
    assert!(started.elapsed() < PROMPT);
    assert_eq!(heard.str("data.0.request_id"), request);
}

#[tokio::test]
async fn a_held_request_wakes_when_its_deadline_ends_it() {
    let world = World::new().await;
    let request = world.raise("run:1").await.str("id");
    let mut calls = world.clock.reads();
    let started = Instant::now();
    let path = format!("/v1/requests/{request}?wait=30");
    let held = tokio::spawn(world.get(&path).token(&world.home.machine).expect(200));
    calls.changed().await.unwrap();
    world.pass(Duration::from_secs(3600)).await;
    let ended = held.await.unwrap();
    assert!(started.elapsed() < PROMPT);
    assert_eq!(ended.str("state"), "expired");
    assert_eq!(ended.str("receipt.kind"), "policy");
}

#[tokio::test]
async fn a_wait_that_hears_nothing_ends_by_itself() {
    let world = World::new().await;
    let request = world.raise("run:1").await.str("id");
    let started = Instant::now();
    let silence = world.get("/v1/waiters/run:1/signals?wait=1").token(&world.home.machine).expect(204).await;
    assert!(silence.body.is_empty());
    assert_eq!(silence.header("cache-control"), Some("no-store"));
    assert!(silence.header("x-request-id").is_some());
    assert!(started.elapsed() >= Duration::from_secs(1));
    let path = format!("/v1/requests/{request}?wait=1");
    let pending = world.get(&path).token(&world.home.machine).expect(200).await;
    assert_eq!(pending.str("state"), "pending");
}

#[tokio::test]
async fn a_poll_that_its_caller_drops_ends_on_the_server_and_changes_nothing() {
    let log = Log::capture();
    let world = World::new().await;
    let request = world.raise("run:1").await.str("id");
    let mut calls = world.clock.reads();
    let poll = tokio::spawn(world.get("/v1/waiters/run:1/signals?wait=30").token(&world.home.machine).send());
    calls.changed().await.unwrap();
    poll.abort();
    assert!(poll.await.unwrap_err().is_cancelled());
    // The raise is over, and so is the poll: long before its wait would have ended it.
    tokio::time::timeout(PROMPT, log.calls_over(2)).await.unwrap();
    world.approve(&request).await;
    let poll = || world.get("/v1/waiters/run:1/signals?wait=30").token(&world.home.machine).expect(200);
    let heard = poll().await;
    assert_eq!((heard.str("data.0.type"), heard.at("data.0.sequence")), ("answered".into(), Json::from(1)));
    assert_eq!(poll().await.body, heard.body);
    let reattach = world.post("/v1/waiters/run:1/reattach", "{}").token(&world.home.machine);
    let reattached = reattach.expect(200).await;
    assert_eq!(reattached.str("state"), "signalled");
    assert_eq!(reattached.at("signals.0"), heard.at("data.0"));
}

#[tokio::test]
async fn a_waiter_that_nobody_raised_under_is_told_at_once_even_with_a_wait() {
    let world = World::new().await;
    let started = Instant::now();
    for waiter in ["never", "%FF", &"x".repeat(513), "%2F", ""] {
        let path = format!("/v1/waiters/{waiter}/signals?wait=30");
        let unknown = world.get(&path).token(&world.home.machine).expect(404).await;
        assert_eq!(unknown.code(), "waiter_not_found");
        let path = format!("/v1/waiters/{waiter}/reattach");
        let same = world.post(&path, "").token(&world.home.machine).expect(404).await;
        assert_eq!(same.body, unknown.body);
    }
    assert!(started.elapsed() < PROMPT);
}

#[tokio::test]
async fn a_wait_that_is_no_whole_number_is_refused() {
    let world = World::new().await;
    let request = world.raise("run:1").await.str("id");
    for wait in ["-1", "soon", "1.5", ""] {
        for path in ["/v1/waiters/run:1/signals".to_owned(), format!("/v1/requests/{request}")] {
            let refused = world.get(&format!("{path}?wait={wait}")).token(&world.home.machine).expect(400).await;
            assert_eq!(refused.code(), "invalid_request", "{wait}");
        }
    }
}

#[tokio::test]
async fn waits_that_the_server_ends_are_over() {
    let world = World::new().await;
    world.raise("run:1").await;
    let mut calls = world.clock.reads();
    let started = Instant::now();
    let poll = tokio::spawn(world.get("/v1/waiters/run:1/signals?wait=30").token(&world.home.machine).expect(204));
    calls.changed().await.unwrap();
    world.engine.stop_waiting();
    poll.await.unwrap();
    assert!(started.elapsed() < PROMPT);
}

#[tokio::test]
async fn polls_that_time_out_by_the_hundred_write_nothing() {
    let world = World::new().await;
    let request = world.raise("run:1").await.str("id");
    let before = world.store.transactions();
    let started = Instant::now();
    let poll = |place: usize| {
        let path = match place % 3 {
            0 => "/v1/waiters/run:1/signals?wait=1".to_owned(),
            1 => format!("/v1/requests/{request}?wait=1"),
            _ => "/v1/waiters/run:1/signals".to_owned(),
        };
        world.get(&path).token(&world.home.machine).send()
    };
    let replies = join_all((0..300).map(poll)).await;
    assert!(replies.iter().all(|reply| matches!(reply.status.as_u16(), 200 | 204)));
    assert_eq!(replies.iter().filter(|reply| reply.status == 204).count(), 100);
    assert!(started.elapsed() >= Duration::from_secs(1));
    assert_eq!(world.store.transactions(), before);
}

#[tokio::test]
async fn clients_that_hang_up_mid_poll_lose_nothing_and_leave_no_task() {
    let log = Log::capture();
    let world = World::new().await;
    let request = world.raise("run:1").await.str("id");
    let before = world.store.transactions();
    for _ in 0..50 {
        let mut calls = world.clock.reads();
        let poll = tokio::spawn(world.get("/v1/waiters/run:1/signals?wait=30").token(&world.home.machine).send());
        calls.changed().await.unwrap();
        poll.abort();
        assert!(poll.await.unwrap_err().is_cancelled());
    }
    tokio::time::timeout(PROMPT, log.calls_over(51)).await.unwrap();
    let metrics = world.get("/metrics").expect(200).await;
    assert!(metrics.text().lines().any(|line| line == "handoff_held_polls 0"), "{}", metrics.text());
    assert_eq!(world.store.transactions(), before);
    world.approve(&request).await;
    let heard = world.get("/v1/waiters/run:1/signals?wait=30").token(&world.home.machine).expect(200).await;
    assert_eq!((heard.str("data.0.request_id"), heard.at("data.0.sequence")), (request, Json::from(1)));
}

#[tokio::test]
async fn an_answer_that_comes_before_the_first_poll_is_there_ten_minutes_later() {
    let world = World::new().await;
    let request = world.raise("run:1").await.str("id");
    world.approve(&request).await;
    world.pass(Duration::from_secs(600)).await;
    let started = Instant::now();
    let heard = world.get("/v1/waiters/run:1/signals?wait=30").token(&world.home.machine).expect(200).await;
    assert_eq!(heard.str("data.0.request_id"), request);
    assert!(started.elapsed() < PROMPT);
}

#[tokio::test]
async fn a_leased_waiter_that_falls_silent_leaves_its_request_to_its_declaration() {
    let world = World::new().await;
    let leased = |waiter: &str, terminal: &str| {
        let more = format!(r#","liveness":"leased","on_waiter_terminal":"{terminal}"}}"#);
        format!("{}{more}", question(waiter, "Ship it?").strip_suffix('}').unwrap())
    };
    let machine = &world.home.machine;
    let raise = |body: String| world.post("/v1/requests", body).token(machine).expect(201);
    let kept = raise(leased("run:kept", "keep")).await.str("id");
    let cancelled = raise(leased("run:cancelled", "cancel")).await.str("id");
    world.pass(Duration::from_secs(90)).await;
    let request = world.get(&format!("/v1/requests/{kept}")).token(machine).expect(200).await;
    assert_eq!((request.str("state"), request.str("waiter.state")), ("pending".into(), "orphaned".into()));
    assert_eq!(request.str("waiter.liveness"), "leased");
    let request = world.get(&format!("/v1/requests/{cancelled}")).token(machine).expect(200).await;
    assert_eq!(request.str("state"), "cancelled");
    let reattach = world.post("/v1/waiters/run:kept/reattach", "{}").token(machine).expect(200).await;
    assert_eq!((reattach.str("state"), reattach.str("open_requests.0")), ("armed".into(), kept.clone()));
    // Its end is told twice: the second time changes nothing.
    for _ in 0..2 {
        let ended = world.post("/v1/waiters/run:kept/terminal", "").token(machine).expect(200).await;
        assert_eq!(ended.str("state"), "orphaned");
    }
    world.post("/v1/waiters/run:none/terminal", "").token(machine).expect(404).await;
    world.approve(&kept).await;
    let receipt = world.get(&format!("/v1/requests/{kept}/receipt")).token(machine).expect(200).await;
    assert_eq!(receipt.str("waiter_state_at_decision"), "orphaned");
}
