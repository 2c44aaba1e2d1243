//! What each request and signal was after each commit, so that what clients read can be held against it; and which
//! edges of the tables were taken.

use std::collections::BTreeMap;

use handoff_engine::store::{NewEvent, RecordWrite};
use handoff_protocol::{
    decision::{
        RequestWaiter,
        terms::{DeliveryState, RequestState, WaiterState},
    },
    id::{DeliveryId, RequestId, SignalId, TenantId},
    json::from_text,
    timestamp::Timestamp,
};
use handoff_testkit::memory::Logged;
use serde::Deserialize;

use crate::coverage::Coverage;

/// When something was written.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Moment {
    /// By the scheduler's count.
    pub step: u64,
    /// Its place in the log.
    pub place: usize,
    /// After how many milliseconds.
    pub millis: u64,
}

/// A request after a commit.
#[derive(Clone, Debug)]
pub struct RequestAt {
    /// When.
    pub moment: Moment,
    /// Where it stood.
    pub state: RequestState,
    /// Its version.
    pub version: u64,
    /// Where its waiter stood.
    pub waiter: WaiterState,
    deliveries: BTreeMap<DeliveryId, DeliveryState>,
}

/// A signal after a commit.
#[derive(Clone, Debug)]
pub struct SignalAt {
    /// When it was enqueued.
    pub enqueued: Moment,
    /// When it was acknowledged.
    pub acked: Option<Moment>,
    /// Whose it is.
    pub tenant: TenantId,
    /// Under which reference.
    pub waiter: String,
}

/// As much of a request as is looked at after each commit: reading all of it would be most of a run.
#[derive(Deserialize)]
struct Glance {
    id: RequestId,
    state: RequestState,
    version: u64,
    waiter: RequestWaiter,
    deliveries: Vec<GlanceOfDelivery>,
}

#[derive(Deserialize)]
struct GlanceOfDelivery {
    id: DeliveryId,
    state: DeliveryState,
}

#[derive(Deserialize)]
struct GlanceOfSignal {
    id: SignalId,
    waiter_ref: String,
    acked_at: Option<Timestamp>,
}

#[derive(Deserialize)]
struct GlanceOfReplay {
    expires_at: Timestamp,
}

/// Everything that was seen.
#[derive(Clone, Debug, Default)]
pub struct Observer {
    /// Every request, after each commit that wrote it.
    pub requests: BTreeMap<RequestId, Vec<RequestAt>>,
    /// Every signal.
    pub signals: BTreeMap<SignalId, SignalAt>,
    /// Edges taken.
    pub coverage: Coverage,
    /// What no table allows.
    pub faults: Vec<String>,
    /// Until when each entry of an idempotency key lives, and where that was written.
    replays: BTreeMap<(TenantId, String), (Timestamp, usize)>,
}

impl Observer {
    pub(super) fn saw(&mut self, logged: &Logged, moment: Moment) {
        let Logged::Wrote { tenant, set, now } = logged else { return };
        for write in &set.records {
            let (key, document) = match write {
                RecordWrite::Put { key, document, .. } => (key, document),
                RecordWrite::Delete { key, .. } => {
                    let entry = (*tenant, key.id.clone());
                    if key.kind.as_str() == "replay"
                        && let Some((until, _)) = self.replays.get(&entry).filter(|(until, _)| until > now)
                    {
                        self.faults
                            .push(format!("K-6: the entry of a key was taken at {now} that lives until {until}"));
                    }
                    continue;
                }
            };
            match key.kind.as_str() {
                "request" => {
                    if let Ok(request) = from_text::<Glance>(document) {
                        self.request(&request, moment);
                        self.told(&request, &set.events);
                    }
                }
                "signal" => {
                    if let Ok(signal) = from_text::<GlanceOfSignal>(document) {
                        self.signal(*tenant, &signal, moment);
                    }
                }
                "replay" => {
                    if let Ok(replay) = from_text::<GlanceOfReplay>(document) {
                        self.replays.insert((*tenant, key.id.clone()), (replay.expires_at, moment.place));
                    }
                }
                _ => {}
            }
        }
        for event in &set.events {
            self.coverage.event(event.event_type.as_str());
        }
    }

    fn request(&mut self, request: &Glance, moment: Moment) {
        let history = self.requests.entry(request.id).or_default();
        let before = history.last();
        let (was, waiter) = (before.map(|before| before.state), before.map(|before| before.waiter));
        self.coverage.request(was, request.state);
        let wrong = self.coverage.waiter(waiter, request.waiter.state, request.state);
        self.faults.extend(wrong.map(|wrong| format!("{wrong} ({})", request.id)));
        if was.is_some_and(RequestState::is_final) && was != Some(request.state) {
            self.faults.push(format!("R11: {} left its end for {}", request.id, request.state.as_str()));
        }
        let deliveries: BTreeMap<DeliveryId, DeliveryState> =
            request.deliveries.iter().map(|delivery| (delivery.id, delivery.state)).collect();
        for (id, state) in &deliveries {
            let was = before.and_then(|before| before.deliveries.get(id)).copied();
            let wrong = self.coverage.delivery(was, *state);
            self.faults.extend(wrong.map(|wrong| format!("V-1: {id} of {} {wrong}", request.id)));
        }
        if before.is_some_and(|before| before.version > request.version) {
            self.faults.push(format!("R2: {} went back to version {}", request.id, request.version));
        }
        let (state, version, waiter) = (request.state, request.version, request.waiter.state);
        history.push(RequestAt { moment, state, version, waiter, deliveries });
    }

    /// Whoever is given up or taken up again is so with its event, in the same commit.
    fn told(&mut self, request: &Glance, events: &[NewEvent]) {
        let [.., before, after] = self.requests.get(&request.id).map_or(&[][..], Vec::as_slice) else { return };
        let event = match (before.waiter, after.waiter) {
            (WaiterState::Orphaned, WaiterState::Armed) => "waiter.rearmed",
            (WaiterState::Armed | WaiterState::Signalled | WaiterState::Delivering, WaiterState::Orphaned) => {
                "waiter.orphaned"
            }
            _ => return,
        };
        let subject = request.id.to_string();
        if !events.iter().any(|told| told.event_type.as_str() == event && told.subject == subject) {
            self.faults.push(format!("EV-1: no event {event} of {subject} tells what became of its waiter"));
        }
    }

    fn signal(&mut self, tenant: TenantId, signal: &GlanceOfSignal, moment: Moment) {
        let waiter = signal.waiter_ref.clone();
        let known = self.signals.entry(signal.id).or_insert(SignalAt { enqueued: moment, acked: None, tenant, waiter });
        match (known.acked, signal.acked_at) {
            (None, Some(_)) => known.acked = Some(moment),
            (Some(_), None) => self.faults.push(format!("X-8: {} is not acknowledged any more", signal.id)),
            _ => {}
        }
    }

    /// Forgets what was lost from a place of the log on.
    pub(super) fn forget_from(&mut self, place: usize) {
        self.replays.retain(|_, (_, written)| *written < place);
        self.requests.retain(|_, history| {
            history.retain(|at| at.moment.place < place);
            !history.is_empty()
        });
        self.signals.retain(|_, signal| {
            signal.acked = signal.acked.filter(|acked| acked.place < place);
            signal.enqueued.place < place
        });
    }
}
