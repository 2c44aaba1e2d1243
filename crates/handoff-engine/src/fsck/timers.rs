//! Every wait has its timer, and every timer its wait (C-1, C-3, C-5, V-9, X-10, H-6, G-10).

use std::collections::BTreeSet;

use handoff_protocol::{
    decision::{
        Request, is_to_be_pushed,
        terms::{Liveness, RequestState, WaiterState},
    },
    timestamp::Timestamp,
};

use super::{Facts, Report};
use crate::{
    decision::{TimerAction, keys, read_action},
    store::TimerKey,
};

const CHECK: &str = "timers";

pub(super) fn check(facts: &Facts<'_>, report: &mut Report) {
    let mut waits = Waits { facts, report };
    for request in facts.requests.values() {
        waits.of_request(request);
    }
    for session in facts.sessions.values().filter(|session| session.is_open()) {
        waits.exactly(
            "G-10",
            &keys::session_timer(session.session_ref),
            Some(session.lease_until),
            session.session_ref,
        );
    }
    for signal in facts.signals.values() {
        let Some(push) = &signal.push else { continue };
        let endpoint = facts.endpoints.get(&push.callback.url_digest().hex());
        let key = keys::push_timer(signal.id);
        if is_to_be_pushed(signal, endpoint) && !push.resting {
            waits.exactly("H-6", &key, None, signal.id);
        } else if signal.acked_at.is_none() && !facts.snapshot.timers.contains_key(&key) {
            // Whoever finds it disabled lets it rest; until then its own timer is what wakes it.
            waits.report.expect(push.resting, (CHECK, "H-8"), signal.id, || {
                "is not pushed, rests not, and nothing will look at it again".to_owned()
            });
            let wakes = facts.snapshot.timers.contains_key(&keys::wake_timer(push.callback.url_digest()));
            let disabled = endpoint.is_some_and(|endpoint| endpoint.disabled_at.is_some());
            waits.report.expect(disabled || wakes, (CHECK, "H-8"), signal.id, || {
                "rests although its endpoint works".to_owned()
            });
        }
    }
    for replay in facts.replays.values() {
        let (key, due) = keys::purge_timer(replay.replay.expires_at);
        waits.exactly("K-6", &key, Some(due), &replay.scope);
    }
    waits.explained();
}

struct Waits<'a, 'f> {
    facts: &'a Facts<'f>,
    report: &'a mut Report,
}

impl Waits<'_, '_> {
    /// A timer that must be there, no later than at a time. One that is claimed is where it was when it was claimed.
    fn exactly(&mut self, rule: &'static str, key: &TimerKey, due: Option<Timestamp>, subject: impl std::fmt::Display) {
        match self.facts.snapshot.timers.get(key) {
            None => self.report.find((CHECK, rule), subject, format!("waits for {key}, which is not there")),
            Some(timer) => self.report.expect(due.is_none_or(|due| timer.due <= due), (CHECK, rule), subject, || {
                format!("{key} comes after what it is for")
            }),
        }
    }

    fn of_request(&mut self, request: &Request) {
        for delivery in &request.deliveries {
            // What is put off comes later than it could, so its time says nothing.
            if request.send_time(delivery).is_some() {
                self.exactly("V-6", &keys::send_timer(delivery.id), None, request.id);
            }
        }
        if request.state != RequestState::Pending {
            return;
        }
        if let Some(deadline) = request.deadline() {
            self.exactly("C-5", &keys::deadline_timer(request.id), Some(deadline), request.id);
        }
        if let Some(lapses) = request.attempt_expires_at.filter(|_| !request.attempt_notified) {
            self.exactly("C-2", &keys::attempt_timer(request.id), Some(lapses), request.id);
        }
        if let Some(tend) = request.next_tend() {
            self.exactly("V-9", &keys::tend_timer(request.id), Some(tend), request.id);
        }
        if request.liveness == Liveness::Leased && request.waiter.state != WaiterState::Orphaned {
            self.exactly("X-10", &keys::lease_timer(request.waiter_ref.digest()), None, request.id);
        }
    }

    /// Timers of what is not there.
    fn explained(&mut self) {
        let facts = self.facts;
        let endpoints: BTreeSet<String> = facts
            .signals
            .values()
            .filter_map(|signal| signal.push.as_ref())
            .map(|push| push.callback.url_digest().hex())
            .collect();
        for (key, timer) in &facts.snapshot.timers {
            let known = match read_action(&timer.action) {
                Err(error) => {
                    self.report.find((CHECK, "C-5"), key, error.to_string());
                    continue;
                }
                Ok(
                    TimerAction::Expire { request }
                    | TimerAction::Lapse { request }
                    | TimerAction::Tend { request }
                    | TimerAction::TellChange { request, .. },
                ) => facts.requests.contains_key(&request),
                Ok(TimerAction::SendDelivery { request, delivery, .. }) => {
                    facts.requests.get(&request).is_some_and(|request| request.delivery(delivery).is_some())
                }
                Ok(TimerAction::LapseLease { waiter }) => facts.waiters.contains_key(&waiter.hex()),
                Ok(TimerAction::LapseSession { session } | TimerAction::CloseSession { session, .. }) => {
                    facts.sessions.contains_key(&session)
                }
                Ok(TimerAction::Push { signal, .. }) => facts.signals.contains_key(&signal),
                Ok(TimerAction::WakePushes { endpoint }) => endpoints.contains(&endpoint.hex()),
                Ok(TimerAction::PurgeReplays) => true,
            };
            self.report.expect(known, (CHECK, "C-5"), key, || "is for something that is not there".to_owned());
        }
    }
}
