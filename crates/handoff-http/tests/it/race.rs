//! Many answers at once: one of them counts.

use std::collections::BTreeSet;

use futures::future::join_all;
use handoff_protocol::json::Json;

use crate::world::World;

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
