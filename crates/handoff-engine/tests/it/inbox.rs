//! The inbox: exact, however much else is pending.

use std::time::Duration;

use handoff_engine::decision::{InboxPlace, InboxScope};
use handoff_protocol::{
    decision::directory::{Rotation, Zone},
    principal::{Identity, Principal, Role},
};

use crate::{
    people::Reached,
    world::{World, json, key_of},
};

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

#[tokio::test]
async fn an_inbox_has_what_a_persons_groups_and_turns_and_whoever_passes_on_bring_and_no_more_than_the_policy_lets_them()
 {
    let reached = Reached::new().await;
    let world = &reached.world;
    let boris = reached.add("boris", Role::Viewer, |_| {}).await;
    let me = world.person.clone();
    let Identity::Human(myself) = me.identity else { panic!("a machine") };
    let rotation = Rotation {
        members: vec![boris, myself],
        zone: Zone::utc(),
        starts: Zone::utc().local(world.engine.now()),
        days: 1,
    };
    reached.change(|people| people.with_group("finance", vec![myself]).with_rotation("on-call", rotation));
    let ask = async |title: &str, assignee: &str| {
        let body = format!(
            r#"{{"waiter_ref":"w:1","prompt":{{"title":"{title}"}},
                "requires":{{"v":1,"authority":{{"assignees":[{assignee}]}}}}}}"#
        );
        world.raised(&body).await
    };
    let inbox = async |whose: &Principal| {
        let page = world.engine.inbox(whose, InboxScope::Mine, None, 50).await.unwrap();
        page.requests.iter().map(|request| request.id).collect::<Vec<_>>()
    };
    let group = ask("group", r#"{"kind":"group","value":"finance"}"#).await;
    let turn = ask("turn", r#"{"kind":"rotation","value":"on-call"}"#).await;
    let passed = ask("passed", &format!(r#"{{"kind":"principal","value":"{boris}"}}"#)).await;
    assert_eq!(inbox(&me).await, [group], "the turn is another's");
    world.clock.advance(Duration::from_secs(24 * 60 * 60));
    assert_eq!(inbox(&me).await, [group, turn]);
    let to = json(&format!(r#"{{"to":{{"kind":"principal","value":"{myself}"}}}}"#));
    world.engine.reassign(&world.machine, passed, to, Some(&key_of("pass"))).await.unwrap();
    assert_eq!(inbox(&me).await, [group, turn, passed]);

    let floors = r#""min_role":"admin","min_auth_strength":"session","allow_link_only":false"#;
    let policy = format!(r#"{{"v":1,"org_id":"{}","authority_floors":{{{floors}}}}}"#, world.tenant);
    world.engine.load_policy(world.tenant, json(&policy)).await.unwrap();
    let under = world.raised(r#"{"waiter_ref":"w:2","prompt":{"title":"floor"},"requires":{"v":1}}"#).await;
    let served = world.request(under).await;
    assert_eq!(served.effective_authority.map(|authority| authority.min_role), Some(Role::Admin));
    assert_eq!(served.requires.get("authority"), None, "what is declared stays as it was declared");
    let all = Principal { role: Role::Admin, ..me.clone() };
    assert!(inbox(&all).await.contains(&under));
    let fewer = Principal { role: Role::Editor, ..me };
    assert!(!inbox(&fewer).await.contains(&under));
}

#[test]
fn a_place_that_is_none_is_refused() {
    for text in ["", "00", &"0".repeat(49), &"0".repeat(51), &"g".repeat(50), &"é".repeat(25)] {
        assert_eq!(InboxPlace::parse(text), None, "{text}");
    }
}
