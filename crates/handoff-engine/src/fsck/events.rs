//! Events without gaps, each of something that is there, which is as the last one left it (section 23, V-1).

use std::collections::BTreeMap;

use handoff_protocol::{
    decision::{Request, terms::DeliveryState},
    json::Json,
};

use super::{Facts, Report};

const CHECK: &str = "events";

pub(super) fn check(facts: &Facts<'_>, report: &mut Report) {
    let mut last = 0_u64;
    for event in &facts.snapshot.events {
        last = last.saturating_add(1);
        report.expect(event.sequence == last, (CHECK, "section 23"), event.sequence, || {
            format!("stands at place {last}")
        });
    }
    report.expect(last == facts.snapshot.head.sequence, (CHECK, "section 23"), last, || {
        format!("is the last event, and the head says {}", facts.snapshot.head.sequence)
    });
    let known: BTreeMap<String, &Request> =
        facts.requests.iter().map(|(id, request)| (id.to_string(), request)).collect();
    for (subject, events) in &facts.events {
        let Some(request) = known.get(subject) else {
            report.find((CHECK, "section 23"), subject, "has events and is not there");
            continue;
        };
        let raised = events.iter().filter(|(event, _)| event.event_type.as_str() == "request.raised").count();
        let first = events.first().is_some_and(|(event, _)| event.event_type.as_str() == "request.raised");
        report.expect(raised == 1 && first, (CHECK, "R1"), subject, || {
            format!("was raised {raised} times, by its events")
        });
        let mut version = 0_i64;
        for (event, data) in events {
            let Some(said) = data.get("version").and_then(Json::as_i64) else { continue };
            report.expect(said >= version, (CHECK, "R2"), subject, || {
                format!("event {} goes back to version {said}", event.sequence)
            });
            version = said;
        }
        report.expect(u64::try_from(version) == Ok(request.version), (CHECK, "R2"), subject, || {
            format!("is at version {}, and its events at {version}", request.version)
        });
        deliveries(subject, request, events.iter().map(|(_, data)| data), report);
    }
    for (id, request) in &known {
        report.expect(facts.events.contains_key(id), (CHECK, "R1"), request.id, || "has no event".to_owned());
    }
}

/// Each delivery is where its last event left it. The close-out of an ending moves deliveries in the event of the ending.
fn deliveries<'e>(subject: &str, request: &Request, events: impl Iterator<Item = &'e Json>, report: &mut Report) {
    let mut told: BTreeMap<&str, &str> = BTreeMap::new();
    for data in events {
        let text = |name: &str| data.get(name).and_then(Json::as_str);
        let (Some(delivery), Some(from), Some(to)) = (text("delivery_id"), text("from"), text("to")) else { continue };
        let before = told.insert(delivery, to).unwrap_or("queued");
        // An answer moves the one that it came through, without an event of the delivery's own.
        let follows = before == from || from == "acted" || is_closed(from);
        report.expect(follows, (CHECK, "V-1"), subject, || {
            format!("a delivery went from {before}, and then from {from} to {to}")
        });
    }
    for delivery in &request.deliveries {
        let last = told.get(delivery.id.to_string().as_str()).copied().unwrap_or("queued");
        let now = delivery.state.as_str();
        let by_ending = request.state.is_final() && (is_closed(now) || delivery.state == DeliveryState::Acted);
        let by_answer = delivery.state == DeliveryState::Acted;
        let by_passing_on = delivery.state == DeliveryState::Cancelled;
        report.expect(last == now || by_ending || by_answer || by_passing_on, (CHECK, "V-1"), subject, || {
            format!("a delivery is {now}, and its events left it {last}")
        });
    }
}

fn is_closed(state: &str) -> bool {
    state == DeliveryState::Stale.as_str() || state == DeliveryState::Cancelled.as_str()
}
