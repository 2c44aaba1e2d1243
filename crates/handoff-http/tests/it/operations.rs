//! What operators ask: alive, ready, counted.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use handoff_engine::Engine;
use handoff_http::{HttpOptions, operations};

use crate::{
    client::Call,
    stuck::Stuck,
    world::{World, serve},
};

#[tokio::test]
async fn a_server_is_alive_and_ready_while_its_store_answers() {
    let world = World::new().await;
    let alive = world.get("/healthz").expect(200).await;
    assert_eq!((alive.text(), alive.header("cache-control")), ("ok", Some("no-store")));
    assert_eq!(alive.header("content-type"), Some("text/plain; charset=utf-8"));
    world.get("/readyz").expect(200).await;
    world.post("/readyz", "").expect(405).await;
}

#[tokio::test]
async fn a_store_that_fails_or_hangs_makes_a_server_unready_and_not_dead() {
    for stuck in [Stuck::Fails, Stuck::Hangs] {
        let engine = Engine::builder().store(Arc::new(stuck)).build().await.unwrap();
        let (address, server) = serve(operations(engine, HttpOptions::default())).await;
        let started = Instant::now();
        let unready = Call::new(address, "GET", "/readyz").expect(503).await;
        assert_eq!(unready.text(), "the store does not answer");
        assert!(started.elapsed() < Duration::from_secs(5));
        assert_eq!(Call::new(address, "GET", "/healthz").expect(200).await.text(), "ok");
        server.abort();
    }
}

#[tokio::test]
async fn metrics_count_calls_by_route_and_never_by_what_was_sent() {
    let world = World::new().await;
    let request = world.raise("run:1").await.str("id");
    world.get("/v1/requests/req_t0p-s3cret").token(&world.home.machine).expect(404).await;
    world.get("/t0p-s3cret").expect(404).await;
    world.call("S3CRET", "/v1/requests").expect(405).await;
    let held = world.get("/v1/waiters/run:1/signals?wait=30").token(&world.home.machine);
    let mut calls = world.clock.reads();
    let held = tokio::spawn(held.expect(200));
    calls.changed().await.unwrap();
    let metrics = async || world.get("/metrics").expect(200).await.text().to_owned();
    let text = metrics().await;
    assert!(text.contains("handoff_held_polls 1\n"), "{text}");
    world.approve(&request).await;
    held.await.unwrap();
    world.raise("run:2").await;
    world.time.advance(Duration::from_secs(3601));
    world.pass(Duration::from_secs(2)).await;
    let text = metrics().await;
    for line in [
        r#"handoff_http_requests_total{route="/v1/requests",method="POST",status="201"} 2"#,
        r#"handoff_http_requests_total{route="/v1/requests/{request_id}",method="GET",status="404"} 1"#,
        r#"handoff_http_requests_total{route="/v1/requests",method="other",status="405"} 1"#,
        r#"handoff_http_requests_total{route="none",method="GET",status="404"} 1"#,
        r#"handoff_http_request_duration_seconds_count{route="/v1/requests"} 3"#,
        "handoff_held_polls 0",
        "handoff_timers_acted_total 2",
        "handoff_timers_failed_total 0",
        "handoff_sweep_lag_seconds 3602.0",
        "handoff_sends_started_total 0",
        "handoff_sends_succeeded_total 0",
        "handoff_sends_failed_total 0",
        "handoff_sends_postponed_total 0",
        "handoff_callback_endpoints_disabled_total 0",
        "# EOF",
    ] {
        assert!(text.lines().any(|there| there == line), "no {line} in {text}");
    }
    assert!(!text.to_lowercase().contains("s3cret"), "{text}");
}
