//! Events: one for each transition, in commit order, without gaps and without content.

use std::time::Duration;

use super::world::{World, YES, ask_with, code, json};

#[tokio::test]
async fn every_transition_has_its_event_and_refusals_have_none() {
    let world = World::new().await;
    let ttl = r#""ttl":"PT1M","metadata":{"secret":"c4n4ry"}"#;
    let body = |title: &str| ask_with("run:c4n4ry", &format!("c4n4ry {title}"), ttl);
    let (one, two) = (world.raised(&body("one")).await, world.raised(&body("two")).await);
    let three = world.raised(&body("three")).await;
    world.raise(&body("one"), "joined").await.unwrap();
    world.raise(&body("one"), "joined").await.unwrap();
    code(world.engine.answer(&world.person, one, json(r#"{"values":{}}"#), None).await);
    code(world.engine.answer(&world.machine, one, json(YES), None).await);
    world.answer(one, "a").await.unwrap();
    world.answer(one, "a").await.unwrap();
    code(world.answer(one, "b").await);
    code(world.cancel(one, "b").await);
    world.cancel(two, "a").await.unwrap();
    world.clock.advance(Duration::from_secs(60));
    world.engine.run_due_timers().await.unwrap();
    let signal = world.signals("run:c4n4ry").await.remove(0);
    let ack = json(&format!(r#"{{"resume_token":"{}","applied":true}}"#, signal.resume_token));
    world.engine.acknowledge(&world.machine, signal.id, &ack).await.unwrap();

    assert_eq!(world.events_of(one).await, ["request.raised", "request.amended", "request.answered"]);
    assert_eq!(world.events_of(two).await, ["request.raised", "request.cancelled"]);
    assert_eq!(world.events_of(three).await, ["request.raised", "request.expired"]);
    let events = world.events().await;
    assert_eq!(events.iter().map(|event| event.sequence).collect::<Vec<_>>(), (1..=7).collect::<Vec<_>>());
    for event in &events {
        assert!(!event.data.contains("c4n4ry") && !event.data.contains("yes"), "{}", event.data);
        let data = json(&event.data);
        assert!(data.get("version").is_some() && data.get("state").is_some(), "{}", event.data);
    }
}
