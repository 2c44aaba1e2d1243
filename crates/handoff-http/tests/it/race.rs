//! Many answers at once: one of them counts.

use std::collections::BTreeSet;

use futures::future::join_all;
use handoff_http::HttpOptions;
use handoff_protocol::json::Json;

use crate::world::{World, question};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_two_hundred_answers_at_once_one_wins_and_the_others_learn_whose_receipt_stands() {
    let world = World::new().await;
    let request = world.raise("run:1").await.str("id");
    let path = format!("/v1/requests/{request}/answer");
    let replies = join_all((0..200).map(|caller| {
        let choice = if caller % 2 == 0 { "approve" } else { "reject" };
        let body = format!(r#"{{"values":{{"decision":"{choice}"}}}}"#);
        world.post(&path, body).token(&world.home.editor).key(&format!("key-{caller}")).send()
    }))
    .await;
    let (won, lost): (Vec<_>, Vec<_>) = replies.iter().partition(|reply| reply.status == 200);
    assert_eq!((won.len(), lost.len()), (1, 199));
    assert!(lost.iter().all(|reply| reply.status == 409 && reply.code() == "already_answered"));
    let named: BTreeSet<String> = lost.iter().map(|reply| reply.str("error.receipt_id")).collect();
    assert_eq!(named, BTreeSet::from([won[0].str("receipt.id")]));

    let signals = world.get("/v1/waiters/run:1/signals").token(&world.home.machine).expect(200).await;
    assert_eq!(signals.at("data").as_array().map(<[Json]>::len), Some(1));
    let head = world.get("/v1/receipts/chain-head").token(&world.home.machine).expect(200).await;
    assert_eq!(head.at("height"), Json::from(1));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_many_redemptions_at_once_one_is_the_first() {
    let world = World::new().await;
    let request = world.raise("run:1").await.str("id");
    let authorization = world.approve(&request).await.str("authorization.id");
    let path = format!("/v1/authorizations/{authorization}/redeem");
    let replies = join_all(
        (0..50).map(|_| world.post(&path, r#"{"effect_key":"refund"}"#).token(&world.home.machine).expect(200)),
    )
    .await;
    let first = replies.iter().filter(|reply| reply.at("first_redemption") == Json::Bool(true)).count();
    assert_eq!(first, 1);
}

/// 64 calls a round, all under one key, go out at the same moment.
async fn raises_under_one_key(rounds: usize) {
    let world = World::with(HttpOptions::default().rate_limit_per_minute(0)).await;
    for round in 0..rounds {
        let (body, key) = (question(&format!("run:{round}"), "Ship it?"), format!("key-{round}"));
        let call = || world.post("/v1/requests", body.as_str()).token(&world.home.machine).key(&key).send();
        let replies = join_all((0..64).map(|_| call())).await;
        let statuses = |wanted: u16| replies.iter().filter(|reply| reply.status.as_u16() == wanted).count();
        assert_eq!((statuses(201), statuses(200)), (1, 63), "round {round}");
        let ids: BTreeSet<String> = replies.iter().map(|reply| reply.str("id")).collect();
        assert_eq!(ids.len(), 1, "round {round}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_64_raises_under_one_key_one_creates_and_the_others_find_it() {
    raises_under_one_key(100).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "500 rounds; the same in 100 rounds runs always"]
async fn of_64_raises_under_one_key_one_creates_and_the_others_find_it_500_times() {
    raises_under_one_key(500).await;
}
