//! Room: a request keeps so many deliveries, and nothing is dropped without a word.

use handoff_protocol::{
    decision::{
        Answer, Delivery, Effects, ErrorCode, Escalate, Fired, Raise, Reassign, Request, SendReport, begin_send,
        end_send, escalate, limits, reassign, tend, terms::TargetKind,
    },
    duration::ExactDuration,
    json::Json,
    principal::{Principal, Role, Scopes},
    timestamp::Timestamp,
};

use super::{
    people::{ANNA, policy, somebody, user},
    scene::{START, Scene, approve, json, machine, person, with},
};

fn names(count: usize) -> String {
    let names: Vec<String> = (0..count).map(|number| format!(r#""channel {number}""#)).collect();
    names.join(",")
}

fn groups(count: usize) -> String {
    let groups: Vec<String> =
        (0..count).map(|number| format!(r#"{{"kind":"group","value":"group {number}"}}"#)).collect();
    groups.join(",")
}

/// A raise with so many targets and rungs of so many channels.
fn ladder(targets: usize, rungs: &[(&str, usize)]) -> String {
    let rungs: Vec<String> = rungs
        .iter()
        .map(|(after, channels)| format!(r#"{{"after":"{after}","channels":[{}]}}"#, names(*channels)))
        .collect();
    let routing = format!(r#"{{"targets":[{}],"ladder":[{}]}}"#, groups(targets), rungs.join(","));
    with(&approve(), "routing", &routing)
}

fn read(body: &str, scene: &Scene) -> Result<Raise, String> {
    Raise::read(&machine(), json(body), &scene.policy).map_err(|error| error.to_string())
}

fn tended(scene: &mut Scene, request: &Request) -> Effects {
    match tend(request, &mut scene.context()) {
        Fired::Acted(effects) => *effects,
        Fired::NotDue { again } => panic!("not due before {again:?}"),
    }
}

fn after(minutes: u64) -> Timestamp {
    START.saturating_add(ExactDuration::from_minutes(minutes))
}

fn by_hand(scene: &mut Scene, request: &Request, body: &str) -> Result<Effects, String> {
    let command = Escalate::read(&machine(), json(body)).unwrap();
    escalate(request, &command, &machine(), &mut scene.context()).map_err(|error| error.to_string())
}

/// A request whose every place is taken by something that waits for its next try; its second rung comes after an hour.
fn full(scene: &mut Scene) -> Request {
    scene.policy = policy();
    let anna = format!(r#"{{"kind":"principal","value":"{}"}}"#, user(ANNA));
    let routing = format!(
        r#"{{"targets":[{anna}],"ladder":[{{"after":"PT0S","channels":["email","inapp"]}},
            {{"after":"PT1H","channels":["email","inapp"]}}]}}"#
    );
    let (request, _) = scene.raise(&with(&approve(), "routing", &routing));
    let request = tended(scene, &request).request;
    let id = request.deliveries[0].id;
    let Fired::Acted(begun) = begin_send(&request, id, &scene.context()) else { panic!("mail is ready") };
    let failed = SendReport::failed_for_now("busy");
    let mut request = end_send(&begun.request, id, 1, &failed, &mut scene.context()).unwrap().request;
    let mail = request.deliveries[0].clone();
    request.deliveries.clear();
    for _ in 0..limits::DELIVERIES {
        request.deliveries.push(Delivery { id: scene.context().mint.next(), ..mail.clone() });
    }
    request
}

#[test]
fn a_ladder_is_refused_that_no_request_could_keep() {
    let scene = Scene::new();
    for kept in [
        ladder(50, &[("PT0S", 4)]),
        ladder(10, &[("PT0S", 20)]),
        ladder(1, &[("PT0S", 20); 10]),
        ladder(20, &[("PT0S", 1); 10]),
    ] {
        assert_eq!(read(&kept, &scene).map(drop), Ok(()));
    }
    for refused in
        [ladder(50, &[("PT0S", 4), ("PT0S", 1)]), ladder(11, &[("PT0S", 19)]), ladder(21, &[("PT0S", 1); 10])]
    {
        let problem = read(&refused, &scene).unwrap_err();
        assert!(problem.starts_with("`routing.ladder` must come to 200 deliveries at the most"), "{problem}");
    }
    // A raise that brings the targets alone is told of those.
    let targets = with(&approve(), "routing", &format!(r#"{{"targets":[{}]}}"#, groups(50)));
    let mut scene = Scene::climbing();
    assert_eq!(read(&targets, &scene).map(drop), Ok(()));
    let mut routing = handoff_protocol::decision::Routing::starter();
    for rung in &mut routing.ladder {
        rung.channels = vec!["email".to_owned(), "inapp".to_owned()];
    }
    scene.policy.ladder = std::sync::Arc::new(routing);
    let problem = read(&targets, &scene).unwrap_err();
    assert!(problem.starts_with("`routing.targets` must come to 200"), "{problem}");
}

#[test]
fn channels_of_a_rung_are_bounded_and_nobody_without_the_scope_has_a_ladder_looked_at() {
    let scene = Scene::new();
    assert_eq!(read(&ladder(1, &[("PT0S", 20)]), &scene).map(drop), Ok(()));
    let problem = read(&ladder(1, &[("PT0S", 21)]), &scene).unwrap_err();
    assert_eq!(problem, "`routing.ladder[0].channels` must have 1 to 20 items");
    // However much there is of it and whatever is wrong with it, the scope is what the answer is about.
    let narrow = Principal { scopes: Scopes::from(vec!["handoff:requests:write".to_owned()]), ..machine() };
    let nonsense = with(&approve(), "routing", r#"{"ladder":[17]}"#);
    for body in [ladder(1, &[("PT0S", 21)]), nonsense] {
        let refused = Raise::read(&narrow, json(&body), &scene.policy).unwrap_err();
        assert_eq!(refused.code(), ErrorCode::InsufficientScope);
    }
}

#[test]
fn a_rung_waits_for_room_and_fires_once_there_is_some() {
    let mut scene = Scene::new();
    let mut request = full(&mut scene);
    scene.now = after(60);
    assert_eq!(request.next_tend(), None, "its rung is due, and there is no room for it");
    assert!(matches!(tend(&request, &mut scene.context()), Fired::NotDue { again: None }));
    for place in 0..2 {
        let id = request.deliveries[place].id;
        let Fired::Acted(begun) = begin_send(&request, id, &scene.context()) else { panic!("it is due") };
        let gone = SendReport::failed_for_good("gone");
        request = end_send(&begun.request, id, 2, &gone, &mut scene.context()).unwrap().request;
    }
    assert_eq!(request.next_tend(), Some(after(60)), "as soon as there is room");
    let effects = tended(&mut scene, &request);
    let fired: Vec<_> = effects.request.deliveries.iter().filter(|delivery| delivery.rung == 1).collect();
    assert_eq!((fired.len(), effects.request.deliveries.len()), (2, limits::DELIVERIES));
    let escalated = effects.events.iter().find(|event| event.event_type.as_str() == "request.escalated").unwrap();
    assert_eq!(escalated.data.get("left_out"), None);
}

#[test]
fn whoever_asks_by_hand_is_told_to_try_again() {
    let mut scene = Scene::new();
    let request = full(&mut scene);
    let problem = by_hand(&mut scene, &request, "{}").unwrap_err();
    assert!(problem.starts_with("`rung` cannot be reached now"), "{problem}");
    let to = r#"{"to":{"kind":"role","value":"admin"}}"#;
    let command = Reassign::read(&machine(), json(to)).unwrap();
    // What did not set out is cancelled for the new one, so that there is room here.
    assert!(reassign(&request, &command, &machine(), &mut scene.context()).is_ok());
    let body = r#"{"values":{},"disposition":"delegate","delegate_to":{"kind":"role","value":"admin"}}"#;
    let answer = Answer::read(&person(Role::Admin), json(body)).unwrap();
    let waiter = handoff_protocol::decision::Waiter::new(request.waiter_ref.clone());
    let head = handoff_protocol::chain::Head::GENESIS;
    let refused = handoff_protocol::decision::answer(
        &request,
        &answer,
        &person(Role::Admin),
        &waiter,
        &head,
        &mut scene.context(),
    );
    let problem = refused.unwrap_err().to_string();
    assert!(problem.starts_with("`delegate_to` cannot be reached now"), "{problem}");
}

#[test]
fn people_of_a_place_who_find_no_room_are_counted() {
    let mut scene = Scene::new();
    scene.policy = policy();
    let crowd = (100..160).fold(handoff_protocol::decision::directory::Directory::default(), |directory, number| {
        directory.with_person(somebody(number, Role::Viewer, &["email"]))
    });
    scene.policy.directory = std::sync::Arc::new(crowd);
    let routing = r#"{"ladder":[{"after":"PT0S","channels":["email"]}]}"#;
    let (request, _) = scene.raise(&with(&approve(), "routing", routing));
    let effects = tended(&mut scene, &request);
    let request = effects.request;
    assert_eq!((request.deliveries.len(), request.deliveries[0].left_out), (limits::PEOPLE_OF_A_PLACE, 10));
    let Fired::Acted(begun) = begin_send(&request, request.deliveries[0].id, &scene.context()) else { panic!("ready") };
    assert_eq!(begun.events[0].data.get("left_out"), Some(&Json::from(10_u64)));
    assert_eq!(request.deliveries[0].target.kind, TargetKind::Principal);
}

#[test]
fn at_the_deadline_the_page_is_the_last_to_go_without_and_the_event_counts_the_rest() {
    let mut scene = Scene::new();
    let mut request = full(&mut scene);
    request.deliveries.pop();
    request.expires_at = Some(after(30));
    request.ttl_policy = Some(handoff_protocol::decision::TtlPolicy::undeclared());
    scene.now = after(30);
    let waiter = handoff_protocol::decision::Waiter::new(request.waiter_ref.clone());
    let Fired::Acted(effects) = scene.expire(&(request, waiter)) else { panic!("it is due") };
    let made = effects.request.deliveries.last().unwrap();
    assert_eq!((made.channel.as_str(), made.rung), ("inapp", 1));
    assert_eq!(effects.events[0].data.get("left_out"), Some(&Json::from(1_u64)));
}
