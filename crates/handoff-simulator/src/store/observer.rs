//! What each request and signal was after each commit, so that what clients read can be held against it; and which
//! edges of the tables were taken.

use std::collections::BTreeMap;

use handoff_engine::store::RecordWrite;
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
}

impl Observer {
    pub(super) fn saw(&mut self, logged: &Logged, place: usize, step: u64) {
        let Logged::Wrote { tenant, set, .. } = logged else { return };
        let moment = Moment { step, place };
        for write in &set.records {
            let RecordWrite::Put { key, document, .. } = write else { continue };
            match key.kind.as_str() {
                "request" => {
                    if let Ok(request) = from_text::<Glance>(document) {
                        self.request(&request, moment);
                    }
                }
                "signal" => {
                    if let Ok(signal) = from_text::<GlanceOfSignal>(document) {
                        self.signal(*tenant, &signal, moment);
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
        self.coverage.waiter(waiter, request.waiter.state, request.state);
        if was.is_some_and(RequestState::is_final) && was != Some(request.state) {
            self.faults.push(format!("R11: {} left its end for {}", request.id, request.state.as_str()));
        }
        let deliveries: BTreeMap<DeliveryId, DeliveryState> =
            request.deliveries.iter().map(|delivery| (delivery.id, delivery.state)).collect();
        for (id, state) in &deliveries {
            let was = before.and_then(|before| before.deliveries.get(id)).copied();
            self.coverage.delivery(was, *state);
            if was.is_some_and(DeliveryState::is_final) && was != Some(*state) {
                // One that was being sent when the request ended is stale once it turns out that it went out.
                let went_out = was == Some(DeliveryState::Cancelled) && *state == DeliveryState::Stale;
                if !went_out {
                    let was = was.map_or("none", DeliveryState::as_str);
                    let to = state.as_str();
                    self.faults.push(format!("V-1: {id} of {} went from {was} to {to} at {moment:?}", request.id));
                }
            }
        }
        if before.is_some_and(|before| before.version > request.version) {
            self.faults.push(format!("R2: {} went back to version {}", request.id, request.version));
        }
        let (state, version, waiter) = (request.state, request.version, request.waiter.state);
        history.push(RequestAt { moment, state, version, waiter, deliveries });
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
