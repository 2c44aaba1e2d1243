//! Sending again: retries, attempts that were asked for, and what holds for each of them (rules V-7, V-8, V-12).

use std::sync::Arc;

use handoff_protocol::{
    decision::{
        Fired, Request, SendReport, begin_send,
        directory::{Directory, QuietHours},
        end_send, outgoing, redeliver, tend,
        terms::{AttemptOutcome, DeliveryState, Grade, Suppression},
    },
    id::DeliveryId,
    principal::Role,
};

use super::{
    people::{ANNA, policy, somebody, user},
    scene::{Scene, approve, machine, with},
};

/// One mail to Anna whose first attempt goes on.
fn mail(scene: &mut Scene, urgency: &str) -> (Request, DeliveryId) {
    scene.policy = policy();
    let anna = user(ANNA);
    let routing = format!(
        r#"{{"ladder":[{{"after":"PT0S","channels":["email"],"to":{{"kind":"principal","value":"{anna}"}}}}]}}"#
    );
    let body = with(&with(&approve(), "routing", &routing), "urgency", &format!(r#""{urgency}""#));
    let (request, _) = scene.raise(&body);
    let Fired::Acted(claimed) = tend(&request, &mut scene.context()) else { panic!("it is due") };
    let id = claimed.request.deliveries[0].id;
    (begun(scene, &claimed.request, id), id)
}

fn begun(scene: &mut Scene, request: &Request, id: DeliveryId) -> Request {
    match begin_send(request, id, &scene.context()) {
        Fired::Acted(effects) => effects.request,
        Fired::NotDue { again } => panic!("not due before {again:?}"),
    }
}

fn ended(scene: &mut Scene, request: &Request, id: DeliveryId, report: &SendReport) -> Request {
    let attempt = request.delivery(id).unwrap().in_flight().unwrap().n;
    end_send(request, id, attempt, report, &mut scene.context()).unwrap().request
}

fn asked(scene: &mut Scene, request: &Request, id: DeliveryId) -> Request {
    redeliver(request, id, &machine(), &scene.context()).unwrap().request
}

fn state(request: &Request, id: DeliveryId) -> (DeliveryState, usize) {
    let delivery = request.delivery(id).unwrap();
    (delivery.state, delivery.attempts.len())
}

/// What is sent, as the word of why not.
fn judged(scene: &mut Scene, request: &Request, id: DeliveryId) -> Result<u32, SendReport> {
    outgoing(request, id, &scene.context()).map(|outgoing| outgoing.attempt)
}

fn anna(scene: &mut Scene, change: impl FnOnce(&mut handoff_protocol::decision::directory::Person)) {
    let mut anna = somebody(ANNA, Role::Admin, &["email"]);
    change(&mut anna);
    scene.policy.directory = Arc::new(Directory::default().with_person(anna));
}

#[test]
fn each_attempt_is_judged_by_the_address_the_consent_and_the_hours_of_its_moment() {
    let all_day = QuietHours::new(0, 24 * 60);
    for critical in [false, true] {
        let mut scene = Scene::new();
        let (first, id) = mail(&mut scene, if critical { "critical" } else { "high" });
        let sent = ended(&mut scene, &first, id, &SendReport::accepted());
        let again = asked(&mut scene, &sent, id);
        let again = begun(&mut scene, &again, id);
        let busy = ended(&mut scene, &first, id, &SendReport::failed_for_now("busy"));
        scene.now = busy.send_time(busy.delivery(id).unwrap()).unwrap();
        let retry = begun(&mut scene, &busy, id);
        for request in [&first, &retry, &again] {
            assert!(judged(&mut scene, request, id).is_ok());
        }
        type Change = Box<dyn Fn(&mut handoff_protocol::decision::directory::Person)>;
        let changes: [(Change, Suppression); 3] = [
            (Box::new(|anna| anna.contacts.clear()), Suppression::NoAddress),
            (Box::new(|anna| anna.contacts[0].verified = false), Suppression::ConsentMissing),
            (Box::new(move |anna| anna.quiet = all_day), Suppression::QuietHours),
        ];
        for (change, reason) in changes {
            anna(&mut scene, change);
            let comes_through = critical && reason == Suppression::QuietHours;
            for request in [&first, &retry, &again] {
                let judged = judged(&mut scene, request, id);
                assert_eq!(judged.is_ok(), comes_through, "{reason:?}");
                let Err(report) = judged else { continue };
                let ended = ended(&mut scene, request, id, &report);
                let delivery = ended.delivery(id).unwrap();
                let last = delivery.attempts.last().unwrap();
                assert_eq!(last.outcome, Some(AttemptOutcome::Suppressed));
                assert_eq!(last.error.as_deref(), Some(format!("kept back: {}", reason.as_str()).as_str()));
                if delivery.reaches(Grade::Dispatched) {
                    // What got there once is there.
                    assert_eq!((delivery.state, delivery.suppressed_reason), (DeliveryState::Dispatched, None));
                } else {
                    assert_eq!((delivery.state, delivery.suppressed_reason), (DeliveryState::Suppressed, Some(reason)));
                }
            }
        }
    }
}

#[test]
fn what_is_asked_for_while_an_attempt_goes_on_is_made_when_that_one_ended_however_it_ended() {
    let mut scene = Scene::new();
    let (request, id) = mail(&mut scene, "normal");
    let waiting = asked(&mut scene, &request, id);
    assert_eq!(asked(&mut scene, &waiting, id), waiting, "asked for already");
    for report in [SendReport::accepted(), SendReport::failed_for_now("busy"), SendReport::failed_for_good("gone")] {
        let ended = ended(&mut scene, &waiting, id, &report);
        assert_eq!(ended.send_time(ended.delivery(id).unwrap()), Some(scene.now), "{report:?}");
        let second = begun(&mut scene, &ended, id);
        assert_eq!((state(&second, id).1, second.outreach.again.len()), (2, 0));
        let gone = super::resending::ended(&mut scene, &second, id, &SendReport::failed_for_good("gone"));
        let expected = if report == SendReport::accepted() { DeliveryState::Dispatched } else { DeliveryState::Failed };
        assert_eq!(state(&gone, id), (expected, 2));
        assert_eq!(gone.send_time(gone.delivery(id).unwrap()), None);
    }
    // What its channel keeps back is over all the same.
    let kept = ended(&mut scene, &waiting, id, &SendReport::kept_back(Suppression::ChannelNotConfigured));
    assert_eq!((state(&kept, id).0, kept.send_time(kept.delivery(id).unwrap())), (DeliveryState::Suppressed, None));
    assert!(kept.outreach.again.is_empty());
}

#[test]
fn attempts_that_were_asked_for_are_beside_the_six_of_its_own() {
    let mut scene = Scene::new();
    let (mut request, id) = mail(&mut scene, "normal");
    let busy = SendReport::failed_for_now("busy");
    request = ended(&mut scene, &request, id, &busy);
    for _ in 0..7 {
        request = asked(&mut scene, &request, id);
        request = begun(&mut scene, &request, id);
        request = ended(&mut scene, &request, id, &busy);
        assert_eq!(state(&request, id).0, DeliveryState::Retrying);
        let wait = request.send_time(request.delivery(id).unwrap()).unwrap().since(scene.now).as_secs();
        assert!((2..=3).contains(&wait), "the next of its own is the second still: {wait}");
    }
    let mut own = 1;
    while state(&request, id).0 == DeliveryState::Retrying {
        scene.now = request.send_time(request.delivery(id).unwrap()).unwrap();
        request = begun(&mut scene, &request, id);
        request = ended(&mut scene, &request, id, &busy);
        own += 1;
    }
    assert_eq!((own, state(&request, id).0), (6, DeliveryState::Failed));
    assert_eq!(request.outreach.asked, []);
}

#[test]
fn a_delivery_that_waits_for_a_place_has_not_begun() {
    let mut scene = Scene::new();
    scene.policy = policy();
    let routing = format!(
        r#"{{"ladder":[{{"after":"PT0S","channels":["email"],"to":{{"kind":"principal","value":"{}"}}}}]}}"#,
        user(ANNA)
    );
    let (request, _) = scene.raise(&with(&approve(), "routing", &routing));
    let Fired::Acted(claimed) = tend(&request, &mut scene.context()) else { panic!("it is due") };
    let request = claimed.request;
    let delivery = &request.deliveries[0];
    assert_eq!((delivery.state, delivery.attempts.len()), (DeliveryState::Queued, 0));
    assert_eq!((request.send_time(delivery), request.next_tend()), (Some(scene.now), None));
    let claimed_at = scene.now;
    scene.now = scene.now.saturating_add(std::time::Duration::from_secs(36));
    let request = begun(&mut scene, &request, delivery.id);
    let delivery = &request.deliveries[0];
    assert_eq!((delivery.state, delivery.attempts[0].started_at), (DeliveryState::Sending, scene.now));
    assert!(delivery.attempts[0].started_at > claimed_at);
}

#[test]
fn what_an_earlier_rung_has_on_its_way_keeps_no_later_one_back() {
    let mut scene = Scene::new();
    scene.policy = policy();
    let rung = |after: &str| {
        let anna = user(ANNA);
        format!(r#"{{"after":"{after}","channels":["email"],"to":{{"kind":"principal","value":"{anna}"}}}}"#)
    };
    let routing = format!(r#"{{"ladder":[{},{}]}}"#, rung("PT0S"), rung("PT1M"));
    let (request, _) = scene.raise(&with(&approve(), "routing", &routing));
    let Fired::Acted(claimed) = tend(&request, &mut scene.context()) else { panic!("it is due") };
    // The process ends while this attempt goes on, and nothing more is heard of it.
    let stuck = begun(&mut scene, &claimed.request, claimed.request.deliveries[0].id);
    scene.now = stuck.next_tend().unwrap();
    let Fired::Acted(later) = tend(&stuck, &mut scene.context()) else { panic!("the next rung is due") };
    let later = later.request;
    assert_eq!(later.deliveries[1].suppressed_reason, None);
    assert!(later.send_time(&later.deliveries[1]).is_some());
}
