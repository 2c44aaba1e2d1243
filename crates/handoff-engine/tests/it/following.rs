//! Following: a page that shows the inbox or a request learns of each change, and of nothing else.

use std::time::Duration;

use handoff_engine::decision::{Change, Standing};
use handoff_protocol::{
    decision::{ErrorCode, terms::RequestState},
    id::RequestId,
};

use super::world::{World, ask, code, json};

/// Longer than anything here takes; time stands still but for waits.
const LONG: Duration = Duration::from_secs(30);

#[tokio::test(start_paused = true)]
async fn whoever_follows_the_inbox_hears_of_each_change_once_and_of_those_before_it_came() {
    let world = World::new().await;
    let before = world.engine.event_head(&world.person).await.unwrap();
    let id = world.raised(&ask("run:1", "one")).await;
    let mut late = world.engine.follow_inbox(&world.person, Some(before)).await.unwrap();
    assert!(matches!(late.next(LONG).await.unwrap(), Change::To(seen) if seen > before));
    assert_eq!(late.next(LONG).await.unwrap(), Change::Nothing, "each change is told once");
    let mut feed = world.engine.follow_inbox(&world.person, None).await.unwrap();
    assert_eq!(feed.next(Duration::ZERO).await.unwrap(), Change::Nothing, "what was there is no change");
    let (told, _) = tokio::join!(feed.next(LONG), world.answer(id, "a"));
    let Change::To(seen) = told.unwrap() else { panic!("an answer is a change") };
    // A place beyond the end counts as the end.
    let mut beyond = world.engine.follow_inbox(&world.person, Some(seen + 1_000)).await.unwrap();
    assert_eq!(beyond.next(LONG).await.unwrap(), Change::Nothing);
    world.raised(&ask("run:1", "two")).await;
    assert!(matches!(beyond.next(LONG).await.unwrap(), Change::To(_)));
    assert!(format!("{feed:?}").contains("InboxFeed"));
}

#[tokio::test(start_paused = true)]
async fn whoever_follows_a_request_hears_where_it_stands_when_that_is_elsewhere() {
    let world = World::new().await;
    let id = world.raised(&ask("run:1", "one")).await;
    let unknown = RequestId::parse("req_01K3M7QW8ZC4YRXB2N6VD9FTHE").unwrap();
    assert_eq!(code(world.engine.follow_request(&world.person, unknown, None).await), ErrorCode::RequestNotFound);
    let shown = Standing { version: 1, state: RequestState::Pending };
    let mut feed = world.engine.follow_request(&world.person, id, Some(shown)).await.unwrap();
    assert_eq!(feed.next(LONG).await.unwrap(), Change::Nothing);
    let words = json(r#"{"prompt":{"title":"better"}}"#);
    let (told, _) = tokio::join!(feed.next(LONG), world.engine.amend(&world.machine, id, words, None));
    assert_eq!(told.unwrap(), Change::To(Standing { version: 2, state: RequestState::Pending }));
    world.answer(id, "a").await.unwrap();
    let answered = Standing { version: 2, state: RequestState::Answered };
    assert_eq!(feed.next(LONG).await.unwrap(), Change::To(answered));
    let mut stale = world.engine.follow_request(&world.person, id, Some(shown)).await.unwrap();
    assert_eq!(stale.next(LONG).await.unwrap(), Change::To(answered), "a page that was shown before hears at once");
    assert!(format!("{stale:?}").contains(&id.to_string()));
}

#[tokio::test(start_paused = true)]
async fn an_engine_that_stops_tells_followers_that_it_does() {
    let world = World::new().await;
    let id = world.raised(&ask("run:1", "one")).await;
    let mut inbox = world.engine.follow_inbox(&world.person, None).await.unwrap();
    let mut feed = world.engine.follow_request(&world.person, id, None).await.unwrap();
    world.engine.stop_waiting();
    assert_eq!(inbox.next(LONG).await.unwrap(), Change::Closed);
    assert_eq!(feed.next(LONG).await.unwrap(), Change::Closed);
}
