//! Which edges of the tables were taken, and how often: R and W of sections 9 and 13, V-1 of section 12.

use std::{collections::BTreeMap, fmt::Write as _};

use handoff_protocol::decision::terms::{DeliveryState, RequestState, WaiterState};

/// Every edge with how often it was taken.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Coverage {
    edges: BTreeMap<String, u64>,
    events: BTreeMap<String, u64>,
}

/// The rows of section 9 with the event that tells of each. R9 to R11 are refusals and repeats, and leave none.
const BY_EVENT: [(&str, &str); 16] = [
    ("R1", "request.raised"),
    ("R2", "request.amended"),
    ("R3", "attempt.lapsed"),
    ("R4", "request.escalated"),
    ("R5", "request.answered"),
    ("R6", "request.expired"),
    ("R7", "request.cancelled"),
    ("R8", "request.superseded"),
    ("R12", "request.step_recorded"),
    ("R13", "request.disposition_recorded"),
    ("R14", "request.endorsed"),
    ("C-1", "attempt.armed"),
    ("E-4", "receipt.corrected"),
    ("G-7", "grant.resolved"),
    ("G-12", "grant.revoked"),
    ("H-8", "callback.endpoint_disabled"),
];

/// What clients are told that leaves no event.
const BY_REPLY: [&str; 3] = ["R9 the same answer again", "R10 another answer", "R11 withdrawn after its end"];

const WAITER: [&str; 14] = [
    "W1 none -> armed",
    "W2 armed -> signalled",
    "W3 signalled -> delivering",
    "W4 signalled -> acked",
    "W4 delivering -> acked",
    "W5 delivering -> signalled",
    "W6 armed -> orphaned",
    "W6 signalled -> orphaned",
    "W7 orphaned -> armed",
    "W7 orphaned -> signalled",
    "W8 armed -> released",
    "W8 signalled -> released",
    "W9 signalled -> armed",
    "W2 orphaned -> signalled",
];

const DELIVERY: [&str; 21] = [
    "none -> queued",
    "queued -> suppressed",
    "queued -> sending",
    "queued -> dispatched",
    "sending -> dispatched",
    "sending -> retrying",
    "sending -> failed",
    "retrying -> sending",
    "dispatched -> delivered",
    "dispatched -> seen",
    "delivered -> seen",
    "dispatched -> acted",
    "seen -> acted",
    "dispatched -> bounced",
    "delivered -> bounced",
    "queued -> cancelled",
    "sending -> cancelled",
    "retrying -> cancelled",
    "dispatched -> stale",
    "cancelled -> stale",
    "delivered -> stale",
];

impl Coverage {
    pub(crate) fn event(&mut self, name: &str) {
        count(&mut self.events, name.to_owned());
    }

    pub(crate) fn reply(&mut self, name: &'static str) {
        count(&mut self.edges, name.to_owned());
    }

    pub(crate) fn request(&mut self, from: Option<RequestState>, to: RequestState) {
        if from != Some(to) {
            let from = from.map_or("none", RequestState::as_str);
            count(&mut self.edges, format!("request {from} -> {}", to.as_str()));
        }
    }

    pub(crate) fn waiter(&mut self, from: Option<WaiterState>, to: WaiterState, state: RequestState) {
        if from == Some(to) {
            return;
        }
        let row = match (from, to) {
            (None, _) => "W1",
            (_, WaiterState::Orphaned) => "W6",
            (Some(WaiterState::Orphaned), WaiterState::Armed) => "W7",
            (Some(WaiterState::Orphaned), WaiterState::Signalled) if state == RequestState::Pending => "W7",
            (_, WaiterState::Delivering) => "W3",
            (Some(WaiterState::Delivering), WaiterState::Signalled) => "W5",
            (_, WaiterState::Signalled) => "W2",
            (_, WaiterState::Acked) => "W4",
            (_, WaiterState::Released) => "W8",
            (_, WaiterState::Armed) => "W9",
        };
        let from = from.map_or("none", WaiterState::as_str);
        count(&mut self.edges, format!("{row} {from} -> {}", to.as_str()));
    }

    pub(crate) fn delivery(&mut self, from: Option<DeliveryState>, to: DeliveryState) {
        if from != Some(to) {
            let from = from.map_or("none", DeliveryState::as_str);
            count(&mut self.edges, format!("delivery {from} -> {}", to.as_str()));
        }
    }

    /// Adds what another run covered.
    pub fn add(&mut self, other: &Self) {
        for (edge, times) in &other.edges {
            let kept = self.edges.entry(edge.clone()).or_default();
            *kept = kept.saturating_add(*times);
        }
        for (event, times) in &other.events {
            let kept = self.events.entry(event.clone()).or_default();
            *kept = kept.saturating_add(*times);
        }
    }

    /// The rows of the tables that no run came to.
    #[must_use]
    pub fn missing(&self) -> Vec<String> {
        self.rows().into_iter().filter(|(_, times)| *times == 0).map(|(row, _)| row).collect()
    }

    fn rows(&self) -> Vec<(String, u64)> {
        let edge = |name: &str| self.edges.get(name).copied().unwrap_or(0);
        let events = BY_EVENT
            .iter()
            .map(|(row, event)| (format!("{row} {event}"), self.events.get(*event).copied().unwrap_or(0)));
        let replies = BY_REPLY.iter().map(|row| ((*row).to_owned(), edge(row)));
        let waiters = WAITER.iter().map(|row| ((*row).to_owned(), edge(row)));
        let deliveries = DELIVERY.iter().map(|row| format!("delivery {row}")).map(|row| {
            let times = edge(&row);
            (row, times)
        });
        events.chain(replies).chain(waiters).chain(deliveries).collect()
    }

    /// The tables with how often each row was taken, and what was taken besides.
    #[must_use]
    pub fn table(&self) -> String {
        let rows = self.rows();
        let mut text = String::new();
        for (row, times) in &rows {
            // Writing to a text cannot fail.
            let _ = writeln!(text, "{times:>12}  {row}");
        }
        let named = |edge: &str| rows.iter().any(|(row, _)| row == edge);
        for (edge, times) in self.edges.iter().filter(|(edge, _)| !named(edge)) {
            let _ = writeln!(text, "{times:>12}  {edge} (also)");
        }
        let told = |event: &str| BY_EVENT.iter().any(|(_, name)| *name == event);
        for (event, times) in self.events.iter().filter(|(event, _)| !told(event)) {
            let _ = writeln!(text, "{times:>12}  event {event}");
        }
        text
    }
}

fn count(counts: &mut BTreeMap<String, u64>, name: String) {
    let kept = counts.entry(name).or_default();
    *kept = kept.saturating_add(1);
}
