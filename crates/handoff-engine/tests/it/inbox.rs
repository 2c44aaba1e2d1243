//! The inbox: exact, however much else is pending.

use handoff_engine::decision::{InboxPlace, InboxScope};

use crate::world::World;

#[tokio::test]
async fn a_persons_page_is_exact_among_many_requests_for_others() {
    let world = World::new().await;
    let me = world.person.id().unwrap();
    let raise = async |number: usize, assignee: &str| {
        let body = format!(
            r#"{{"waiter_ref":"w:{number}","prompt":{{"title":"{number}"}},"requires":{{"v":1,
                "authority":{{"assignees":[{{"kind":"principal","value":"{assignee}"}}]}}}}}}"#
        );
        let body = handoff_protocol::json::read_str(&body).unwrap();
        world.engine.raise(&world.machine, body, None).await.unwrap().request.id
    };
    let mut mine = Vec::new();
    for number in 0..600 {
        if number % 20 == 7 {
            mine.push(raise(number, &me.to_string()).await);
        } else {
            raise(number, "usr_01K3M7QW8ZC4YRXB2N6VD9FTHE").await;
        }
    }
    for (scope, expected) in [(InboxScope::Mine, mine.len()), (InboxScope::All, 600)] {
        let (mut seen, mut after) = (Vec::new(), None);
        loop {
            let page = world.engine.inbox(&world.person, scope, after, 25).await.unwrap();
            seen.extend(page.requests.iter().map(|request| request.id));
            let Some(next) = page.next else { break };
            assert_eq!(InboxPlace::parse(&next.to_string()), Some(next), "a place is read as it is written");
            after = Some(next);
        }
        assert_eq!(seen.len(), expected);
        if scope == InboxScope::Mine {
            assert_eq!(seen, mine, "equally urgent ones by age");
        }
    }
    world
        .engine
        .cancel(&world.machine, mine[0], handoff_protocol::json::read_str(r#"{"reason":"x"}"#).unwrap(), None)
        .await
        .unwrap();
    let page = world.engine.inbox(&world.person, InboxScope::Mine, None, 200).await.unwrap();
    assert_eq!(page.requests.len(), mine.len() - 1, "what ended is in no inbox");
}

#[test]
fn a_place_that_is_none_is_refused() {
    for text in ["", "00", &"0".repeat(49), &"0".repeat(51), &"g".repeat(50), &"é".repeat(25)] {
        assert_eq!(InboxPlace::parse(text), None, "{text}");
    }
}
