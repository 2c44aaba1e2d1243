//! Rate limits: real, by credential, and told on every response.

use std::time::Duration;

use futures::future::join_all;
use handoff_http::HttpOptions;

use crate::{
    client::Reply,
    world::{Tenant, World, question},
};

async fn limited(calls: u32) -> World {
    World::with(HttpOptions::default().rate_limit_per_minute(calls)).await
}

/// Limit, remaining, and seconds to the reset.
fn told(world: &World, reply: &Reply) -> (i64, i64, i64) {
    let number = |name: &str| reply.header(name).unwrap_or_else(|| panic!("no {name}")).parse::<i64>().unwrap();
    let reset = number("x-ratelimit-reset") - world.time_now().unix_seconds();
    (number("x-ratelimit-limit"), number("x-ratelimit-remaining"), reset)
}

#[tokio::test]
async fn calls_beyond_the_limit_are_refused_until_the_minute_is_over() {
    let world = limited(3).await;
    world.time.advance(Duration::from_secs(20));
    let list = || world.get("/v1/requests").token(&world.home.machine);
    for remaining in [2, 1, 0] {
        assert_eq!(told(&world, &list().expect(200).await), (3, remaining, 40));
    }
    let refused = list().expect(429).await;
    assert_eq!((refused.code(), refused.header("retry-after")), ("rate_limited".into(), Some("40")));
    assert_eq!(told(&world, &refused), (3, 0, 40));
    assert_eq!(refused.header("cache-control"), Some("no-store"));
    // Nothing comes of a call that is refused.
    let raise = || world.post("/v1/requests", question("run:1", "?")).token(&world.home.machine).key("k");
    assert_eq!(raise().expect(429).await.code(), "rate_limited");
    // It is nobody else's minute.
    assert_eq!(told(&world, &world.get("/v1/requests").token(&world.home.editor).expect(200).await), (3, 2, 40));
    let other = Tenant::new(&world.engine).await;
    world.get("/v1/requests").token(&other.machine).expect(200).await;
    world.time.advance(Duration::from_secs(40));
    assert_eq!(told(&world, &raise().expect(201).await), (3, 2, 60));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_many_calls_at_once_no_more_than_the_limit_are_let_through() {
    let world = limited(20).await;
    let replies = join_all((0..60).map(|_| world.get("/v1/requests").token(&world.home.machine).send())).await;
    let through = replies.iter().filter(|reply| reply.status == 200).count();
    let refused = replies.iter().filter(|reply| reply.status == 429).count();
    assert_eq!((through, refused), (20, 40));
}

#[tokio::test]
async fn a_cookie_and_a_bearer_token_are_one_credential() {
    let world = limited(2).await;
    let cookie = format!("handoff_session={}", world.home.editor);
    world.get("/v1/requests").header("cookie", &cookie).expect(200).await;
    world.get("/v1/requests").token(&world.home.editor).expect(200).await;
    world.get("/v1/requests").header("cookie", &cookie).expect(429).await;
}

#[tokio::test]
async fn tokens_that_are_nobodys_use_up_nothing() {
    let world = limited(2).await;
    for place in 0..10 {
        let unknown = world.get("/v1/requests").token(&format!("hk_unknown{}", place % 2)).expect(401).await;
        assert_eq!(told(&world, &unknown), (2, 2, 60));
        world.get("/v1/requests").expect(401).await;
        world.get("/v1/meta").expect(200).await;
    }
    assert_eq!(told(&world, &world.get("/v1/requests").token(&world.home.machine).expect(200).await).1, 1);
}

#[tokio::test]
async fn every_response_tells_of_the_limit() {
    let world = World::new().await;
    world.raise("run:1").await;
    let machine = world.home.machine.as_str();
    let calls = [
        (world.get("/v1/requests").token(machine), 200),
        (world.post("/v1/requests", question("run:2", "?")).token(machine), 201),
        (world.get("/v1/waiters/run:1/signals?wait=1").token(machine), 204),
        (world.post("/v1/requests", "{").token(machine), 400),
        (world.get("/v1/requests"), 401),
        (world.get("/v1/requests").header("authorization", "nonsense"), 401),
        (world.post("/v1/requests", question("run:2", "?")).token(&world.home.editor), 403),
        (world.get("/v1/requests/req_x").token(machine), 404),
        (world.get("/v1/nothing").token(machine), 404),
        (world.get("/nothing").token(machine), 404),
        (world.get("/nothing"), 404),
        (world.call("DELETE", "/v1/requests").token(machine), 405),
        (world.call("HEAD", "/v1/requests").token(machine), 200),
        (world.get("/v1/meta"), 200),
        (world.get("/v1/keys"), 200),
        (world.get("/.well-known/handoff-keys.json"), 200),
    ];
    for (place, (call, status)) in calls.into_iter().enumerate() {
        let (limit, remaining, reset) = told(&world, &call.expect(status).await);
        assert_eq!((limit, reset), (1000, 60), "{place}");
        assert!((900..=1000).contains(&remaining), "{place}: {remaining}");
    }
    // What is no endpoint is not counted, and tells of what was.
    let before = told(&world, &world.get("/v1/requests").token(machine).expect(200).await).1;
    assert_eq!(told(&world, &world.get("/nothing").token(machine).expect(404).await).1, before);
    world.clock.trip();
    told(&world, &world.get("/v1/requests").token(machine).expect(500).await);
}

#[tokio::test]
async fn without_a_limit_the_headers_stay_and_nobody_is_refused() {
    let world = limited(0).await;
    for _ in 0..5 {
        let reply = world.get("/v1/requests").token(&world.home.machine).expect(200).await;
        assert_eq!(told(&world, &reply), (1000, 1000, 60));
    }
}
