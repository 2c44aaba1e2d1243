//! Reassigning: somebody else is asked at the current rung, and may answer (section 11, rule A-4).

use handoff_protocol::{
    decision::{
        Amend, DecisionError, Effects, ErrorCode, Escalate, Fired, Raise, Reassign, Request, amend, begin_send,
        escalate, limits, raise, reassign, tend,
        terms::{DeliveryState, RequestState, TargetKind},
    },
    principal::{Principal, Role, Scopes},
};

use super::{
    people::{ANNA, BORIS, policy, user},
    scene::{Scene, YES, approve, json, machine, person, person_of, with},
};

fn to(kind: TargetKind, value: &str) -> String {
    format!(r#"{{"to":{{"kind":"{}","value":"{value}"}},"reason":"she owns it"}}"#, kind.as_str())
}

fn pass(scene: &mut Scene, request: &Request, body: &str) -> Result<Effects, DecisionError> {
    let command = Reassign::read(&machine(), json(body))?;
    reassign(request, &command, &machine(), &mut scene.context())
}

#[test]
fn whoever_it_is_passed_to_is_reached_and_may_answer_from_then_on() {
    let mut scene = Scene::new();
    scene.policy = policy();
    let assignees = format!(r#"[{{"kind":"principal","value":"{}"}}]"#, user(ANNA));
    let raised = scene.raise(&with(&approve(), "requires.authority.assignees", &assignees));
    let boris = person_of(BORIS, Role::Viewer);
    assert_eq!(scene.answer(&raised, &boris, YES).unwrap_err().code(), ErrorCode::InsufficientAuthority);
    for body in [to(TargetKind::Principal, &user(BORIS).to_string()), to(TargetKind::Group, "finance")] {
        let effects = pass(&mut scene, &raised.0, &body).unwrap();
        assert!(effects.receipt.is_none() && effects.signals.is_empty());
        assert_eq!((effects.request.id, effects.request.state), (raised.0.id, RequestState::Pending));
        let made = effects.request.deliveries.last().unwrap();
        assert_eq!((made.rung, made.channel.as_str(), made.state), (0, "inapp", DeliveryState::Queued));
        let event = &effects.events[0];
        assert_eq!(event.event_type.as_str(), "request.reassigned");
        assert!(event.data.get("reason").is_none(), "events carry no words");
        let passed = (effects.request, raised.1.clone());
        for person in [&boris, &person_of(ANNA, Role::Viewer)] {
            assert!(scene.answer(&passed, person, YES).is_ok());
        }
        let refused = scene.answer(&passed, &person_of(77, Role::Admin), YES).unwrap_err();
        assert_eq!(refused.code(), ErrorCode::InsufficientAuthority);
    }
}

#[test]
fn groups_and_rotations_may_be_assigned_and_are_asked_at_the_answer() {
    let mut scene = Scene::new();
    scene.policy = policy();
    let raised =
        scene.raise(&with(&approve(), "requires.authority.assignees", r#"[{"kind":"rotation","value":"on-call"}]"#));
    let on_duty = [ANNA, BORIS, super::people::CARLA]
        .into_iter()
        .filter(|number| scene.answer(&raised, &person_of(*number, Role::Viewer), YES).is_ok())
        .count();
    assert_eq!(on_duty, 1, "one has the turn");
}

#[test]
fn what_did_not_set_out_is_cancelled_and_what_did_stays() {
    let mut scene = Scene::new();
    scene.policy = policy();
    let (request, _) = scene.raise(&approve());
    scene.now = request.next_tend().unwrap();
    let Fired::Acted(listed) = tend(&request, &mut scene.context()) else { panic!("it is due") };
    let request = listed.request;
    let command = Escalate::read(&machine(), json("{}")).unwrap();
    let queued = escalate(&request, &command, &machine(), &mut scene.context()).unwrap().request;
    assert_eq!(queued.deliveries[1].state, DeliveryState::Queued);
    let effects = pass(&mut scene, &queued, &to(TargetKind::Principal, &user(BORIS).to_string())).unwrap();
    let states: Vec<_> = effects.request.deliveries.iter().map(|delivery| (delivery.rung, delivery.state)).collect();
    assert_eq!(
        states,
        [(0, DeliveryState::Dispatched), (1, DeliveryState::Cancelled), (1, DeliveryState::Queued)],
        "the new one is at the current rung"
    );
    let Fired::Acted(sending) = tend(&queued, &mut scene.context()) else { panic!("mail is due") };
    let ready = pass(&mut scene, &sending.request, &to(TargetKind::Role, "admin")).unwrap().request;
    assert_eq!(ready.deliveries[1].state, DeliveryState::Cancelled, "it waited for a place");
    assert_eq!(ready.send_time(&ready.deliveries[1]), None);
    let mail = sending.request.deliveries[1].id;
    let Fired::Acted(sending) = begin_send(&sending.request, mail, &scene.context()) else { panic!("mail is ready") };
    let effects = pass(&mut scene, &sending.request, &to(TargetKind::Role, "admin")).unwrap();
    assert_eq!(effects.request.deliveries[1].state, DeliveryState::Sending, "what is on its way is not called back");
}

#[test]
fn reassigning_is_for_machines_and_people_who_route_and_needs_a_target() {
    let narrow = Scopes::from(vec!["handoff:requests:write".to_owned()]);
    let body = to(TargetKind::Role, "admin");
    Reassign::read(&person(Role::Viewer), json(&body)).unwrap();
    for principal in [machine(), person(Role::Admin)] {
        let principal = Principal { scopes: narrow.clone(), ..principal };
        assert_eq!(Reassign::read(&principal, json(&body)).unwrap_err().code(), ErrorCode::InsufficientScope);
    }
    for body in ["{}", r#"{"to":"admin"}"#, r#"{"to":{"kind":"crowd","value":"*"}}"#, r#"{"to":{"kind":"role"}}"#] {
        assert_eq!(Reassign::read(&machine(), json(body)).unwrap_err().code(), ErrorCode::InvalidRequest, "{body}");
    }
}

#[test]
fn a_request_is_passed_on_to_so_many_and_no_more() {
    let mut scene = Scene::new();
    let (mut request, _) = scene.raise(&approve());
    for number in 0..limits::ASSIGNEES {
        request = pass(&mut scene, &request, &to(TargetKind::Group, &number.to_string())).unwrap().request;
    }
    assert!(pass(&mut scene, &request, &to(TargetKind::Group, "7")).is_ok(), "it is one of them already");
    let refused = pass(&mut scene, &request, &to(TargetKind::Group, "one more")).unwrap_err();
    assert!(refused.to_string().starts_with("`to` must "), "{refused}");
}

#[test]
fn whoever_can_never_answer_is_refused_by_the_place_of_it_wherever_an_answer_is_wanted() {
    // A server that knows of no place takes any; roles and ids are the same everywhere.
    let mut blank = Scene::new();
    let mut known = Scene::new();
    known.policy = policy();
    let target = |(kind, value): (&str, &str)| format!(r#"{{"kind":"{kind}","value":"{value}"}}"#);
    let assigned = |pair| with(&approve(), "requires.authority.assignees", &format!("[{}]", target(pair)));
    for (pair, refused_by_blank, refused_by_known) in [
        (("role", "boss"), true, true),
        (("principal", "dana"), true, true),
        (("principal", "sa_01K3M7QW8ZC4YRXB2N6VD9FTHE"), true, true),
        (("group", "financ"), false, true),
        (("rotation", "on-cal"), false, true),
        (("group", "finance"), false, false),
        (("rotation", "on-call"), false, false),
        (("role", "editor"), false, false),
        (("anyone", "*"), false, false),
    ] {
        for (scene, expected) in [(&mut blank, refused_by_blank), (&mut known, refused_by_known)] {
            let raised = scene.raise(&approve());
            let command = Raise::read(&machine(), json(&assigned(pair)), &scene.policy).unwrap();
            let raise = raise(&command, &machine(), None, &mut scene.context()).map(|_| ());
            let passed = pass(scene, &raised.0, &format!(r#"{{"to":{}}}"#, target(pair))).map(|_| ());
            let body = format!(r#"{{"values":{{}},"disposition":"delegate","delegate_to":{}}}"#, target(pair));
            let delegated = scene.answer(&raised, &person(Role::Admin), &body).map(|_| ());
            let requires = json(&assigned(pair)).get("requires").unwrap().to_text();
            let body = json(&format!(r#"{{"requires":{requires}}}"#));
            let command = Amend::read(&machine(), body, &scene.policy).unwrap();
            let amended = amend(&raised.0, &command, &machine(), &raised.1, &mut scene.context()).map(|_| ());
            for (done, place) in [
                (raise, "requires.authority.assignees[0].value"),
                (amended, "requires.authority.assignees[0].value"),
                (passed, "to.value"),
                (delegated, "delegate_to.value"),
            ] {
                match done {
                    Ok(()) => assert!(!expected, "{pair:?} {place}"),
                    Err(error) => {
                        assert!(expected && error.code() == ErrorCode::InvalidRequest, "{pair:?} {place}: {error}");
                        let text = error.to_string();
                        assert!(text.starts_with(&format!("`{place}` must be")) && !text.contains(pair.1), "{text}");
                    }
                }
            }
        }
    }
}
