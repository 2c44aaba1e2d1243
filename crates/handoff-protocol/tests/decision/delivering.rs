//! Delivering: claims, attempts, what comes of them, and how far they provably got (section 12).

use std::time::Duration;

use handoff_protocol::{
    decision::{
        Delivery, Effects, ErrorCode, Fired, Outgoing, ReportGrade, Request, SendReport, Waiter, begin_send, bounce,
        end_send, outgoing, redeliver, report_grade, see,
        tenant_policy::{ChannelRule, PolicyTerms},
        tend,
        terms::{AttemptOutcome, DeliveryState, Grade, RequestState, Suppression, TargetKind},
    },
    id::DeliveryId,
    principal::Role,
};

use super::{
    people::{ANNA, BORIS, CARLA, policy, target, user},
    scene::{Scene, YES, approve, json, link, machine, person_of, with},
};

/// A request whose one rung goes out through channels to a target.
fn raised(scene: &mut Scene, channels: &str, kind: TargetKind, value: &str) -> (Request, Waiter) {
    scene.policy = policy();
    let to = format!(r#"{{"kind":"{}","value":"{value}"}}"#, kind.as_str());
    let routing = format!(r#"{{"ladder":[{{"after":"PT0S","channels":[{channels}],"to":{to}}}]}}"#);
    scene.raise(&with(&approve(), "routing", &routing))
}

fn tended(scene: &mut Scene, request: &Request) -> Effects {
    match tend(request, &mut scene.context()) {
        Fired::Acted(effects) => *effects,
        Fired::NotDue { again } => panic!("not due before {again:?}"),
    }
}

/// One mail to Anna, on its way.
fn mail(scene: &mut Scene) -> ((Request, Waiter), DeliveryId) {
    let mut raised = raised(scene, r#""email""#, TargetKind::Principal, &user(ANNA).to_string());
    assert_eq!(raised.0.deliveries[0].state, DeliveryState::Queued, "a raise waits for no channel");
    raised.0 = tended(scene, &raised.0).request;
    let id = raised.0.deliveries[0].id;
    raised.0 = begun(scene, &raised.0, id);
    (raised, id)
}

fn sent(scene: &mut Scene, request: &Request, id: DeliveryId, report: &SendReport) -> Request {
    let attempt = request.delivery(id).unwrap().in_flight().unwrap().n;
    end_send(request, id, attempt, report, &mut scene.context()).unwrap().request
}

fn begun(scene: &mut Scene, request: &Request, id: DeliveryId) -> Request {
    match begin_send(request, id, &scene.context()) {
        Fired::Acted(effects) => effects.request,
        Fired::NotDue { again } => panic!("not due before {again:?}"),
    }
}

fn states(request: &Request) -> Vec<(String, DeliveryState, Option<Suppression>)> {
    let state = |delivery: &Delivery| (delivery.target.value.clone(), delivery.state, delivery.suppressed_reason);
    request.deliveries.iter().map(state).collect()
}

#[test]
fn a_claimed_place_becomes_people_of_whom_the_row_takes_the_first() {
    let mut scene = Scene::new();
    let (request, _) = raised(&mut scene, r#""email""#, TargetKind::Anyone, "*");
    let effects = tended(&mut scene, &request);
    let people = [ANNA, BORIS, CARLA].map(|number| user(number).to_string());
    assert_eq!(
        states(&effects.request),
        [
            (people[0].clone(), DeliveryState::Queued, None),
            (people[1].clone(), DeliveryState::Queued, None),
            (people[2].clone(), DeliveryState::Suppressed, Some(Suppression::NoAddress)),
        ]
    );
    assert_eq!(effects.request.deliveries[0].id, request.deliveries[0].id);
    assert!(effects.request.deliveries.iter().all(|delivery| delivery.rung == 0 && delivery.channel == "email"));
    let events: Vec<_> = effects.events.iter().map(|event| event.event_type.as_str()).collect();
    assert_eq!(events, ["delivery.transitioned"], "what is ready says so when its attempt begins");
    let text = format!("{:?}", effects.events);
    assert!(!text.contains("example") && !text.contains("Refund"), "no address and no prompt: {text}");
}

#[test]
fn every_reason_to_keep_a_delivery_back_has_its_code() {
    let mut scene = Scene::new();
    let id = |number| user(number).to_string();
    for (channels, kind, value, reason) in [
        (r#""pigeon""#, TargetKind::Anyone, "*".to_owned(), Suppression::ChannelUnknown),
        (r#""email""#, TargetKind::Group, "nobody".to_owned(), Suppression::NoRecipient),
        (r#""email""#, TargetKind::Principal, id(99), Suppression::NoRecipient),
        (r#""email""#, TargetKind::Principal, id(CARLA), Suppression::NoAddress),
        (r#""slack""#, TargetKind::Principal, id(BORIS), Suppression::NoAddress),
    ] {
        let (request, _) = raised(&mut scene, channels, kind, &value);
        let [delivery] = request.deliveries.as_slice() else { panic!("one delivery") };
        assert!(delivery.max_grade >= Grade::Dispatched && !delivery.can_authenticate_person);
        let request = tended(&mut scene, &request).request;
        let delivery = &request.deliveries[0];
        assert_eq!((delivery.state, delivery.suppressed_reason), (DeliveryState::Suppressed, Some(reason)));
        assert_eq!((delivery.grade_reached, delivery.attempts.len()), (None, 0), "no evidence, no grade");
        assert_eq!((request.next_tend(), request.state), (None, RequestState::Pending));
    }
}

#[test]
fn a_person_is_asked_once_by_a_rung_however_many_places_name_them() {
    let mut scene = Scene::new();
    scene.policy = policy();
    let routing = r#"{"targets":[{"kind":"group","value":"finance"},{"kind":"role","value":"admin"}],
        "ladder":[{"after":"PT0S","channels":["email"]}]}"#;
    let (request, _) = scene.raise(&with(&approve(), "routing", routing));
    let request = tended(&mut scene, &request).request;
    let reasons: Vec<_> = request.deliveries.iter().map(|delivery| delivery.suppressed_reason).collect();
    assert_eq!(reasons, [None, None, Some(Suppression::Duplicate)]);
}

#[test]
fn the_policy_of_the_raise_narrows_channels_and_never_widens_them() {
    let mut scene = Scene::new();
    let rule = |channel: &str, is_enabled, max_grade| ChannelRule {
        channel: channel.to_owned(),
        is_enabled,
        max_grade,
        can_authenticate_person: true,
        requires_binding: false,
    };
    let (mut request, _) =
        raised(&mut scene, r#""email","slack","inapp""#, TargetKind::Principal, &user(ANNA).to_string());
    request.terms = Some(PolicyTerms {
        channels: vec![
            rule("email", true, Grade::Acted),
            rule("slack", false, Grade::Dispatched),
            rule("inapp", true, Grade::Seen),
        ],
        ..PolicyTerms::default()
    });
    request.deliveries.clear();
    request.outreach.rung = None;
    let request = tended(&mut scene, &request).request;
    let said: Vec<_> = request
        .deliveries
        .iter()
        .map(|delivery| (delivery.max_grade, delivery.can_authenticate_person, delivery.suppressed_reason))
        .collect();
    assert_eq!(
        said,
        [
            (Grade::Delivered, false, None),
            (Grade::Dispatched, false, Some(Suppression::ChannelNotConfigured)),
            (Grade::Seen, true, None),
        ]
    );
}

#[test]
fn what_goes_out_names_its_person_and_its_address_and_nothing_kept_does() {
    let mut scene = Scene::new();
    let (raised, id) = mail(&mut scene);
    let out: Outgoing = outgoing(&raised.0, id, &scene.context()).unwrap();
    assert_eq!((out.attempt, out.person.id, out.title.as_str()), (1, user(ANNA), "Refund?"));
    assert_eq!(out.address.expose(), "11@email.example");
    assert!(!format!("{out:?}").contains("email.example"));
    let report = SendReport::failed_for_now("550 no such user 11@email.example").status("550");
    let request = sent(&mut scene, &raised.0, id, &report);
    let attempt = request.delivery(id).unwrap().attempts[0].clone();
    assert_eq!(attempt.error.as_deref(), Some("withheld: it repeats the address"));
    assert_eq!(attempt.transport_status.as_deref(), Some("550"));
    let report = SendReport::failed_for_now(format!("line\nbreak {}", "x".repeat(1_000)));
    scene.now = attempt.next_attempt_at.unwrap();
    let request = begun(&mut scene, &request, id);
    let request = sent(&mut scene, &request, id, &report);
    let error = request.delivery(id).unwrap().attempts[1].error.clone().unwrap();
    assert!(error.len() == 200 && !error.contains('\n'), "{error}");
}

#[test]
fn an_accepted_attempt_dispatches_and_proves_no_more() {
    let mut scene = Scene::new();
    let (raised, id) = mail(&mut scene);
    let request = sent(&mut scene, &raised.0, id, &SendReport::accepted().status("250"));
    let delivery = request.delivery(id).unwrap();
    assert_eq!((delivery.state, delivery.grade_reached), (DeliveryState::Dispatched, Some(Grade::Dispatched)));
    assert_eq!(delivery.attempts[0].outcome, Some(AttemptOutcome::Accepted));
    assert_eq!(request.send_time(delivery), None);
    // A report that comes twice, or of an attempt that is over, changes nothing.
    assert!(end_send(&request, id, 1, &SendReport::timed_out(), &mut scene.context()).is_none());
    assert!(end_send(&request, id, 2, &SendReport::accepted(), &mut scene.context()).is_none());
}

#[test]
fn six_attempts_at_growing_distances_and_then_it_failed() {
    let mut scene = Scene::new();
    let ((mut request, _), id) = mail(&mut scene);
    let mut waits = Vec::new();
    for n in 1..=6 {
        assert_eq!(request.delivery(id).unwrap().in_flight().unwrap().n, n);
        let report = if n % 2 == 0 { SendReport::timed_out() } else { SendReport::failed_for_now("busy") };
        request = sent(&mut scene, &request, id, &report);
        let delivery = request.delivery(id).unwrap();
        if n == 6 {
            assert_eq!((delivery.state, delivery.attempts.len()), (DeliveryState::Failed, 6));
            assert_eq!((request.send_time(delivery), delivery.grade_reached), (None, None));
            break;
        }
        assert_eq!(delivery.state, DeliveryState::Retrying);
        let next = request.send_time(delivery).unwrap();
        assert_eq!(delivery.attempts.last().unwrap().next_attempt_at, Some(next));
        waits.push(next.since(scene.now).as_secs());
        scene.now = next.saturating_sub(Duration::from_millis(1));
        assert_eq!(begin_send(&request, id, &scene.context()), Fired::NotDue { again: Some(next) });
        scene.now = next;
        request = begun(&mut scene, &request, id);
    }
    for (n, wait) in waits.iter().enumerate() {
        let base = 2_u64 << n;
        assert!((base..=base + base / 4).contains(wait), "{waits:?}");
    }
}

#[test]
fn what_can_never_work_fails_at_once_and_what_a_channel_keeps_back_says_why() {
    for (report, state, reason) in [
        (SendReport::failed_for_good("gone"), DeliveryState::Failed, None),
        (
            SendReport::kept_back(Suppression::ChannelNotConfigured),
            DeliveryState::Suppressed,
            Some(Suppression::ChannelNotConfigured),
        ),
    ] {
        let mut scene = Scene::new();
        let (raised, id) = mail(&mut scene);
        let request = sent(&mut scene, &raised.0, id, &report);
        let delivery = request.delivery(id).unwrap();
        assert_eq!((delivery.state, delivery.suppressed_reason, delivery.grade_reached), (state, reason, None));
    }
}

#[test]
fn after_a_crash_the_same_attempt_is_made_once_more() {
    let mut scene = Scene::new();
    let (raised, id) = mail(&mut scene);
    let began = raised.0.delivery(id).unwrap().in_flight().unwrap().started_at;
    scene.now = began.saturating_add(Duration::from_secs(31));
    assert_eq!(begin_send(&raised.0, id, &scene.context()), Fired::NotDue { again: Some(began) });
    assert_eq!(outgoing(&raised.0, id, &scene.context()).unwrap().attempt, 1);
}

#[test]
fn a_delivery_on_its_way_when_the_answer_lands_becomes_stale_and_no_rung_follows() {
    let mut scene = Scene::new();
    scene.policy = policy();
    let body =
        with(&approve(), "routing", r#"{"targets":[{"kind":"principal","value":"usr_0000000000000000000000000B"}]}"#);
    let mut raised = scene.raise(&body);
    for _ in ["the page", "mail"] {
        scene.now = raised.0.next_tend().unwrap();
        raised.0 = tended(&mut scene, &raised.0).request;
    }
    let mail = raised.0.deliveries[1].id;
    raised.0 = begun(&mut scene, &raised.0, mail);
    assert_eq!(raised.0.delivery(mail).unwrap().state, DeliveryState::Sending);
    let answered = scene.answer(&raised, &person_of(3, Role::Admin), YES).unwrap().request;
    assert_eq!(answered.delivery(mail).unwrap().state, DeliveryState::Cancelled);
    assert_eq!(answered.next_tend(), None, "the next rung never fires");
    // It went out all the same: what its person finds is out of date.
    let late = sent(&mut scene, &answered, mail, &SendReport::accepted());
    let delivery = late.delivery(mail).unwrap();
    assert_eq!((delivery.state, delivery.grade_reached), (DeliveryState::Stale, Some(Grade::Dispatched)));
    // It did not: it stays cancelled, and nothing is tried again.
    let failed = sent(&mut scene, &answered, mail, &SendReport::failed_for_now("busy"));
    let delivery = failed.delivery(mail).unwrap();
    assert_eq!((delivery.state, failed.send_time(delivery)), (DeliveryState::Cancelled, None));
    // One that did not set out yet is not sent any more.
    let report = outgoing(&answered, mail, &scene.context()).unwrap_err();
    assert_eq!(report.outcome(), AttemptOutcome::Suppressed);
    let unsent = sent(&mut scene, &answered, mail, &report);
    assert_eq!(unsent.delivery(mail).unwrap().state, DeliveryState::Cancelled);
}

#[test]
fn a_suppressed_or_failed_delivery_is_never_named_on_a_receipt() {
    for report in [None, Some(SendReport::failed_for_good("gone"))] {
        let mut scene = Scene::new();
        let mut raised = raised(
            &mut scene,
            r#""email""#,
            TargetKind::Principal,
            &user(if report.is_some() { ANNA } else { CARLA }).to_string(),
        );
        raised.0 = tended(&mut scene, &raised.0).request;
        let id = raised.0.deliveries[0].id;
        if let Some(report) = report {
            raised.0 = begun(&mut scene, &raised.0, id);
            raised.0 = sent(&mut scene, &raised.0, id, &report);
        }
        let body = format!(r#"{{"values":{{"decision":"yes"}},"via_delivery_id":"{id}"}}"#);
        let receipt = scene.answer(&raised, &person_of(3, Role::Admin), &body).unwrap().receipt.unwrap();
        let via = json(&receipt.text).get("via").unwrap().to_text();
        assert_eq!(via, r#"{"delivery_id":null,"channel":null,"target":null,"grade_reached":null}"#);
    }
}

fn grade(request: &Request, id: DeliveryId, grade: &str, scene: &mut Scene) -> Result<Effects, ErrorCode> {
    let report =
        ReportGrade::read(&machine(), json(&format!(r#"{{"grade":"{grade}"}}"#))).map_err(|error| error.code())?;
    report_grade(request, id, &report, &machine(), &scene.context()).map_err(|error| error.code())
}

#[test]
fn a_reported_grade_only_rises_and_never_above_the_ceiling() {
    let mut scene = Scene::new();
    let (raised, id) = mail(&mut scene);
    let request = sent(&mut scene, &raised.0, id, &SendReport::accepted());
    let effects = grade(&request, id, "delivered", &mut scene).unwrap();
    assert_eq!(effects.events[0].event_type.as_str(), "delivery.transitioned");
    let delivery = effects.request.delivery(id).unwrap();
    assert_eq!((delivery.state, delivery.grade_reached), (DeliveryState::Delivered, Some(Grade::Delivered)));
    assert_eq!(delivery.attempts.len(), 1, "a report is no attempt");
    let again = grade(&effects.request, id, "delivered", &mut scene).unwrap();
    assert_eq!((&again.request, again.events.len()), (&effects.request, 0));
    for refused in ["seen", "dispatched", "acted", "read"] {
        assert_eq!(grade(&request, id, refused, &mut scene), Err(ErrorCode::InvalidRequest), "{refused}");
    }
    let unknown = DeliveryId::parse("dlv_01K3M7QW9A8ZC4YRXB2N6VD9FT").unwrap();
    assert_eq!(grade(&request, unknown, "delivered", &mut scene), Err(ErrorCode::RequestNotFound));
    let (unsent, _) = super::delivering::raised(&mut scene, r#""email""#, TargetKind::Anyone, "*");
    let refused = grade(&unsent, unsent.deliveries[0].id, "delivered", &mut scene);
    assert_eq!(refused, Err(ErrorCode::InvalidRequest), "nothing was sent that could have arrived");
}

#[test]
fn what_is_final_or_was_never_taken_has_no_grade_to_report() {
    let mut scene = Scene::new();
    let (mut raised, id) = mail(&mut scene);
    for report in [
        SendReport::failed_for_good("gone"),
        SendReport::failed_for_now("busy"),
        SendReport::timed_out(),
        SendReport::kept_back(Suppression::ChannelNotConfigured),
    ] {
        let request = sent(&mut scene, &raised.0, id, &report);
        assert_eq!(grade(&request, id, "delivered", &mut scene), Err(ErrorCode::InvalidRequest), "{report:?}");
    }
    // What is on its way may arrive before our transport says that it took it.
    assert!(grade(&raised.0, id, "delivered", &mut scene).is_ok());
    raised.0 = sent(&mut scene, &raised.0, id, &SendReport::accepted());
    let bounced = bounce(&raised.0, id, &scene.context()).unwrap().request;
    assert_eq!(grade(&bounced, id, "delivered", &mut scene), Err(ErrorCode::InvalidRequest));
    let graded = grade(&raised.0, id, "delivered", &mut scene).unwrap().request;
    for (request, known) in [(&raised.0, false), (&graded, true)] {
        let ended =
            scene.answer(&(request.clone(), raised.1.clone()), &person_of(3, Role::Admin), YES).unwrap().request;
        assert_eq!(ended.delivery(id).unwrap().state, DeliveryState::Stale);
        assert_eq!(grade(&ended, id, "delivered", &mut scene).is_ok(), known, "it stays as it is");
    }
    // A page that the policy of the raise does not use was never listed.
    let (mut request, _) = super::delivering::raised(&mut scene, r#""inapp""#, TargetKind::Anyone, "*");
    request.terms = Some(PolicyTerms {
        channels: vec![ChannelRule {
            channel: "inapp".to_owned(),
            is_enabled: false,
            max_grade: Grade::Acted,
            can_authenticate_person: true,
            requires_binding: false,
        }],
        ..PolicyTerms::default()
    });
    scene.now = request.next_tend().unwrap();
    let request = tended(&mut scene, &request).request;
    let id = request.deliveries[0].id;
    assert_eq!(grade(&request, id, "seen", &mut scene), Err(ErrorCode::InvalidRequest));
}

#[test]
fn a_page_for_a_place_where_nobody_is_reaches_nobody() {
    let mut scene = Scene::new();
    for (kind, value, reason) in [
        (TargetKind::Group, "nobody", Some(Suppression::NoRecipient)),
        (TargetKind::Rotation, "nobody", Some(Suppression::NoRecipient)),
        (TargetKind::Role, "boss", Some(Suppression::NoRecipient)),
        (TargetKind::Group, "finance", None),
        (TargetKind::Role, "admin", None),
        (TargetKind::Anyone, "*", None),
    ] {
        let (request, _) = raised(&mut scene, r#""inapp""#, kind, value);
        scene.now = request.next_tend().unwrap();
        let request = tended(&mut scene, &request).request;
        let delivery = &request.deliveries[0];
        let listed = reason.is_none().then_some(Grade::Dispatched);
        assert_eq!((delivery.suppressed_reason, delivery.grade_reached), (reason, listed), "{kind:?} {value}");
        assert_eq!(delivery.attempts.len(), usize::from(reason.is_none()));
    }
}

#[test]
fn opening_the_page_is_seen_once_and_by_whom_it_is_for() {
    let mut scene = Scene::new();
    scene.policy = policy();
    let routing = r#"{"ladder":[{"after":"PT0S","channels":["inapp"],"to":{"kind":"group","value":"finance"}}]}"#;
    let (request, _) = scene.raise(&with(&approve(), "routing", routing));
    for nobody in [person_of(CARLA, Role::Admin), machine(), link(handoff_protocol::principal::AuthStrength::Session)] {
        assert!(see(&request, &nobody, &scene.context()).is_none());
    }
    let effects = see(&request, &person_of(ANNA, Role::Viewer), &scene.context()).unwrap();
    let delivery = &effects.request.deliveries[0];
    assert_eq!((delivery.state, delivery.grade_reached), (DeliveryState::Seen, Some(Grade::Seen)));
    assert!(see(&effects.request, &person_of(BORIS, Role::Viewer), &scene.context()).is_none(), "once is enough");
}

#[test]
fn redelivering_queues_one_more_attempt_on_the_same_delivery() {
    let mut scene = Scene::new();
    let (raised, id) = mail(&mut scene);
    let request = sent(&mut scene, &raised.0, id, &SendReport::accepted());
    let asked = redeliver(&request, id, &machine(), &scene.context()).unwrap().request;
    assert_eq!(asked.send_time(asked.delivery(id).unwrap()), Some(scene.now));
    assert_eq!(redeliver(&asked, id, &machine(), &scene.context()).unwrap().request, asked, "asked for already");
    let again = begun(&mut scene, &asked, id);
    assert_eq!((again.delivery(id).unwrap().state, again.outreach.again.len()), (DeliveryState::Dispatched, 0));
    // What got there once is there, whatever becomes of sending it again.
    let failed = sent(&mut scene, &again, id, &SendReport::failed_for_good("gone"));
    let delivery = failed.delivery(id).unwrap();
    assert_eq!((delivery.state, delivery.attempts.len(), failed.deliveries.len()), (DeliveryState::Dispatched, 2, 1));
    assert_eq!(failed.send_time(delivery), None);
}

#[test]
fn what_is_final_or_unknown_is_not_redelivered_and_what_is_settled_says_so() {
    let mut scene = Scene::new();
    let (mut raised, id) = mail(&mut scene);
    let unknown = DeliveryId::parse("dlv_01K3M7QW9A8ZC4YRXB2N6VD9FT").unwrap();
    let code = |request: &Request, id, scene: &mut Scene| {
        redeliver(request, id, &machine(), &scene.context()).unwrap_err().code()
    };
    assert_eq!(code(&raised.0, unknown, &mut scene), ErrorCode::RequestNotFound);
    let failed = sent(&mut scene, &raised.0, id, &SendReport::failed_for_good("gone"));
    assert_eq!(code(&failed, id, &mut scene), ErrorCode::RequestNotFound);
    raised.0 = sent(&mut scene, &raised.0, id, &SendReport::accepted());
    let answered = scene.answer(&raised, &person_of(3, Role::Admin), YES).unwrap().request;
    assert_eq!(code(&answered, id, &mut scene), ErrorCode::AlreadyAnswered);
}

#[test]
fn mail_that_came_back_bounced_and_is_named_no_more() {
    let mut scene = Scene::new();
    let (raised, id) = mail(&mut scene);
    assert!(bounce(&raised.0, id, &scene.context()).is_none(), "it is still on its way");
    let request = sent(&mut scene, &raised.0, id, &SendReport::accepted());
    let bounced = bounce(&request, id, &scene.context()).unwrap().request;
    assert_eq!(bounced.delivery(id).unwrap().state, DeliveryState::Bounced);
    assert!(!bounced.delivery(id).unwrap().could_carry_an_answer());
    assert!(bounce(&bounced, id, &scene.context()).is_none());
}

#[test]
fn a_channel_that_keeps_up_is_remembered_for_as_long_as_it_shows_something() {
    let mut scene = Scene::new();
    let (request, _) = raised(&mut scene, r#""slack","email""#, TargetKind::Principal, &user(ANNA).to_string());
    let mut request = tended(&mut scene, &request).request;
    for id in request.deliveries.iter().map(|delivery| delivery.id).collect::<Vec<_>>() {
        request = begun(&mut scene, &request, id);
        request = sent(&mut scene, &request, id, &SendReport::accepted());
    }
    assert_eq!(request.outreach.shown, [request.deliveries[0].id]);
    assert_eq!(request.deliveries[0].channel, "slack");
    assert_eq!(target(TargetKind::Principal, &user(ANNA).to_string()), request.deliveries[0].target);
}
