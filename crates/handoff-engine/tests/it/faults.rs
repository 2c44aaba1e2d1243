//! A store that fails: the caller learns that it is our fault, and a repeat under the same key is safe.

use handoff_protocol::decision::{
    ErrorCode,
    terms::{RequestState, SignalType},
};
use handoff_testkit::Fault;

use super::world::{REASON, World, YES, ask, code, json};

const FAULTS: [Fault; 3] = [Fault::Unreachable, Fault::LostBeforeCommit, Fault::LostAfterCommit];

#[tokio::test]
async fn a_raise_whose_reply_was_lost_is_repeated_into_one_request() {
    for fault in FAULTS {
        let world = World::new().await;
        world.store.fail_next(fault);
        assert_eq!(code(world.raise(&ask("run:1", "one"), "k").await), ErrorCode::InternalError, "{fault:?}");
        let raised = world.raise(&ask("run:1", "one"), "k").await.unwrap();
        assert_eq!(raised.created, fault != Fault::LostAfterCommit);
        assert_eq!((world.requests().await, raised.request.version), (vec![raised.request.id], 1));
        assert_eq!(world.events_of(raised.request.id).await, ["request.raised"]);
    }
}

#[tokio::test]
async fn a_raise_without_a_key_is_repeated_into_one_request_as_well() {
    let world = World::new().await;
    world.store.fail_next(Fault::LostAfterCommit);
    code(world.engine.raise(&world.machine, json(&ask("run:1", "one")), None).await);
    let again = world.engine.raise(&world.machine, json(&ask("run:1", "one")), None).await.unwrap();
    assert_eq!((again.created, world.requests().await.len()), (false, 1));
}

#[tokio::test]
async fn an_answer_whose_reply_was_lost_is_repeated_into_one_receipt() {
    for fault in FAULTS {
        let world = World::new().await;
        let id = world.raised(&ask("run:1", "one")).await;
        world.store.fail_next(fault);
        assert_eq!(code(world.answer(id, "k").await), ErrorCode::InternalError, "{fault:?}");
        let expected = if fault == Fault::LostAfterCommit { RequestState::Answered } else { RequestState::Pending };
        assert_eq!(world.request(id).await.state, expected);
        let result = world.answer(id, "k").await.unwrap();
        let receipts = world.receipts().await;
        assert_eq!(receipts.len(), 1);
        assert_eq!(receipts[0].get("id").unwrap().as_str(), Some(result.receipt.unwrap().id.to_string().as_str()));
        assert_eq!(world.signals("run:1").await.len(), 1);
        assert_eq!(world.events_of(id).await, ["request.raised", "request.answered"]);
    }
}

#[tokio::test]
async fn a_cancellation_whose_reply_was_lost_is_repeated_into_one_signal() {
    for fault in FAULTS {
        let world = World::new().await;
        let id = world.raised(&ask("run:1", "one")).await;
        world.store.fail_next(fault);
        assert_eq!(code(world.cancel(id, "k").await), ErrorCode::InternalError, "{fault:?}");
        assert_eq!(world.cancel(id, "k").await.unwrap().state, RequestState::Cancelled);
        let signals = world.signals("run:1").await;
        assert_eq!(signals.iter().map(|signal| signal.signal_type).collect::<Vec<_>>(), [SignalType::Cancelled]);
        // Without the key, a repeat after a lost reply learns the ending instead.
        let again = world.engine.cancel(&world.machine, id, json(REASON), None).await;
        assert_eq!(code(again), ErrorCode::RequestCancelled);
    }
}

#[tokio::test]
async fn a_redemption_whose_reply_was_lost_is_repeated_into_one_effect() {
    for fault in FAULTS {
        let world = World::new().await;
        let id = world.raised(&ask("run:1", "one")).await;
        let authorization =
            world.engine.answer(&world.person, id, json(YES), None).await.unwrap().authorization.unwrap().id;
        let effect = json(r#"{"effect_key":"refund-1"}"#);
        world.store.fail_next(fault);
        assert_eq!(code(world.engine.redeem(&world.machine, authorization, &effect).await), ErrorCode::InternalError);
        let result = world.engine.redeem(&world.machine, authorization, &effect).await.unwrap();
        // After a lost commit the caller is told that it was there before: it must look before it acts.
        assert_eq!(result.first_redemption, fault != Fault::LostAfterCommit, "{fault:?}");
        let after = world.engine.authorization(&world.machine, authorization).await.unwrap();
        assert_eq!(after.redemptions.len(), 1);
    }
}

#[tokio::test]
async fn an_acknowledgement_whose_reply_was_lost_is_repeated() {
    for fault in FAULTS {
        let world = World::new().await;
        let id = world.raised(&ask("run:1", "one")).await;
        world.answer(id, "k").await.unwrap();
        let signal = world.signals("run:1").await.remove(0);
        let body = json(&format!(r#"{{"resume_token":"{}","applied":true}}"#, signal.resume_token));
        world.store.fail_next(fault);
        assert_eq!(code(world.engine.acknowledge(&world.machine, signal.id, &body).await), ErrorCode::InternalError);
        let ack = world.engine.acknowledge(&world.machine, signal.id, &body).await.unwrap();
        assert_eq!(ack.first_ack, fault != Fault::LostAfterCommit, "{fault:?}");
        assert!(world.signals("run:1").await.is_empty());
    }
}
