//! One envelope for everything that goes wrong, and the headers that every response has.

use handoff_testkit::Fault;

use crate::{
    client::Reply,
    world::{World, question},
};

fn assert_dressed(reply: &Reply) {
    assert_eq!(reply.header("cache-control"), Some("no-store"));
    assert_eq!(reply.header("x-content-type-options"), Some("nosniff"));
    assert!(reply.header("x-request-id").is_some_and(|id| !id.is_empty()));
    assert!(reply.header("location").is_none());
}

#[tokio::test]
async fn unknown_paths_are_said_to_be_no_endpoints() {
    let world = World::new().await;
    let paths = [
        "/",
        "/v2",
        "/v1",
        "/v1/",
        "/v1/requests/",
        "/v1/nothing",
        "/v1/requests/a/nothing",
        "/v1/requests/a/answer/",
        "/v1/waiters/a/b/signals",
        "/elsewhere",
        "/v1/receipts/chain-head/x",
    ];
    for path in paths {
        for method in ["GET", "POST", "DELETE"] {
            let reply = world.call(method, path).send().await;
            assert_eq!((reply.status.as_u16(), reply.code()), (404, "invalid_request".into()), "{method} {path}");
            assert!(reply.str("error.message").contains("no such endpoint"), "{path}");
            assert_eq!(reply.header("content-type"), Some("application/json"));
            assert_dressed(&reply);
        }
    }
}

#[tokio::test]
async fn a_wrong_method_is_told_which_ones_there_are() {
    let world = World::new().await;
    let cases = [
        ("DELETE", "/v1/requests", &["GET", "HEAD", "POST"][..]),
        ("GET", "/v1/requests/req_x/answer", &["POST"]),
        ("POST", "/v1/meta", &["GET", "HEAD"]),
        ("OPTIONS", "/v1/receipts", &["GET", "HEAD"]),
        ("BREW", "/v1/keys", &["GET", "HEAD"]),
    ];
    for (method, path, wanted) in cases {
        let reply = world.call(method, path).token(&world.home.machine).expect(405).await;
        assert_eq!(reply.code(), "invalid_request");
        let mut allowed: Vec<&str> = reply.header("allow").expect("an Allow header").split(',').collect();
        allowed.sort_unstable();
        assert_eq!(allowed, wanted, "{method} {path}");
        assert_dressed(&reply);
    }
}

#[tokio::test]
async fn a_panic_is_ours_and_the_next_call_is_served() {
    let world = World::new().await;
    world.clock.trip();
    let reply = world.get("/v1/requests").token(&world.home.machine).expect(500).await;
    assert_eq!(reply.code(), "internal_error");
    assert!(!reply.text().contains("planted"));
    assert_dressed(&reply);
    world.get("/v1/requests").token(&world.home.machine).expect(200).await;
}

#[tokio::test]
async fn a_store_that_fails_is_our_fault_and_repeating_is_safe() {
    let world = World::new().await;
    let raise = || world.post("/v1/requests", question("run:1", "Ship it?")).token(&world.home.machine).key("k");
    world.store.fail_next(Fault::Unreachable);
    let away = raise().expect(503).await;
    assert_eq!((away.code().as_str(), away.header("retry-after")), ("internal_error", Some("1")));
    world.store.fail_next(Fault::LostAfterCommit);
    assert_eq!(raise().expect(500).await.code(), "internal_error");
    let found = raise().expect(200).await;
    let listed = world.get("/v1/requests").token(&world.home.machine).expect(200).await;
    assert_eq!(listed.at("data").as_array().map(<[_]>::len), Some(1));
    assert_eq!(listed.at("data.0.id"), found.at("id"));
}

#[tokio::test]
async fn a_head_has_the_headers_of_a_get_and_no_body() {
    let world = World::new().await;
    let request = world.raise("run:1").await.str("id");
    let head = world.call("HEAD", &format!("/v1/requests/{request}")).token(&world.home.machine).expect(200).await;
    assert!(head.body.is_empty());
    assert_dressed(&head);
}

#[tokio::test]
async fn every_call_has_an_id_of_its_own_whatever_was_sent() {
    let world = World::new().await;
    let one = world.get("/v1/meta").header("x-request-id", "mine").expect(200).await;
    let two = world.get("/v1/meta").header("x-request-id", "mine").expect(200).await;
    assert_ne!(one.header("x-request-id"), two.header("x-request-id"));
    assert_ne!(one.header("x-request-id"), Some("mine"));
}
