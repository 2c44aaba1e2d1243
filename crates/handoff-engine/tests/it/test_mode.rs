//! Keys and requests to try things out with (section 3): they and what is meant never touch.

use handoff_engine::identity::NewCredential;
use handoff_protocol::{
    decision::ErrorCode,
    id::PrincipalId,
    principal::{Identity, Principal},
};

use super::{
    people::Reached,
    world::{REASON, World, ask, ask_with, code, json},
};

const TEST: &str = r#""test_mode":true"#;

/// A test key of the world's own machine, so that nothing but the key makes a difference.
async fn test_key(world: &World) -> Principal {
    let Identity::Machine(id) = world.machine.identity else { panic!("the machine is one") };
    let credential = NewCredential { test: true, ..NewCredential::default() };
    let token = world.engine.issue_key(world.tenant, PrincipalId::ServiceAccount(id), credential).await.unwrap();
    world.engine.authenticate(Some(token.expose())).await.unwrap()
}

#[tokio::test]
async fn what_is_tried_out_and_what_is_meant_never_join() {
    let world = Reached::new().await.world;
    let tester = test_key(&world).await;
    let tried = world.engine.raise(&tester, json(&ask_with("run:1", "one", TEST)), None).await.unwrap();
    let meant = world.engine.raise(&world.machine, json(&ask("run:1", "one")), None).await.unwrap();
    assert!(tried.created && meant.created);
    assert_eq!((tried.request.test_mode, meant.request.test_mode), (true, false));
    assert_eq!(meant.request.deliveries[0].channel, "inapp");
    let again = world.engine.raise(&tester, json(&ask_with("run:1", "one", TEST)), None).await.unwrap();
    assert_eq!((again.created, again.request.id), (false, tried.request.id));
}

#[tokio::test]
async fn a_test_key_changes_nothing_that_is_meant() {
    let world = Reached::new().await.world;
    let tester = test_key(&world).await;
    let meant = world.raised(&ask("run:1", "one")).await;
    let other = world.raised(&ask("run:1", "two")).await;
    let before = world.request(meant).await;
    let engine = &world.engine;
    let refused = [
        engine.amend(&tester, meant, json(r#"{"prompt":{"title":"x"}}"#), None).await,
        engine.cancel(&tester, meant, json(REASON), None).await,
        engine.arm_attempt(&tester, meant, json("{}"), None).await,
        engine.supersede(&tester, meant, json(&format!(r#"{{"by":"{other}"}}"#)), None).await,
        engine.escalate(&tester, meant, json("{}"), None).await,
        engine.reassign(&tester, meant, json(r#"{"to":{"kind":"role","value":"admin"}}"#), None).await,
    ];
    for refused in refused {
        assert_eq!(code(refused), ErrorCode::InsufficientScope);
    }
    let delivery = before.deliveries[0].id;
    let graded = engine.report_grade(&tester, delivery, json(r#"{"grade":"seen"}"#), None).await;
    assert_eq!(code(graded), ErrorCode::InsufficientScope);
    let again = engine.redeliver(&tester, delivery, &json("{}"), None).await;
    assert_eq!(code(again), ErrorCode::InsufficientScope);
    assert_eq!(world.request(meant).await, before);
    let authorization = world.answer(meant, "k").await.unwrap().authorization.unwrap().id;
    let effect = json(r#"{"effect_key":"e"}"#);
    assert_eq!(code(engine.redeem(&tester, authorization, &effect).await), ErrorCode::InsufficientScope);
    assert!(engine.redeem(&world.machine, authorization, &effect).await.unwrap().first_redemption);
}

#[tokio::test]
async fn a_test_key_does_everything_with_what_it_raised() {
    let world = Reached::new().await.world;
    let tester = test_key(&world).await;
    let raise = async |title: &str| {
        world.engine.raise(&tester, json(&ask_with("run:1", title, TEST)), None).await.unwrap().request.id
    };
    let (one, two, three) = (raise("one").await, raise("two").await, raise("three").await);
    world.engine.amend(&tester, one, json(r#"{"prompt":{"title":"x"}}"#), None).await.unwrap();
    world.engine.arm_attempt(&tester, one, json("{}"), None).await.unwrap();
    let escalated = world.engine.escalate(&tester, one, json("{}"), None).await.unwrap();
    assert!(escalated.deliveries.iter().all(|delivery| delivery.channel == "sandbox"), "it reaches nobody");
    world.engine.supersede(&tester, two, json(&format!(r#"{{"by":"{one}"}}"#)), None).await.unwrap();
    world.engine.cancel(&tester, three, json(REASON), None).await.unwrap();
    let authorization = world.answer(one, "k").await.unwrap().authorization.unwrap().id;
    let effect = json(r#"{"effect_key":"e"}"#);
    assert!(world.engine.redeem(&tester, authorization, &effect).await.unwrap().first_redemption);
}
