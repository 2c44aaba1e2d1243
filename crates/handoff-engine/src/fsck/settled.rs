//! Nothing open on a request that ended (the close-out of section 9, G-12, L-2).

use super::{Facts, Report};
use crate::decision::keys;

const CHECK: &str = "settled";

pub(super) fn check(facts: &Facts<'_>, report: &mut Report) {
    let timers = &facts.snapshot.timers;
    for request in facts.requests.values().filter(|request| request.state.is_final()) {
        report.expect(request.open_grants.is_empty(), (CHECK, "G-12"), request.id, || {
            "ended and has open grants".to_owned()
        });
        for delivery in request.deliveries.iter().filter(|delivery| !delivery.state.is_final()) {
            report.find(
                (CHECK, "close-out"),
                request.id,
                format!("ended, and a delivery is {}", delivery.state.as_str()),
            );
        }
        for timer in [keys::deadline_timer(request.id), keys::attempt_timer(request.id), keys::tend_timer(request.id)] {
            report.expect(!timers.contains_key(&timer), (CHECK, "close-out"), request.id, || {
                format!("ended, and {timer} waits still")
            });
        }
    }
    for id in facts.continuations.keys() {
        let over =
            facts.requests.get(id).is_some_and(|request| request.state.is_final() && request.waiter.unacked == 0);
        report.expect(!over, (CHECK, "L-2"), id, || {
            "ended, nobody is to hear of it any more, and its continuation data is kept".to_owned()
        });
    }
    for grant in facts.grants.values() {
        let ended = facts.requests.get(&grant.request_id).is_some_and(|request| request.state.is_final());
        report.expect(!ended || grant.revoked_at.is_some(), (CHECK, "G-12"), grant.request_id, || {
            "ended, and a grant was not revoked".to_owned()
        });
    }
    for session in facts.sessions.values() {
        let ended = facts.requests.get(&session.request_id).is_some_and(|request| request.state.is_final());
        report.expect(!ended || !session.is_open(), (CHECK, "G-12"), session.request_id, || {
            "ended, and a session is open".to_owned()
        });
        report.expect(
            session.is_open() == session.close_reason.is_none(),
            (CHECK, "G-11"),
            session.session_ref,
            || "does not say why it ended".to_owned(),
        );
    }
}
