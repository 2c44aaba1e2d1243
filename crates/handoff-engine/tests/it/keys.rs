//! The three keys (section 4): what a raise comes to, and what repeats return.

use std::time::Duration;

use handoff_engine::store::{IndexName, IndexScan, Order, Store as _};
use handoff_protocol::{
    decision::{ErrorCode, terms::RequestState},
    id::TenantId,
    json::to_json,
};

use super::world::{REASON, World, YES, add_machine, ask, ask_with, code, json, key_of};

#[tokio::test]
async fn a_raise_is_judged_in_the_order_of_the_rule() {
    let world = World::new().await;
    let body = ask("run:1", "Refund?");
    // (4) Nothing like it: created.
    let first = world.raise(&body, "a").await.unwrap();
    assert!(first.created);
    let id = first.request.id;
    // (1) The same key and body: found as it is, and nothing happens.
    let spaced = body.replace(':', " : ").replace("run : 1", "run:1");
    let again = world.raise(&spaced, "a").await.unwrap();
    assert_eq!((again.created, again.request.id, again.request.version), (false, id, 1));
    assert_eq!(world.events_of(id).await, ["request.raised"]);
    // (2) The same key and another body: refused, and nothing happens, although case 3 would fit it.
    let refused = world.raise(&ask_with("run:1", "Refund?", r#""urgency":"high""#), "a").await.unwrap_err();
    assert_eq!((refused.code(), refused.request_id()), (ErrorCode::IdempotencyKeyReused, Some(id)));
    assert_eq!(world.request(id).await, first.request);
    // (3) Another key, the same question: joined at the next version.
    let mut newer = json(&body);
    newer.as_object_mut().unwrap().get_mut("prompt").unwrap().as_object_mut().unwrap().insert("body", "newer words");
    let joined = world.engine.raise(&world.machine, newer.clone(), Some(&key_of("b"))).await.unwrap();
    assert_eq!((joined.created, joined.request.id, joined.request.version), (false, id, 2));
    assert_eq!(world.request(id).await.prompt.get("body").unwrap().as_str(), Some("newer words"));
    assert_eq!(world.events_of(id).await, ["request.raised", "request.amended"]);
    // Now both keys lead to that request, and neither changes it.
    for (body, key) in [(json(&body), "a"), (newer, "b")] {
        let again = world.engine.raise(&world.machine, body, Some(&key_of(key))).await.unwrap();
        assert_eq!((again.created, again.request.id, again.request.version), (false, id, 2));
    }
    // (3) without a key at all.
    let joined = world.engine.raise(&world.machine, json(&body), None).await.unwrap();
    assert_eq!((joined.created, joined.request.id, joined.request.version), (false, id, 3));
    assert_eq!(world.requests().await, [id]);
}

#[tokio::test]
async fn a_repeat_after_any_ending_returns_the_request_as_it_ended() {
    let world = World::new().await;
    let answered = world.raise(&ask("run:1", "one"), "a").await.unwrap().request.id;
    let cancelled = world.raise(&ask("run:1", "two"), "b").await.unwrap().request.id;
    let _ = world.raise(&ask_with("run:1", "three", r#""ttl":"PT1M""#), "c").await.unwrap();
    let result = world.answer(answered, "k").await.unwrap();
    world.cancel(cancelled, "k").await.unwrap();
    world.clock.advance(Duration::from_secs(60));
    world.engine.run_due_timers().await.unwrap();
    let one = world.raise(&ask("run:1", "one"), "a").await.unwrap();
    assert_eq!((one.created, one.request.state), (false, RequestState::Answered));
    assert_eq!(one.request.authorization.unwrap().id, result.authorization.unwrap().id);
    assert_eq!(
        one.request.receipt.unwrap().get("id").unwrap().as_str(),
        Some(result.receipt.unwrap().id.to_string().as_str())
    );
    let two = world.raise(&ask("run:1", "two"), "b").await.unwrap();
    assert_eq!((two.created, two.request.state), (false, RequestState::Cancelled));
    let three = world.raise(&ask_with("run:1", "three", r#""ttl":"PT1M""#), "c").await.unwrap();
    assert_eq!((three.created, three.request.state), (false, RequestState::Expired));
    assert_eq!(world.requests().await.len(), 3);
    // A question is asked once while it is pending; afterwards another key asks it anew.
    assert!(world.raise(&ask("run:1", "one"), "d").await.unwrap().created);
}

#[tokio::test]
async fn one_key_on_two_requests_acts_on_both_and_each_replays() {
    let world = World::new().await;
    let (one, two) = (world.raised(&ask("run:1", "one")).await, world.raised(&ask("run:1", "two")).await);
    let first = world.answer(one, "k").await.unwrap();
    let second = world.answer(two, "k").await.unwrap();
    assert_ne!(first.receipt.unwrap().id, second.receipt.unwrap().id);
    assert_ne!(first.authorization.as_ref().unwrap().id, second.authorization.as_ref().unwrap().id);
    assert_eq!(world.answer(one, "k").await.unwrap(), first);
    assert_eq!(world.answer(two, "k").await.unwrap(), second);
    assert_eq!(world.receipts().await.len(), 2);
    // Another key is another answer.
    let refused = world.answer(one, "l").await.unwrap_err();
    assert_eq!((refused.code(), refused.receipt_id()), (ErrorCode::AlreadyAnswered, Some(first.receipt.unwrap().id)));
}

#[tokio::test]
async fn a_key_used_with_another_body_is_refused_before_the_ending_is_looked_at() {
    let world = World::new().await;
    let (one, two) = (world.raised(&ask("run:1", "one")).await, world.raised(&ask("run:1", "two")).await);
    world.answer(one, "k").await.unwrap();
    world.cancel(two, "k").await.unwrap();
    let other = json(r#"{"values":{"decision":"no"}}"#);
    let refused = world.engine.answer(&world.person, one, other, Some(&key_of("k"))).await.unwrap_err();
    assert_eq!((refused.code(), refused.request_id()), (ErrorCode::IdempotencyKeyReused, Some(one)));
    let other = json(r#"{"reason":"another"}"#);
    let refused = world.engine.cancel(&world.machine, two, other, Some(&key_of("k"))).await;
    assert_eq!(code(refused), ErrorCode::IdempotencyKeyReused);
    assert_eq!(world.request(two).await.cancel_reason.as_deref(), Some("no longer needed"));
}

#[tokio::test]
async fn a_replay_is_the_first_reply_to_the_byte() {
    let world = World::new().await;
    let body =
        ask_with("run:1", "one", r#""ttl":"PT600S","metadata":{"z":1,"a":null},"ttl_policy":{"on_expiry":"park"}"#);
    let (one, two) = (world.raised(&body).await, world.raised(&ask("run:1", "two")).await);
    let text = |view: &_| to_json(view).unwrap().to_text();
    let first = world.cancel(one, "k").await.unwrap();
    let answer = world.answer(two, "k").await.unwrap();
    world.clock.advance(Duration::from_secs(3600));
    assert_eq!(text(&world.cancel(one, "k").await.unwrap()), text(&first));
    assert_eq!(to_json(&world.answer(two, "k").await.unwrap()).unwrap().to_text(), to_json(&answer).unwrap().to_text());
}

#[tokio::test]
async fn keys_of_two_principals_do_not_touch() {
    let world = World::new().await;
    let other = add_machine(&world.engine, world.tenant).await;
    let mine = world.raise(&ask("run:1", "mine"), "k").await.unwrap();
    let theirs = world.engine.raise(&other, json(&ask("run:2", "theirs")), Some(&key_of("k"))).await.unwrap();
    assert!(mine.created && theirs.created);
    // Joining makes an owner of whoever asks the same.
    let id = mine.request.id;
    assert_eq!(code(world.engine.cancel(&other, id, json(REASON), None).await), ErrorCode::InsufficientScope);
    world.engine.raise(&other, json(&ask("run:1", "mine")), None).await.unwrap();
    world.engine.cancel(&other, id, json(REASON), None).await.unwrap();
}

#[tokio::test]
async fn a_given_question_is_asked_once_for_each_waiter() {
    let world = World::new().await;
    let given = r#""dedupe_key":"refund-1""#;
    let one = world.raised(&ask_with("run:1", "one", given)).await;
    let two = world.raised(&ask_with("run:2", "one", given)).await;
    assert_ne!(one, two);
    let joined = world.raise(&ask_with("run:1", "other words", given), "k").await.unwrap();
    assert_eq!((joined.created, joined.request.id), (false, one));
    world.answer(one, "a").await.unwrap();
    assert!(world.raise(&ask_with("run:1", "one", given), "l").await.unwrap().created);
}

#[tokio::test]
async fn errors_are_not_kept_under_a_key() {
    let world = World::new().await;
    let id = world.raised(&ask("run:1", "one")).await;
    let wrong = json(r#"{"values":{}}"#);
    let refused = world.engine.answer(&world.person, id, wrong, Some(&key_of("k"))).await;
    assert_eq!(code(refused), ErrorCode::AnswerValidationFailed);
    world.engine.answer(&world.person, id, json(YES), Some(&key_of("k"))).await.unwrap();
}

#[tokio::test]
async fn a_replay_record_lapses_after_its_time_and_is_purged() {
    let world = World::new().await;
    let records = async || {
        let scan = IndexScan {
            tenant: TenantId::Org(world.tenant),
            index: IndexName::from_static("replay.expiry"),
            prefix: Vec::new(),
            after: None,
            order: Order::Ascending,
            limit: 5000,
        };
        world.store.scan(scan).await.unwrap().rows.len()
    };
    let id = world.raise(&ask("run:1", "one"), "k").await.unwrap().request.id;
    world.answer(id, "k").await.unwrap();
    world.clock.advance(Duration::from_secs(24 * 3600 - 1));
    assert!(!world.raise(&ask("run:1", "one"), "k").await.unwrap().created, "a day is kept whole");
    world.clock.advance(Duration::from_secs(1));
    assert!(world.raise(&ask("run:1", "one"), "k").await.unwrap().created, "and not a moment more");
    assert_eq!(code(world.answer(id, "k").await), ErrorCode::AlreadyAnswered);
    // More than one batch, of which the newest must stay.
    for place in 0..1100 {
        world.raise(&ask("run:2", &place.to_string()), &format!("k{place}")).await.unwrap();
    }
    world.clock.advance(Duration::from_secs(3600));
    world.engine.run_due_timers().await.unwrap();
    assert_eq!(records().await, 1101, "the old answer's record is gone, those of today are not");
    world.clock.advance(Duration::from_secs(25 * 3600));
    world.raise(&ask("run:3", "new"), "new").await.unwrap();
    let swept = world.engine.run_due_timers().await.unwrap();
    assert_eq!((swept.failed, records().await), (0, 1));
}
