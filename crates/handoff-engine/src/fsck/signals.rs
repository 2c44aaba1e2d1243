//! One signal an ending, in a queue whose numbers rise (X-1 to X-4, W2 to W9), with what it gives back (L-2).

use std::collections::BTreeMap;

use handoff_protocol::decision::{
    Request, Signal,
    terms::{RequestState, SignalType, WaiterState},
};

use super::{Facts, Report};

const CHECK: &str = "signals";

pub(super) fn check(facts: &Facts<'_>, report: &mut Report) {
    let mut queues: BTreeMap<String, Vec<u64>> = BTreeMap::new();
    let mut of_requests: BTreeMap<_, Vec<&Signal>> = BTreeMap::new();
    for signal in facts.signals.values() {
        queues.entry(signal.waiter_ref.digest().hex()).or_default().push(signal.sequence);
        of_requests.entry(signal.request_id).or_default().push(signal);
        let gives_back = signal.continued && signal.acked_at.is_none();
        report.expect(
            !gives_back || facts.continuations.contains_key(&signal.request_id),
            (CHECK, "L-2"),
            signal.id,
            || "waits, and what it gives back is gone".to_owned(),
        );
        match facts.requests.get(&signal.request_id) {
            None => report.find((CHECK, "X-1"), signal.id, "is about no request of this tenant"),
            Some(request) => report.expect(request.waiter_ref == signal.waiter_ref, (CHECK, "X-1"), signal.id, || {
                "is for another waiter than its request's".to_owned()
            }),
        }
    }
    for (waiter, kept) in &facts.waiters {
        let mut queue = queues.remove(waiter).unwrap_or_default();
        queue.sort_unstable();
        let whole: Vec<u64> = (1..=kept.last_sequence).collect();
        report.expect(queue == whole, (CHECK, "X-4"), waiter, || {
            format!("its signals are numbered {queue:?}, and the last is said to be {}", kept.last_sequence)
        });
    }
    for waiter in queues.keys() {
        report.find((CHECK, "X-1"), waiter, "has signals and is not there");
    }
    for request in facts.requests.values() {
        let signals = of_requests.get(&request.id).map_or(&[][..], Vec::as_slice);
        of_request(facts, request, signals, report);
        let waiter = facts.waiters.get(&request.waiter_ref.digest().hex());
        report.expect(waiter.is_some(), (CHECK, "W1"), request.id, || "its waiter is not there".to_owned());
        // Whoever shows life takes up what its waiter's record says was given up.
        let is_orphan = request.state == RequestState::Pending && request.waiter.state == WaiterState::Orphaned;
        report.expect(!is_orphan || waiter.is_none_or(|waiter| waiter.orphaned), (CHECK, "W7"), request.id, || {
            "was given up, and its waiter came back without it".to_owned()
        });
    }
}

fn of_request(facts: &Facts<'_>, request: &Request, signals: &[&Signal], report: &mut Report) {
    let (nudges, endings): (Vec<&Signal>, Vec<&Signal>) =
        signals.iter().partition(|signal| signal.signal_type == SignalType::AttemptLapsed);
    let lapses = facts.count(request.id, "attempt.lapsed");
    report.expect(nudges.len() == lapses, (CHECK, "C-2"), request.id, || {
        format!("an attempt lapsed {lapses} times, and {} signals say so", nudges.len())
    });
    report.expect(nudges.iter().all(|nudge| nudge.decision.is_none()), (CHECK, "X-2"), request.id, || {
        "a nudge tells of a decision".to_owned()
    });
    match (request.state.is_final(), endings.as_slice()) {
        (false, []) => {}
        (true, [ending]) => tells(request, ending, report),
        (_, endings) => report.find(
            (CHECK, "X-1"),
            request.id,
            format!("is {} and has {} signals of its end", request.state.as_str(), endings.len()),
        ),
    }
    let unacked = signals.iter().filter(|signal| signal.acked_at.is_none()).count();
    report.expect(usize::try_from(request.waiter.unacked) == Ok(unacked), (CHECK, "X-5"), request.id, || {
        format!("counts {} signals that wait, and there are {unacked}", request.waiter.unacked)
    });
    let fits = match request.waiter.state {
        WaiterState::Armed => unacked == 0 && request.state == RequestState::Pending,
        WaiterState::Signalled | WaiterState::Delivering => unacked > 0,
        WaiterState::Acked => unacked == 0 && request.state.is_final(),
        WaiterState::Orphaned => request.state == RequestState::Pending,
        WaiterState::Released => request.state.is_final(),
    };
    report.expect(fits, (CHECK, "W2"), request.id, || {
        format!(
            "is {}, its waiter is {} and has {unacked} signals that wait",
            request.state.as_str(),
            request.waiter.state.as_str()
        )
    });
}

fn tells(request: &Request, ending: &Signal, report: &mut Report) {
    report.expect(ending.signal_type.as_str() == request.state.as_str(), (CHECK, "X-2"), request.id, || {
        format!("is {} and its signal says {}", request.state.as_str(), ending.signal_type.as_str())
    });
    let Some(decision) = &ending.decision else {
        report.find((CHECK, "X-3"), request.id, "its signal tells of no decision");
        return;
    };
    let agrees = decision.outcome == request.state
        && decision.receipt_id == request.receipt.map(|kept| kept.id)
        && decision.authorization_id == request.authorization
        && decision.superseded_by == request.superseded_by;
    report.expect(agrees, (CHECK, "X-3"), request.id, || "its signal tells of another end".to_owned());
}
