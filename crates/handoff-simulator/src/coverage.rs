//! Which edges of the tables were taken, and how often: R and W of sections 9 and 13, V-1 of section 12.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
};

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

const WAITER: [&str; 18] = [
    "W1 none -> armed",
    "W2 armed -> signalled",
    "W2 orphaned -> signalled",
    "W3 signalled -> delivering",
    "W4 signalled -> acked",
    "W4 delivering -> acked",
    "W5 delivering -> signalled",
    "W6 armed -> orphaned",
    "W6 signalled -> orphaned",
    "W6 delivering -> orphaned",
    "W7 orphaned -> armed",
    "W7 orphaned -> signalled",
    "W8 armed -> released",
    "W8 signalled -> released",
    "W8 delivering -> released",
    "W8 orphaned -> released",
    "W9 signalled -> armed",
    "W9 delivering -> armed",
];

/// The arrows of section 12, and the one correction of a final state. One commit may follow several of them.
const DELIVERY: [(&str, &str); 26] = [
    ("none", "queued"),
    ("queued", "suppressed"),
    ("queued", "sending"),
    ("sending", "dispatched"),
    ("sending", "retrying"),
    ("sending", "suppressed"),
    ("sending", "failed"),
    ("retrying", "sending"),
    ("retrying", "failed"),
    ("dispatched", "delivered"),
    ("dispatched", "seen"),
    ("dispatched", "acted"),
    ("delivered", "seen"),
    ("delivered", "acted"),
    ("seen", "acted"),
    ("dispatched", "bounced"),
    ("delivered", "bounced"),
    ("queued", "cancelled"),
    ("sending", "cancelled"),
    ("retrying", "cancelled"),
    ("dispatched", "stale"),
    ("delivered", "stale"),
    ("seen", "stale"),
    ("cancelled", "stale"),
    ("queued", "dispatched"),
    ("none", "suppressed"),
];

/// Rows that no commit takes by themselves, and why not.
const NEVER: [(&str, &str); 1] = [(
    "delivery retrying -> failed",
    "the attempt that fails is begun first, in a commit of its own, so that it is `sending -> failed` that is seen",
)];

/// Whether a delivery can come from one state to another along the arrows.
fn leads(from: &str, to: &str) -> bool {
    let mut known = BTreeSet::from([from]);
    loop {
        let further: BTreeSet<&str> =
            DELIVERY.iter().filter(|(from, _)| known.contains(from)).map(|(_, to)| *to).collect();
        let before = known.len();
        known.extend(further);
        if known.len() == before {
            return known.contains(to);
        }
    }
}

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

    /// Counts what became of a waiter, and says what is wrong if no row leads there.
    pub(crate) fn waiter(&mut self, from: Option<WaiterState>, to: WaiterState, state: RequestState) -> Option<String> {
        if from == Some(to) {
            return None;
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
        let edge = format!("{row} {from} -> {}", to.as_str());
        let known = WAITER.contains(&edge.as_str());
        count(&mut self.edges, edge.clone());
        (!known).then(|| format!("W1 to W9: a waiter took no row of theirs: {edge}"))
    }

    /// Counts what became of a delivery, and says what is wrong if no arrows lead there.
    pub(crate) fn delivery(&mut self, from: Option<DeliveryState>, to: DeliveryState) -> Option<String> {
        if from == Some(to) {
            return None;
        }
        let (from, to) = (from.map_or("none", DeliveryState::as_str), to.as_str());
        count(&mut self.edges, format!("delivery {from} -> {to}"));
        (!leads(from, to)).then(|| format!("went from {from} to {to}"))
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
        let excused = |row: &str| NEVER.iter().any(|(never, _)| *never == row);
        self.rows().into_iter().filter(|(row, times)| *times == 0 && !excused(row)).map(|(row, _)| row).collect()
    }

    /// The rows that no run can come to, each with the reason.
    #[must_use]
    pub const fn never() -> &'static [(&'static str, &'static str)] {
        &NEVER
    }

    fn rows(&self) -> Vec<(String, u64)> {
        let edge = |name: &str| self.edges.get(name).copied().unwrap_or(0);
        let events = BY_EVENT
            .iter()
            .map(|(row, event)| (format!("{row} {event}"), self.events.get(*event).copied().unwrap_or(0)));
        let replies = BY_REPLY.iter().map(|row| ((*row).to_owned(), edge(row)));
        let waiters = WAITER.iter().map(|row| ((*row).to_owned(), edge(row)));
        let deliveries = DELIVERY.iter().map(|(from, to)| format!("delivery {from} -> {to}")).map(|row| {
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
            let _ = writeln!(text, "{times:>12}  {edge} (several in one commit)");
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
