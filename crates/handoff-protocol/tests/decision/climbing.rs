//! Climbing the ladder: rungs by time, by hand and at the deadline (R4, V-10, CL-4, CL-6).

use handoff_protocol::{
    decision::{
        DecisionError, Effects, ErrorCode, Escalate, Fired, Raise, Request, TimerChange, Waiter, escalate, tend,
        terms::{DeliveryState, Grade, RequestState},
    },
    duration::ExactDuration,
    principal::{Principal, Scopes},
    timestamp::Timestamp,
};

use super::scene::{START, Scene, approve, json, machine, person, with};

fn after(minutes: u64) -> Timestamp {
    START.saturating_add(ExactDuration::from_minutes(minutes))
}

/// A ladder of the page, at minutes after the raise.
fn ladder(minutes: &[u64]) -> String {
    let rungs: Vec<String> =
        minutes.iter().map(|minutes| format!(r#"{{"after":"PT{minutes}M","channels":["inapp"]}}"#)).collect();
    with(&approve(), "routing", &format!(r#"{{"ladder":[{}]}}"#, rungs.join(",")))
}

fn tended(scene: &mut Scene, request: &Request) -> Effects {
    match tend(request, &mut scene.context()) {
        Fired::Acted(effects) => *effects,
        Fired::NotDue { again } => panic!("not due before {again:?}"),
    }
}

fn rungs(request: &Request) -> Vec<u32> {
    request.deliveries.iter().map(|delivery| delivery.rung).collect()
}

fn climb(scene: &mut Scene, request: &Request, body: &str) -> Result<Effects, DecisionError> {
    let command = Escalate::read(&machine(), json(body)).unwrap();
    escalate(request, &command, &machine(), &mut scene.context())
}

#[test]
fn a_raise_keeps_the_ladder_and_is_listed_by_itself() {
    let mut scene = Scene::climbing();
    let effects = scene.raise_effects(json(&approve()));
    let request = &effects.request;
    let channels: Vec<&str> = request.routing.ladder.iter().map(|rung| rung.channels[0].as_str()).collect();
    assert_eq!(channels, ["inapp", "email", "slack"]);
    let [delivery] = request.deliveries.as_slice() else { panic!("one delivery") };
    assert_eq!((delivery.rung, delivery.state, delivery.grade_reached), (0, DeliveryState::Queued, None));
    assert_eq!(effects.events.len(), 1);
    let soon = START.saturating_add(ExactDuration::from_seconds(1));
    assert_eq!(request.next_tend(), Some(soon));
    scene.now = soon;
    let effects = tended(&mut scene, request);
    let delivery = &effects.request.deliveries[0];
    assert_eq!((delivery.state, delivery.grade_reached), (DeliveryState::Dispatched, Some(Grade::Dispatched)));
    assert_eq!((delivery.attempts.len(), delivery.in_flight(), delivery.target.value.as_str()), (1, None, "*"));
    assert_eq!(effects.events[0].event_type.as_str(), "delivery.transitioned");
    assert_eq!(effects.request.next_tend(), Some(after(5)));
}

#[test]
fn what_is_raised_to_try_things_out_climbs_in_the_sandbox() {
    let mut scene = Scene::climbing();
    let (request, _) = scene.raise(&with(&approve(), "test_mode", "true"));
    assert!(request.routing.ladder.iter().all(|rung| rung.channels == ["sandbox"]));
    let climbed = climb(&mut scene, &request, "{}").unwrap().request;
    assert!(climbed.deliveries.iter().all(|delivery| delivery.channel == "sandbox"));
    assert_eq!(rungs(&climbed), [0, 1]);
}

#[test]
fn every_overdue_rung_fires_and_none_twice() {
    let mut scene = Scene::climbing();
    let (request, _) = scene.raise(&ladder(&[0, 5, 10, 15, 60]));
    scene.now = after(15);
    let effects = tended(&mut scene, &request);
    assert_eq!(rungs(&effects.request), [0, 1, 2, 3]);
    let events = effects.events.iter().filter(|event| event.event_type.as_str() == "request.escalated");
    assert_eq!(events.count(), 3);
    assert_eq!(effects.request.next_tend(), Some(after(60)));
    assert_eq!(tend(&effects.request, &mut scene.context()), Fired::NotDue { again: Some(after(60)) });
}

#[test]
fn a_rung_that_was_reached_by_hand_does_not_fire_again() {
    let mut scene = Scene::climbing();
    let (request, _) = scene.raise(&ladder(&[0, 5, 10]));
    let mut settled = |body: &str, request: &Request| {
        scene.now = START;
        let climbed = climb(&mut scene, request, body).unwrap().request;
        scene.now = after(1);
        let tended = tended(&mut scene, &climbed).request;
        (rungs(&tended), tended.next_tend(), tended)
    };
    let (reached, next, _) = settled("{}", &request);
    assert_eq!((reached, next), (vec![0, 1], Some(after(10))));
    let (reached, next, jumped) = settled(r#"{"rung":2}"#, &request);
    assert_eq!((reached, next), (vec![0, 2], Some(after(5))), "the one that was passed over comes at its time");
    // A lower one can be asked for again; the highest stays reached.
    let (reached, next, again) = settled(r#"{"rung":0}"#, &jumped);
    assert_eq!((reached, next), (vec![0, 2, 0], Some(after(5))));
    // Once there is none above, the next one is the one that was passed over.
    let (reached, next, _) = settled("{}", &again);
    assert_eq!((reached, next), (vec![0, 2, 0, 1], None));
    scene.now = after(5);
    let tended = tended(&mut scene, &jumped).request;
    assert_eq!((rungs(&tended), tended.outreach.rung, tended.next_tend()), (vec![0, 2, 1], Some(2), None));
}

#[test]
fn escalating_step_by_step_keeps_one_request_pending_without_a_receipt() {
    let mut scene = Scene::climbing();
    let (mut request, _) = scene.raise(&approve());
    for rung in [1, 2] {
        let effects = climb(&mut scene, &request, "{}").unwrap();
        assert!(effects.receipt.is_none() && effects.authorization.is_none() && effects.signals.is_empty());
        assert_eq!((effects.request.id, effects.request.state), (request.id, RequestState::Pending));
        assert_eq!(effects.request.version, request.version);
        assert_eq!(effects.events[0].data.get("rung").unwrap().to_text(), rung.to_string());
        request = effects.request;
    }
    assert_eq!(rungs(&request), [0, 1, 2]);
    assert!(request.deliveries.iter().all(|delivery| delivery.request_id == request.id));
    for body in ["{}", r#"{"rung":3}"#, r#"{"rung":9007199254740991}"#] {
        let refused = climb(&mut scene, &request, body).unwrap_err();
        assert_eq!(refused.code(), ErrorCode::InvalidRequest, "{body}");
        assert!(refused.to_string().starts_with("`rung` must be "), "{refused}");
    }
}

#[test]
fn escalating_is_for_machines_that_route_and_for_what_is_pending() {
    let narrow = Principal { scopes: Scopes::from(vec!["handoff:requests:write".to_owned()]), ..machine() };
    for principal in [narrow, person(handoff_protocol::principal::Role::Admin)] {
        assert_eq!(Escalate::read(&principal, json("{}")).unwrap_err().code(), ErrorCode::InsufficientScope);
    }
    for body in [r#"{"rung":-1}"#, r#"{"rung":"1"}"#, r#"{"rung":0.5}"#, r#"{"step":1}"#, "[]"] {
        assert_eq!(Escalate::read(&machine(), json(body)).unwrap_err().code(), ErrorCode::InvalidRequest, "{body}");
    }
    let mut scene = Scene::climbing();
    let raised = scene.raise(&approve());
    let answered = scene.answer(&raised, &person(handoff_protocol::principal::Role::Admin), super::scene::YES).unwrap();
    let refused = climb(&mut scene, &answered.request, "{}").unwrap_err();
    assert_eq!(refused.code(), ErrorCode::AlreadyAnswered);
}

#[test]
fn a_ladder_is_read_strictly_and_by_those_who_may_route() {
    let scene = Scene::climbing();
    let read = |body: &str, principal: &Principal| {
        Raise::read(principal, json(body), &scene.policy).map(drop).map_err(|error| error.code())
    };
    for routing in [
        r#"{"ladder":[{"after":"PT0S","channels":[]}]}"#,
        r#"{"ladder":[{"after":"PT0S"}]}"#,
        r#"{"ladder":[{"channels":["inapp"]}]}"#,
        r#"{"ladder":[{"after":"P1M","channels":["inapp"]}]}"#,
        r#"{"ladder":[{"after":"PT5M","channels":["inapp"]},{"after":"PT4M","channels":["inapp"]}]}"#,
        r#"{"ladder":[{"after":"PT0S","channels":["inapp"],"to":{"kind":"crowd","value":"*"}}]}"#,
        r#"{"ladder":[{"after":"PT0S","channels":["inapp"],"who":"me"}]}"#,
        r#"{"targets":[{"kind":"anyone"}]}"#,
        r#"{"rungs":[]}"#,
        r#"{"ladder":[{"after":"PT0S","channels":["in\u0000app"]}]}"#,
        r#"{"ladder":[{"after":"PT0S","channels":["in\napp"]}]}"#,
    ] {
        let body = with(&approve(), "routing", routing);
        assert_eq!(read(&body, &machine()), Err(ErrorCode::InvalidRequest), "{routing}");
    }
    let narrow = Principal { scopes: Scopes::from(vec!["handoff:requests:write".to_owned()]), ..machine() };
    let said = with(&approve(), "routing", r#"{"targets":[{"kind":"role","value":"admin"}]}"#);
    assert_eq!(read(&said, &narrow), Err(ErrorCode::InsufficientScope));
    assert_eq!(read(&said, &machine()), Ok(()));
    for nothing in ["null", "{}", r#"{"targets":[]}"#, r#"{"ladder":[]}"#, r#"{"targets":null,"ladder":null}"#] {
        assert_eq!(read(&with(&approve(), "routing", nothing), &narrow), Ok(()), "{nothing}");
    }
}

#[test]
fn targets_without_a_ladder_keep_the_rungs() {
    let body = with(&approve(), "routing", r#"{"targets":[{"kind":"role","value":"admin"}]}"#);
    let (request, _) = Scene::climbing().raise(&body);
    assert_eq!((request.routing.ladder.len(), request.routing.targets.len()), (3, 1));
    assert_eq!(request.deliveries[0].target.value, "admin");
}

#[test]
fn the_deadline_climbs_while_there_are_rungs_and_denies_then() {
    let mut scene = Scene::climbing();
    let mut raised = scene.raise(&with(&approve(), "ttl", r#""PT2M""#));
    // At the deadline the next rung fires and the deadline is put off; the rung of 15 minutes comes by its time.
    scene.now = after(2);
    let Fired::Acted(effects) = scene.expire(&raised) else { panic!("it is due") };
    assert_eq!((effects.request.state, effects.request.expires_at), (RequestState::Pending, Some(after(17))));
    assert_eq!(effects.timers, [TimerChange::SetDeadline(after(17))]);
    assert!(effects.receipt.is_none() && effects.signals.is_empty(), "the waiter hears nothing until the end");
    raised.0 = effects.request;
    scene.now = after(15);
    let effects = tended(&mut scene, &raised.0);
    assert_eq!((rungs(&effects.request), effects.request.expires_at), (vec![0, 1, 2], Some(after(30))));
    assert_eq!(effects.timers, [TimerChange::SetDeadline(after(30))]);
    raised.0 = effects.request;
    scene.now = after(30);
    let Fired::Acted(effects) = scene.expire(&raised) else { panic!("it is due") };
    assert_eq!(effects.request.state, RequestState::Expired);
    assert!(effects.receipt.is_some());
}

#[test]
fn other_deadlines_stand_whatever_rungs_fire_by_themselves() {
    let body = with(&with(&approve(), "ttl", r#""PT6M""#), "ttl_policy", r#"{"on_expiry":"expire_and_deny"}"#);
    let mut scene = Scene::climbing();
    let (request, _) = scene.raise(&body);
    scene.now = after(5);
    let effects = tended(&mut scene, &request);
    assert_eq!((effects.request.expires_at, effects.timers.len()), (Some(after(6)), 0));
    // Whoever is reached by hand gets some time.
    let by_hand = climb(&mut scene, &request, "{}").unwrap();
    assert_eq!(by_hand.request.expires_at, Some(after(20)));
    assert_eq!(by_hand.timers, [TimerChange::SetDeadline(after(20))]);
    // A deadline that is far away stays, and there is none to put off without one.
    let (far, _) = scene.raise(&with(&approve(), "ttl", r#""PT6H""#));
    assert!(climb(&mut scene, &far, "{}").unwrap().timers.is_empty());
    let (endless, _) = scene.raise(&approve());
    assert_eq!(climb(&mut scene, &endless, "{}").unwrap().request.expires_at, None);
}

fn reminded_hourly() -> (Scene, (Request, Waiter)) {
    let mut scene = Scene::climbing();
    let body = with(&ladder(&[0]), "ttl_policy", r#"{"on_expiry":"park","reminder_every":"PT1H"}"#);
    let mut raised = scene.raise(&body);
    scene.now = after(1);
    raised.0 = tended(&mut scene, &raised.0).request;
    (scene, raised)
}

#[test]
fn what_is_parked_reminds_as_often_as_it_declares() {
    let (mut scene, (mut request, _)) = reminded_hourly();
    assert_eq!(request.next_tend(), Some(after(60)));
    for hour in 1..=3 {
        scene.now = after(60 * hour);
        let effects = tended(&mut scene, &request);
        assert_eq!(effects.events[0].event_type.as_str(), "request.reminded");
        request = effects.request;
        assert_eq!(request.deliveries.len() as u64, hour + 1);
        assert_eq!(request.next_tend(), Some(after(60 * (hour + 1))));
    }
    // After a day without a server, one reminder and not twenty-four.
    scene.now = after(60 * 27 + 10);
    request = tended(&mut scene, &request).request;
    assert_eq!((request.deliveries.len(), request.next_tend()), (5, Some(after(60 * 28))));
}

#[test]
fn a_request_keeps_its_latest_deliveries_and_stays_bounded() {
    let (mut scene, (mut request, _)) = reminded_hourly();
    for hour in 1..=300 {
        scene.now = after(60 * hour);
        request = tended(&mut scene, &request).request;
    }
    assert_eq!(request.deliveries.len(), handoff_protocol::decision::limits::DELIVERIES);
    assert_eq!(request.deliveries.last().unwrap().created_at, after(60 * 300));
    assert!(request.deliveries.is_sorted_by_key(|delivery| delivery.created_at));
}
