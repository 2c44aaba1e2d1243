//! Reaching people: deliveries from the rung to the outcome, in virtual time.

use std::time::Duration;

use handoff_protocol::{
    decision::{
        Delivery, ErrorCode, SendReport,
        directory::{LocalTime, QuietHours, Rotation, Zone},
        terms::{AttemptOutcome, DeliveryState, Grade, RequestState, Suppression},
        view::RequestView,
    },
    id::{DeliveryId, RequestId},
    principal::Role,
    timestamp::Timestamp,
};
use handoff_testkit::Fault;

use super::{
    people::Reached,
    world::{REASON, YES, ask, ask_with, code, json, key_of},
};

const MINUTE: Duration = Duration::from_secs(60);

fn routed(ladder: &str) -> String {
    ask_with("run:1", "Refund?", &format!(r#""routing":{{"ladder":[{ladder}]}}"#))
}

/// One rung of mail at once, to a target.
fn mail_to(kind: &str, value: &str) -> String {
    routed(&format!(r#"{{"after":"PT0S","channels":["email"],"to":{{"kind":"{kind}","value":"{value}"}}}}"#))
}

fn states(request: &RequestView) -> Vec<DeliveryState> {
    request.deliveries.iter().map(|delivery| delivery.state).collect()
}

async fn only(reached: &Reached, id: RequestId) -> Delivery {
    let request = reached.world.request(id).await;
    let [delivery] = request.deliveries.as_slice() else { panic!("one delivery: {:?}", request.deliveries) };
    delivery.clone()
}

#[tokio::test]
async fn the_ladder_climbs_by_itself_and_what_has_no_channel_says_so() {
    let reached = Reached::new().await;
    reached.add("anna", Role::Editor, |_| {}).await;
    let raised = reached.world.engine.raise(&reached.world.machine, json(&ask("run:1", "Refund?")), None).await;
    let raised = raised.unwrap().request;
    assert_eq!(states(&raised), [DeliveryState::Queued], "a raise waits for no channel");
    let id = raised.id;
    assert_eq!(reached.world.request(id).await, raised);
    reached.world.clock.advance(Duration::from_secs(1));
    reached.settle().await;
    assert_eq!(states(&reached.world.request(id).await), [DeliveryState::Dispatched]);
    reached.world.clock.advance(5 * MINUTE - Duration::from_millis(1001));
    reached.settle().await;
    assert!(reached.mail.addresses().is_empty());
    reached.world.clock.advance(Duration::from_millis(1));
    reached.settle().await;
    assert_eq!(reached.mail.addresses(), ["anna@example.com"]);
    reached.world.clock.advance(10 * MINUTE);
    reached.settle().await;
    let request = reached.world.request(id).await;
    assert_eq!(states(&request), [DeliveryState::Dispatched, DeliveryState::Dispatched, DeliveryState::Suppressed]);
    let last = request.deliveries.last().unwrap();
    assert_eq!((last.rung, last.suppressed_reason), (2, Some(Suppression::ChannelUnknown)));
    assert_eq!((last.grade_reached, last.max_grade, last.can_authenticate_person), (None, Grade::Dispatched, false));
    assert_eq!((request.state, reached.world.next_timer().await), (RequestState::Pending, None));
    let message = reached.mail.sent.lock().unwrap()[0].clone();
    assert_eq!(message.surface_url, format!("http://127.0.0.1:8080/requests/{id}"));
    assert_eq!(message.outgoing.title, "Refund?");
    assert_eq!(
        reached.world.events_of(id).await,
        [
            "request.raised",
            "delivery.transitioned",
            "request.escalated",
            "delivery.transitioned",
            "delivery.transitioned",
            "request.escalated",
            "delivery.transitioned"
        ]
    );
    let events = format!("{:?}", reached.world.events().await);
    assert!(!events.contains("example.com") && !events.contains("Refund"), "{events}");
}

#[tokio::test]
async fn a_role_becomes_those_who_hold_it_at_that_moment() {
    let reached = Reached::new().await;
    reached.add("anna", Role::Admin, |_| {}).await;
    let boris = reached.add("boris", Role::Viewer, |_| {}).await;
    reached.add("carla", Role::Viewer, |_| {}).await;
    let id = reached.world.raised(&mail_to("role", "editor")).await;
    reached.world.engine.set_role(reached.world.tenant, boris, Role::Editor).await.unwrap();
    reached.settle().await;
    let mut addresses = reached.mail.addresses();
    addresses.sort();
    assert_eq!(addresses, ["anna@example.com", "boris@example.com"]);
    let request = reached.world.request(id).await;
    assert!(request.deliveries.iter().all(|delivery| delivery.request_id == id && delivery.rung == 0));
    assert_eq!(states(&request), [DeliveryState::Dispatched; 2]);
}

#[tokio::test]
async fn a_delivery_is_retried_at_its_times_until_it_failed() {
    let reached = Reached::new().await;
    let anna = reached.add("anna", Role::Editor, |_| {}).await;
    for _ in 0..6 {
        reached.mail.say(SendReport::failed_for_now("busy").status("451"));
    }
    let id = reached.world.raised(&mail_to("principal", &anna.to_string())).await;
    for n in 1..=6 {
        reached.settle().await;
        let delivery = only(&reached, id).await;
        assert_eq!((delivery.attempts.len(), reached.mail.addresses().len()), (n, n));
        let next = delivery.attempts.last().unwrap().next_attempt_at;
        assert_eq!(reached.world.next_timer().await, next);
        if let Some(next) = next {
            assert_eq!(delivery.state, DeliveryState::Retrying);
            reached.world.clock.set(next);
        }
    }
    assert_eq!(only(&reached, id).await.state, DeliveryState::Failed);
    assert_eq!(reached.world.next_timer().await, None);
}

#[tokio::test]
async fn a_rung_that_is_sending_when_the_answer_lands_becomes_stale_and_the_next_never_fires() {
    let reached = Reached::new().await;
    reached.add("anna", Role::Editor, |_| {}).await;
    let id = reached.world.raised(&ask("run:1", "Refund?")).await;
    // The mail hangs on its way.
    reached.mail.gate.forget_permits(1_000);
    reached.world.clock.advance(5 * MINUTE);
    while reached.mail.sent.lock().unwrap().is_empty() {
        reached.world.engine.run_due_timers().await.unwrap();
        tokio::task::yield_now().await;
    }
    assert_eq!(states(&reached.world.request(id).await)[1], DeliveryState::Sending);
    reached.world.engine.answer(&reached.world.person, id, json(YES), None).await.unwrap();
    assert_eq!(states(&reached.world.request(id).await), [DeliveryState::Acted, DeliveryState::Cancelled]);
    reached.mail.gate.add_permits(1_000);
    reached.world.engine.outbound_idle().await;
    let request = reached.world.request(id).await;
    assert_eq!(states(&request), [DeliveryState::Acted, DeliveryState::Stale], "it did go out");
    assert_eq!(request.deliveries[1].grade_reached, Some(Grade::Dispatched));
    reached.settle().await;
    assert_eq!(reached.mail.told.lock().unwrap().len(), 1, "what is out of date is taken back");
    reached.world.clock.advance(60 * MINUTE);
    reached.settle().await;
    assert_eq!(reached.world.request(id).await.deliveries.len(), 2);
    assert_eq!((reached.world.next_timer().await, reached.world.receipts().await.len()), (None, 1));
}

#[tokio::test]
async fn a_delivery_whose_outcome_could_not_be_written_is_sent_again_when_its_claim_lapses() {
    let reached = Reached::new().await;
    let anna = reached.add("anna", Role::Editor, |_| {}).await;
    let id = reached.world.raised(&mail_to("principal", &anna.to_string())).await;
    reached.mail.gate.forget_permits(1_000);
    while reached.mail.sent.lock().unwrap().is_empty() {
        reached.world.engine.run_due_timers().await.unwrap();
        tokio::task::yield_now().await;
    }
    reached.world.store.fail_next(Fault::Unreachable);
    reached.mail.gate.add_permits(1_000);
    reached.world.engine.outbound_idle().await;
    assert_eq!(only(&reached, id).await.state, DeliveryState::Sending);
    reached.settle().await;
    assert_eq!(reached.mail.addresses().len(), 1, "its claim still holds");
    reached.world.clock.advance(Duration::from_secs(31));
    reached.settle().await;
    let delivery = only(&reached, id).await;
    assert_eq!((delivery.state, delivery.attempts.len()), (DeliveryState::Dispatched, 1));
    let attempts: Vec<u32> = reached.mail.sent.lock().unwrap().iter().map(|message| message.outgoing.attempt).collect();
    assert_eq!(attempts, [1, 1]);
}

#[tokio::test]
async fn many_people_are_reached_in_one_go() {
    let reached = Reached::new().await;
    for number in 0..50 {
        reached.add(&format!("person{number}"), Role::Viewer, |_| {}).await;
    }
    let id = reached.world.raised(&mail_to("anyone", "*")).await;
    reached.settle().await;
    let request = reached.world.request(id).await;
    assert_eq!((request.deliveries.len(), reached.mail.addresses().len()), (50, 50));
    assert!(states(&request).iter().all(|state| *state == DeliveryState::Dispatched));
    assert_eq!(reached.world.next_timer().await, None);
}

#[tokio::test]
async fn a_single_delivery_is_read_sent_again_and_graded_and_repeats_change_nothing() {
    let reached = Reached::new().await;
    let anna = reached.add("anna", Role::Editor, |_| {}).await;
    let id = reached.world.raised(&mail_to("principal", &anna.to_string())).await;
    reached.settle().await;
    let (engine, machine) = (&reached.world.engine, &reached.world.machine);
    let delivery = only(&reached, id).await;
    assert_eq!(engine.delivery(machine, delivery.id).await.unwrap(), delivery);
    let queued = engine.redeliver(machine, delivery.id, &json("{}"), Some(&key_of("r"))).await.unwrap();
    reached.world.clock.advance(MINUTE);
    assert_eq!(engine.redeliver(machine, delivery.id, &json("{}"), Some(&key_of("r"))).await.unwrap(), queued);
    reached.settle().await;
    let again = only(&reached, id).await;
    assert_eq!((again.attempts.len(), again.state, reached.mail.addresses().len()), (2, DeliveryState::Dispatched, 2));
    let report = || json(r#"{"grade":"delivered"}"#);
    for key in [None, Some(key_of("g")), Some(key_of("g")), None] {
        let graded = engine.report_grade(machine, delivery.id, report(), key.as_ref()).await.unwrap();
        assert_eq!((graded.grade_reached, graded.attempts.len()), (Some(Grade::Delivered), 2));
    }
    let transitions = reached.world.events_of(id).await;
    let graded = transitions.iter().filter(|event| *event == "delivery.transitioned").count();
    let too_far = engine.report_grade(machine, delivery.id, json(r#"{"grade":"seen"}"#), None).await;
    assert_eq!(code(too_far), ErrorCode::InvalidRequest);
    assert_eq!(
        reached.world.events_of(id).await.iter().filter(|event| *event == "delivery.transitioned").count(),
        graded
    );
    let unknown = DeliveryId::parse("dlv_01K3M7QW9A8ZC4YRXB2N6VD9FT").unwrap();
    assert_eq!(code(engine.delivery(machine, unknown).await), ErrorCode::RequestNotFound);
    assert_eq!(code(engine.redeliver(machine, unknown, &json("{}"), None).await), ErrorCode::RequestNotFound);
    reached.world.answer(id, "k").await.unwrap();
    assert_eq!(code(engine.redeliver(machine, delivery.id, &json("{}"), None).await), ErrorCode::AlreadyAnswered);
}

#[tokio::test]
async fn opening_the_page_writes_once() {
    let reached = Reached::new().await;
    let id = reached.world.raised(&ask("run:1", "Refund?")).await;
    let engine = &reached.world.engine;
    for visitor in [&reached.world.machine, &reached.world.person, &reached.world.person] {
        engine.page_opened(visitor, id).await.unwrap();
    }
    let delivery = only(&reached, id).await;
    assert_eq!((delivery.state, delivery.grade_reached), (DeliveryState::Seen, Some(Grade::Seen)));
    assert_eq!(reached.world.events_of(id).await, ["request.raised", "delivery.transitioned"]);
    let before = reached.world.store.transactions();
    engine.page_opened(&reached.world.person, id).await.unwrap();
    assert_eq!(reached.world.store.transactions(), before);
}

#[tokio::test]
async fn escalating_and_reassigning_keep_one_request_and_repeat_under_their_keys() {
    let reached = Reached::new().await;
    let anna = reached.add("anna", Role::Viewer, |_| {}).await;
    let id = reached.world.raised(&ask("run:1", "Refund?")).await;
    let (engine, machine) = (&reached.world.engine, &reached.world.machine);
    let first = engine.escalate(machine, id, json("{}"), Some(&key_of("e"))).await.unwrap();
    assert_eq!(engine.escalate(machine, id, json("{}"), Some(&key_of("e"))).await.unwrap(), first);
    let reused = engine.escalate(machine, id, json(r#"{"rung":2}"#), Some(&key_of("e"))).await;
    assert_eq!(code(reused), ErrorCode::IdempotencyKeyReused);
    engine.escalate(machine, id, json("{}"), None).await.unwrap();
    assert_eq!(code(engine.escalate(machine, id, json("{}"), None).await), ErrorCode::InvalidRequest);
    let body = format!(r#"{{"to":{{"kind":"principal","value":"{anna}"}}}}"#);
    let passed = engine.reassign(machine, id, json(&body), Some(&key_of("p"))).await.unwrap();
    assert_eq!(engine.reassign(machine, id, json(&body), Some(&key_of("p"))).await.unwrap(), passed);
    reached.settle().await;
    assert_eq!(reached.world.requests().await, [id]);
    let request = reached.world.request(id).await;
    assert_eq!((request.state, request.receipt.is_none()), (RequestState::Pending, true));
    assert!(request.deliveries.len() >= 4 && request.deliveries.iter().all(|delivery| delivery.request_id == id));
    reached.world.answer(id, "k").await.unwrap();
    assert_eq!(reached.world.receipts().await.len(), 1);
    assert_eq!(code(engine.escalate(machine, id, json("{}"), None).await), ErrorCode::AlreadyAnswered);
    assert_eq!(code(engine.reassign(machine, id, json(&body), None).await), ErrorCode::AlreadyAnswered);
}

#[tokio::test]
async fn channels_that_keep_up_hear_of_other_words_and_of_the_end() {
    let reached = Reached::new().await;
    let anna = reached.add("anna", Role::Editor, |_| {}).await;
    let id = reached.world.raised(&mail_to("principal", &anna.to_string())).await;
    reached.settle().await;
    let amend = json(r#"{"prompt":{"title":"Refund 20?"}}"#);
    reached.world.engine.amend(&reached.world.machine, id, amend, None).await.unwrap();
    reached.settle().await;
    reached.world.engine.cancel(&reached.world.machine, id, json(REASON), None).await.unwrap();
    reached.settle().await;
    let told: Vec<_> =
        reached.mail.told.lock().unwrap().iter().map(|change| (change.title.clone(), change.state)).collect();
    let title = "Refund 20?".to_owned();
    assert_eq!(told, [(title.clone(), RequestState::Pending), (title, RequestState::Cancelled)]);
    assert_eq!(reached.world.next_timer().await, None);
}

#[tokio::test]
async fn three_rungs_over_two_people_and_a_rotation_keep_the_quiet_of_each_across_midnight_and_a_daylight_change() {
    let reached = Reached::new().await;
    let berlin = || Zone::parse("Europe/Berlin").unwrap();
    let anna = reached
        .add("anna", Role::Editor, |person| (person.zone, person.quiet) = (berlin(), QuietHours::new(22 * 60, 7 * 60)))
        .await;
    let boris = reached
        .add("boris", Role::Editor, |person| {
            (person.zone, person.quiet) = (Zone::parse("America/New_York").unwrap(), QuietHours::new(23 * 60, 8 * 60));
        })
        .await;
    let rotation = Rotation {
        members: vec![anna, boris],
        zone: berlin(),
        starts: LocalTime::parse("2026-03-27T07:00").unwrap(),
        days: 1,
    };
    reached.change(|people| people.with_rotation("on-call", rotation));
    // The night in which Berlin's clocks go from 2 to 3. It is 21:30 there, and 16:30 in New York.
    reached.world.clock.set(Timestamp::parse("2026-03-28T20:30:00Z").unwrap());
    let id = reached
        .world
        .raised(&routed(&format!(
            r#"{{"after":"PT0S","channels":["email"],"to":{{"kind":"principal","value":"{anna}"}}}},
               {{"after":"PT30M","channels":["email"],"to":{{"kind":"principal","value":"{anna}"}}}},
               {{"after":"PT6H","channels":["email"],"to":{{"kind":"principal","value":"{boris}"}}}},
               {{"after":"PT6H30M","channels":["email"],"to":{{"kind":"principal","value":"{boris}"}}}},
               {{"after":"PT8H29M","channels":["email"],"to":{{"kind":"rotation","value":"on-call"}}}},
               {{"after":"PT8H30M","channels":["email"],"to":{{"kind":"rotation","value":"on-call"}}}}"#
        )))
        .await;
    for _ in 0..20 {
        reached.settle().await;
        let Some(next) = reached.world.next_timer().await else { break };
        reached.world.clock.set(next);
    }
    let request = reached.world.request(id).await;
    let told: Vec<_> = request
        .deliveries
        .iter()
        .map(|delivery| (delivery.target.value.clone(), delivery.suppressed_reason.is_some()))
        .collect();
    let (anna, boris) = (anna.to_string(), boris.to_string());
    assert_eq!(
        told,
        [
            (anna.clone(), false),  // 21:30 in Berlin
            (anna.clone(), true),   // 22:00
            (boris.clone(), false), // 22:30 in New York
            (boris.clone(), true),  // 23:00
            (boris, true),          // 06:59 in Berlin by the new time: the turn is still his, and he sleeps
            (anna, false),          // 07:00, which without the change would be 06:00: her turn, and she is up
        ]
    );
    let quiet = Some(Suppression::QuietHours);
    assert!(request.deliveries.iter().all(|delivery| [None, quiet].contains(&delivery.suppressed_reason)));
    assert_eq!(reached.mail.addresses(), ["anna@example.com", "boris@example.com", "anna@example.com"]);
}

#[tokio::test]
async fn what_is_parked_reminds_and_a_reminder_is_a_delivery() {
    let reached = Reached::new().await;
    let anna = reached.add("anna", Role::Editor, |_| {}).await;
    let routing = format!(
        r#""routing":{{"ladder":[{{"after":"PT0S","channels":["email"],"to":{{"kind":"principal","value":"{anna}"}}}}]}},
           "ttl_policy":{{"on_expiry":"park","reminder_every":"PT1H"}}"#
    );
    let id = reached.world.raised(&ask_with("run:1", "Refund?", &routing)).await;
    for _ in 0..3 {
        reached.settle().await;
        reached.world.clock.advance(60 * MINUTE);
    }
    reached.settle().await;
    assert_eq!((reached.mail.addresses().len(), reached.world.request(id).await.deliveries.len()), (4, 4));
    reached.world.engine.answer(&reached.world.person, id, json(YES), None).await.unwrap();
    reached.settle().await;
    assert_eq!(reached.world.next_timer().await, None, "nobody is reminded of what is answered");
    let reminders = reached.world.events_of(id).await;
    assert_eq!(reminders.iter().filter(|event| *event == "request.reminded").count(), 3);
}

#[tokio::test]
async fn a_policy_has_a_number_that_each_raise_records_and_what_is_not_understood_changes_nothing() {
    let reached = Reached::new().await;
    let (engine, tenant) = (&reached.world.engine, reached.world.tenant);
    let policy = |minutes: u32| {
        json(&format!(
            r#"{{"v":1,"org_id":"{tenant}","defaults":{{"ttl":"PT{minutes}M","ttl_policy":{{"on_expiry":"expire_and_deny"}}}}}}"#
        ))
    };
    assert_eq!(engine.load_policy(tenant, policy(10)).await.unwrap(), 1);
    let first = reached.world.raised(&ask("run:1", "one")).await;
    assert_eq!(engine.load_policy(tenant, policy(10)).await.unwrap(), 1, "the same again");
    assert_eq!(engine.load_policy(tenant, policy(20)).await.unwrap(), 2);
    let newer = json(&format!(r#"{{"v":2,"org_id":"{tenant}"}}"#));
    assert!(engine.load_policy(tenant, newer).await.unwrap_err().to_string().contains("`v` must be 1"));
    let second = reached.world.raised(&ask("run:1", "two")).await;
    for (id, minutes, version) in [(first, 10, 1), (second, 20, 2)] {
        let request = reached.world.request(id).await;
        assert_eq!(request.expires_at, Some(request.created_at.saturating_add(minutes * MINUTE)));
        let events = reached.world.events().await;
        let raised = events.iter().find(|event| event.subject == id.to_string()).unwrap();
        assert!(raised.data.contains(&format!(r#""policy_version":{version}"#)), "{}", raised.data);
    }
    assert_eq!(engine.load_policy(tenant, policy(10)).await.unwrap(), 3, "what comes back is a new version");
}

#[tokio::test]
async fn what_waits_for_a_place_has_not_begun() {
    let reached = Reached::new().await;
    let anna = reached.add("anna", Role::Editor, |_| {}).await;
    // Her mail hangs, and no more than a few are sent to one person at a time.
    reached.mail.gate.forget_permits(1_000);
    let mut ids = Vec::new();
    for number in 0..30 {
        let to = format!(r#"{{"kind":"principal","value":"{anna}"}}"#);
        let ladder = format!(r#""routing":{{"ladder":[{{"after":"PT0S","channels":["email"],"to":{to}}}]}}"#);
        ids.push(reached.world.raised(&ask_with(&format!("run:{number}"), "Refund?", &ladder)).await);
    }
    let mut deliveries = Vec::new();
    for _ in 0..200 {
        reached.world.engine.run_due_timers().await.unwrap();
        tokio::task::yield_now().await;
    }
    for id in &ids {
        deliveries.push(only(&reached, *id).await);
    }
    let running = reached.mail.sent.lock().unwrap().len();
    let begun = deliveries.iter().filter(|delivery| delivery.state == DeliveryState::Sending).count();
    assert!((1..30).contains(&running), "{running} run");
    assert_eq!(begun, running);
    for delivery in deliveries.iter().filter(|delivery| delivery.state != DeliveryState::Sending) {
        assert_eq!((delivery.state, delivery.attempts.len()), (DeliveryState::Queued, 0));
    }
    reached.mail.gate.add_permits(1_000);
    while reached.world.next_timer().await.is_some() {
        reached.world.clock.advance(Duration::from_secs(30));
        reached.settle().await;
    }
    for id in ids {
        let delivery = only(&reached, id).await;
        assert_eq!((delivery.state, delivery.attempts.len()), (DeliveryState::Dispatched, 1));
    }
}

#[tokio::test]
async fn an_attempt_that_is_asked_for_while_another_goes_on_follows_it() {
    let reached = Reached::new().await;
    let anna = reached.add("anna", Role::Editor, |_| {}).await;
    let id = reached.world.raised(&mail_to("principal", &anna.to_string())).await;
    reached.mail.gate.forget_permits(1_000);
    while reached.mail.sent.lock().unwrap().is_empty() {
        reached.world.engine.run_due_timers().await.unwrap();
        tokio::task::yield_now().await;
    }
    let delivery = only(&reached, id).await;
    assert_eq!(delivery.state, DeliveryState::Sending);
    reached.world.engine.redeliver(&reached.world.machine, delivery.id, &json("{}"), None).await.unwrap();
    reached.mail.gate.add_permits(1_000);
    reached.world.engine.outbound_idle().await;
    reached.settle().await;
    let delivery = only(&reached, id).await;
    assert_eq!((delivery.state, delivery.attempts.len()), (DeliveryState::Dispatched, 2));
    assert_eq!((reached.mail.addresses().len(), reached.world.next_timer().await), (2, None));
}

#[tokio::test]
async fn sending_again_asks_for_consent_and_keeps_the_quiet() {
    let reached = Reached::new().await;
    let anna = reached.add("anna", Role::Editor, |_| {}).await;
    let id = reached.world.raised(&mail_to("principal", &anna.to_string())).await;
    reached.settle().await;
    let delivery = only(&reached, id).await;
    reached.change(|people| {
        let mut anna = people.person(anna).unwrap().clone();
        anna.quiet = QuietHours::new(0, 24 * 60);
        people.with_person(anna)
    });
    reached.world.engine.redeliver(&reached.world.machine, delivery.id, &json("{}"), None).await.unwrap();
    reached.settle().await;
    let again = only(&reached, id).await;
    assert_eq!((again.state, again.attempts.len()), (DeliveryState::Dispatched, 2));
    assert_eq!(again.attempts[1].outcome, Some(AttemptOutcome::Suppressed));
    assert_eq!(reached.mail.addresses().len(), 1, "nothing went out");
}

#[tokio::test]
async fn a_request_is_passed_on_to_nobody_whom_neither_directory_nor_store_knows() {
    let reached = Reached::new().await;
    reached.add("anna", Role::Viewer, |_| {}).await;
    let engine = &reached.world.engine;
    // Somebody who may enter and of whom the directory says nothing.
    let emil = engine.create_person(reached.world.tenant, "emil", Role::Viewer).await.unwrap();
    let id = reached.world.raised(&ask("run:1", "Refund?")).await;
    let to = |who: &str| format!(r#"{{"kind":"principal","value":"{who}"}}"#);
    let pass = async |who: &str| {
        engine.reassign(&reached.world.machine, id, json(&format!(r#"{{"to":{}}}"#, to(who))), None).await
    };
    let delegate = async |who: &str| {
        let body = format!(r#"{{"values":{{}},"disposition":"delegate","delegate_to":{}}}"#, to(who));
        engine.answer(&reached.world.person, id, json(&body), None).await
    };
    let nobody = "usr_01K3M7QW8ZC4YRXB2N6VD9FTHZ";
    assert!(pass(nobody).await.unwrap_err().to_string().starts_with("`to.value` must be the id of somebody"));
    let refused = delegate(nobody).await.unwrap_err();
    assert!(refused.to_string().starts_with("`delegate_to.value` must be the id of somebody"), "{refused}");
    assert_eq!(refused.code(), ErrorCode::InvalidRequest);
    pass(&emil.to_string()).await.unwrap();
    delegate(&emil.to_string()).await.unwrap();
}

#[tokio::test]
async fn what_cannot_be_sent_again_is_said_to_be_that() {
    let reached = Reached::new().await;
    let id = reached.world.raised(&mail_to("group", "nobody")).await;
    reached.settle().await;
    let kept = only(&reached, id).await;
    assert_eq!(kept.state, DeliveryState::Suppressed);
    let unknown = DeliveryId::parse("dlv_01K3M7QW8ZC4YRXB2N6VD9FTHZ").unwrap();
    for delivery in [kept.id, unknown] {
        let refused = reached.world.engine.redeliver(&reached.world.machine, delivery, &json("{}"), None).await;
        let refused = refused.unwrap_err();
        assert_eq!(refused.code(), ErrorCode::RequestNotFound);
        assert!(
            refused.to_string().starts_with("there is no delivery of this id that could be sent again"),
            "{refused}"
        );
    }
}
