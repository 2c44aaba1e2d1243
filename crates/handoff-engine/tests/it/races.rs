//! Many callers at the same moment: one wins, the others learn it, and the loser leaves no trace.

use std::{collections::HashSet, future::Future, sync::Arc, time::Duration};

use handoff_protocol::{
    decision::{
        DecisionError, ErrorCode,
        terms::{RequestState, SignalType},
    },
    id::{AuthorizationId, RequestId},
    principal::Role,
};
use tokio::{sync::Barrier, task::JoinSet};

use super::world::{REASON, World, YES, add_person, ask, ask_with, json, key_of};

/// Lets `count` calls go at the same moment and gives what each came to.
async fn at_once<T, F>(count: usize, call: impl Fn(usize) -> F) -> Vec<T>
where
    T: Send + 'static,
    F: Future<Output = T> + Send + 'static,
{
    let barrier = Arc::new(Barrier::new(count));
    let mut tasks = JoinSet::new();
    for place in 0..count {
        let (barrier, call) = (Arc::clone(&barrier), call(place));
        tasks.spawn(async move {
            barrier.wait().await;
            call.await
        });
    }
    tasks.join_all().await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn raises_under_one_key_create_one_request() {
    let world = Arc::new(World::new().await);
    let raised = at_once(64, |_| {
        let world = Arc::clone(&world);
        async move { world.raise(&ask("run:1", "one"), "k").await.unwrap() }
    })
    .await;
    assert_eq!(raised.iter().filter(|raised| raised.created).count(), 1);
    let ids: HashSet<RequestId> = raised.iter().map(|raised| raised.request.id).collect();
    assert_eq!(ids.len(), 1);
    let id = raised[0].request.id;
    assert_eq!((world.requests().await, world.request(id).await.version), (vec![id], 1));
    assert_eq!(world.events_of(id).await, ["request.raised"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn raises_of_one_question_under_many_keys_create_one_request() {
    let world = Arc::new(World::new().await);
    let raised = at_once(64, |place| {
        let world = Arc::clone(&world);
        async move { world.raise(&ask("run:1", "one"), &format!("k{place}")).await.unwrap() }
    })
    .await;
    assert_eq!(raised.iter().filter(|raised| raised.created).count(), 1);
    let versions: HashSet<u64> = raised.iter().map(|raised| raised.request.version).collect();
    assert_eq!(versions, (1..=64).collect());
    assert_eq!(world.requests().await.len(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn raises_that_differ_in_one_option_are_as_many_requests() {
    let world = Arc::new(World::new().await);
    let raised = at_once(50, |place| {
        let world = Arc::clone(&world);
        let body = ask("run:1", "one").replace(r#""id":"no""#, &format!(r#""id":"no{place}""#));
        async move { world.engine.raise(&world.machine, json(&body), None).await.unwrap() }
    })
    .await;
    let ids: HashSet<RequestId> = raised.iter().map(|raised| raised.request.id).collect();
    assert!(raised.iter().all(|raised| raised.created));
    assert_eq!((ids.len(), world.requests().await.len()), (50, 50));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_200_answers_one_settles_and_the_others_learn_its_receipt() {
    let world = Arc::new(World::new().await);
    let other = add_person(&world.engine, world.tenant, Role::Admin).await;
    let id = world.raised(&ask_with("run:1", "one", r#""ttl":"PT1H""#)).await;
    let answers = at_once(200, |place| {
        let world = Arc::clone(&world);
        let person = if place % 2 == 0 { world.person.clone() } else { other.clone() };
        async move { world.engine.answer(&person, id, json(YES), Some(&key_of(&format!("k{place}")))).await }
    })
    .await;
    let won: Vec<_> = answers.iter().filter_map(|answer| answer.as_ref().ok()).collect();
    assert_eq!(won.len(), 1);
    let receipt = won[0].receipt.unwrap().id;
    for lost in answers.iter().filter_map(|answer| answer.as_ref().err()) {
        assert_eq!((lost.code(), lost.receipt_id()), (ErrorCode::AlreadyAnswered, Some(receipt)));
    }
    assert_eq!((world.receipts().await.len(), world.signals("run:1").await.len()), (1, 1));
    assert_eq!(world.events_of(id).await, ["request.raised", "request.answered"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_an_answer_and_a_cancellation_one_wins_and_the_other_leaves_no_trace() {
    let world = Arc::new(World::new().await);
    let mut answered = 0;
    for round in 0..40 {
        let waiter = format!("run:{round}");
        let before = world.receipts().await.len();
        let id = world.raised(&ask(&waiter, "one")).await;
        let outcomes: Vec<Result<RequestState, DecisionError>> = at_once(2, |place| {
            let world = Arc::clone(&world);
            async move {
                if (place + round) % 2 == 0 {
                    world.engine.answer(&world.person, id, json(YES), None).await.map(|_| RequestState::Answered)
                } else {
                    world.engine.cancel(&world.machine, id, json(REASON), None).await.map(|_| RequestState::Cancelled)
                }
            }
        })
        .await;
        let won: Vec<_> = outcomes.iter().filter_map(|outcome| outcome.as_ref().ok()).collect();
        let lost: Vec<_> = outcomes.iter().filter_map(|outcome| outcome.as_ref().err()).collect();
        assert_eq!((won.len(), lost.len()), (1, 1), "{outcomes:?}");
        let request = world.request(id).await;
        assert_eq!(request.state, *won[0]);
        let signals = world.signals(&waiter).await;
        assert_eq!(signals.len(), 1);
        let receipts = world.receipts().await.len() - before;
        if request.state == RequestState::Answered {
            answered += 1;
            assert_eq!(lost[0].code(), ErrorCode::AlreadyAnswered);
            assert_eq!((request.cancel_reason, receipts, signals[0].signal_type), (None, 1, SignalType::Answered));
            assert_eq!(world.events_of(id).await, ["request.raised", "request.answered"]);
        } else {
            assert_eq!(lost[0].code(), ErrorCode::RequestCancelled);
            assert_eq!((request.receipt, receipts, signals[0].signal_type), (None, 0, SignalType::Cancelled));
            assert_eq!((request.authorization, request.answered_at), (None, None));
            assert_eq!(world.events_of(id).await, ["request.raised", "request.cancelled"]);
        }
    }
    assert!(answered <= 40);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_an_answer_and_a_deadline_one_wins() {
    let world = Arc::new(World::new().await);
    for round in 0..40 {
        let waiter = format!("run:{round}");
        let id = world.raised(&ask_with(&waiter, "one", r#""ttl":"PT1M""#)).await;
        let before = world.receipts().await.len();
        world.clock.advance(Duration::from_secs(60));
        let outcomes = at_once(3, |place| {
            let world = Arc::clone(&world);
            async move {
                if (place + round) % 3 == 0 {
                    Some(world.engine.answer(&world.person, id, json(YES), None).await)
                } else {
                    world.engine.run_due_timers().await.unwrap();
                    None
                }
            }
        })
        .await;
        let answer = outcomes.into_iter().flatten().next().unwrap();
        let request = world.request(id).await;
        match answer {
            Ok(_) => assert_eq!(request.state, RequestState::Answered),
            Err(lost) => {
                assert_eq!((lost.code(), request.state), (ErrorCode::RequestExpired, RequestState::Expired));
                assert_eq!(
                    lost.receipt_id().unwrap().to_string(),
                    request.receipt.unwrap().get("id").unwrap().as_str().unwrap()
                );
            }
        }
        assert_eq!(world.receipts().await.len() - before, 1);
        assert_eq!((world.signals(&waiter).await.len(), world.events_of(id).await.len()), (1, 2));
        assert_eq!(world.next_timer().await, None, "no timer is left behind");
    }
}

async fn authorization(world: &World) -> AuthorizationId {
    let id = world.raised(&ask("run:1", "one")).await;
    world.answer(id, "k").await.unwrap().authorization.unwrap().id
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_many_redemptions_one_is_the_first() {
    let world = Arc::new(World::new().await);
    let id = authorization(&world).await;
    let redeemed = at_once(50, |place| {
        let world = Arc::clone(&world);
        let body = json(&format!(r#"{{"effect_key":"effect-{}"}}"#, place % 2));
        async move { world.engine.redeem(&world.machine, id, &body).await }
    })
    .await;
    let firsts =
        redeemed.iter().filter(|redeemed| redeemed.as_ref().is_ok_and(|result| result.first_redemption)).count();
    let repeats =
        redeemed.iter().filter(|redeemed| redeemed.as_ref().is_ok_and(|result| !result.first_redemption)).count();
    let refused = redeemed
        .iter()
        .filter(|redeemed| redeemed.as_ref().is_err_and(|error| error.code() == ErrorCode::AuthorizationSpent))
        .count();
    assert_eq!((firsts, repeats, refused), (1, 24, 25));
    let after = world.engine.authorization(&world.machine, id).await.unwrap();
    assert_eq!((after.redemptions.len(), after.state.as_str()), (1, "spent"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_many_acknowledgements_one_is_the_first() {
    let world = Arc::new(World::new().await);
    authorization(&world).await;
    let signal = world.signals("run:1").await.remove(0);
    let acks = at_once(30, |_| {
        let world = Arc::clone(&world);
        let body = json(&format!(r#"{{"resume_token":"{}","applied":true}}"#, signal.resume_token));
        async move { world.engine.acknowledge(&world.machine, signal.id, &body).await.unwrap() }
    })
    .await;
    assert_eq!(acks.iter().filter(|ack| ack.first_ack).count(), 1);
    assert!(acks.iter().all(|ack| ack.acked_at == acks[0].acked_at));
    assert!(world.signals("run:1").await.is_empty());
}
