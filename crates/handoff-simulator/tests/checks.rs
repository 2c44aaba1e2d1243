//! The checks of what clients were told: true histories pass, and each that cannot be is rejected.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests fail by panicking")]

use handoff_protocol::{
    decision::terms::{RequestState, WaiterState},
    digest::Digest,
    duration::ExactDuration,
};
use handoff_simulator::{
    history::Span,
    plan::Plan,
    run::{Evidence, play},
};

/// What a run leaves in which everything is true that the histories below bend.
fn evidence() -> Evidence {
    let is_rich = |evidence: &Evidence| {
        let history = &evidence.history;
        let settled = history.read.iter().any(|read| read.state == RequestState::Answered);
        let decided = history.answered.iter().filter(|answer| answer.receipt.is_some()).count() > 1;
        let first = history.redeemed.iter().any(|spent| spent.first) && history.acked.iter().any(|acked| acked.first);
        let listed = history.polled.iter().any(|poll| poll.signals.len() > 1);
        let created = history.raised.iter().filter(|raised| raised.created && raised.key.is_some()).count() > 1;
        let chain = !history.served.is_empty() && history.heads.iter().any(|(_, _, height, _)| *height > 0);
        let told = !history.refused.is_empty() && !history.submitted.is_empty();
        settled && decided && first && listed && created && chain && told
    };
    let all = (0..400).filter_map(|seed| play(&Plan::new(seed, 200), true).evidence);
    let mut rich = all.filter(is_rich);
    rich.next().unwrap()
}

type Bend = fn(&mut Evidence);

/// Histories that cannot be, each with how the finding begins that must come of it.
const BENT: &[(&str, &str, Bend)] = &[
    ("R1", "a raise that was acknowledged and lost", |evidence| {
        let id = evidence.history.raised[0].id;
        let gone = |snapshot: &mut handoff_engine::store::Snapshot| {
            snapshot.records.retain(|key, _| key.kind.as_str() != "request" || key.id != id.to_string());
        };
        evidence.end.snapshots.iter_mut().for_each(gone);
    }),
    ("K-4", "one key for two requests", |evidence| {
        let keyed: Vec<usize> = (0..evidence.history.raised.len())
            .filter(|place| evidence.history.raised[*place].key.is_some() && evidence.history.raised[*place].created)
            .collect();
        let key = evidence.history.raised[keyed[0]].key.clone();
        evidence.history.raised[keyed[1]].key = key;
    }),
    ("K-2", "a request that was created twice", |evidence| {
        let created = evidence.history.raised.iter().find(|raised| raised.created).unwrap().clone();
        evidence.history.raised.push(created);
    }),
    ("K-1", "words that a repeat mended", |evidence| {
        evidence.history.mended.clear();
        evidence.keys_lapse = false;
        let amended = |event: &&mut handoff_engine::store::StoredEvent| event.event_type.as_str() == "request.raised";
        let event = evidence.end.snapshots.iter_mut().flat_map(|snapshot| &mut snapshot.events).find(amended).unwrap();
        event.event_type = handoff_engine::store::EventType::from_static("request.amended");
    }),
    ("R5", "an answer that does not stand", |evidence| {
        let answers = &mut evidence.history.answered;
        let decided: Vec<usize> = (0..answers.len()).filter(|place| answers[*place].receipt.is_some()).collect();
        answers[decided[0]].receipt = answers[decided[1]].receipt;
    }),
    ("R10", "two answers that decided", |evidence| {
        let mut again = evidence.history.answered.iter().find(|answer| answer.receipt.is_some()).unwrap().clone();
        again.key = Some("another".to_owned());
        evidence.history.answered.push(again);
    }),
    ("R11", "an ending that was none", |evidence| {
        let refused = &mut evidence.history.refused[0];
        refused.state = match refused.state {
            RequestState::Cancelled => RequestState::Expired,
            _ => RequestState::Cancelled,
        };
    }),
    ("X-8", "an acknowledgement at another time", |evidence| {
        let acked = &mut evidence.history.acked[0];
        acked.at = acked.at.saturating_add(ExactDuration::from_seconds(1));
    }),
    ("X-8", "a signal that was acknowledged first twice", |evidence| {
        let first = *evidence.history.acked.iter().find(|acked| acked.first).unwrap();
        evidence.history.acked.push(first);
    }),
    ("Z-3", "one authorization, two effects", |evidence| {
        let first = evidence.history.redeemed.iter().find(|spent| spent.first).unwrap().clone();
        evidence.history.redeemed.push(first);
    }),
    ("K-S4", "a value that reached nobody", |evidence| evidence.taken.clear()),
    ("K-1", "a request as it was before it was asked for", |evidence| {
        let settled = |read: &&mut handoff_simulator::history::Read| read.state == RequestState::Answered;
        let read = evidence.history.read.iter_mut().find(settled).unwrap();
        (read.state, read.waiter) = (RequestState::Pending, WaiterState::Armed);
        read.span.from = read.span.to;
    }),
    ("R5", "a request as it was only later", |evidence| {
        let settled = |read: &&mut handoff_simulator::history::Read| read.state == RequestState::Answered;
        let read = evidence.history.read.iter_mut().find(settled).unwrap();
        let was = &evidence.observer.requests[&read.id];
        let at = was.iter().find(|at| at.state == RequestState::Answered).unwrap();
        (read.version, read.waiter) = (at.version, at.waiter);
        read.span = Span { from: was[0].moment.step, to: was[0].moment.step };
    }),
    ("X-5", "a poll that leaves out a signal", |evidence| {
        let poll = evidence.history.polled.iter_mut().find(|poll| poll.signals.len() > 1).unwrap();
        let (id, _) = poll.signals.pop().unwrap();
        let enqueued = evidence.observer.signals[&id].enqueued.step;
        poll.span = Span { from: enqueued + 1, to: enqueued + 1 };
    }),
    ("X-5", "a poll that lists what was acknowledged", |evidence| {
        let poll = evidence.history.polled.iter_mut().find(|poll| !poll.signals.is_empty()).unwrap();
        let acked = evidence.observer.signals[&poll.signals[0].0].acked.unwrap().step;
        poll.span = Span { from: acked + 1, to: acked + 2 };
    }),
    ("X-4", "a poll out of order", |evidence| {
        evidence.history.polled.iter_mut().find(|poll| poll.signals.len() > 1).unwrap().signals.reverse();
    }),
    ("E-8", "a receipt that was served otherwise", |evidence| evidence.history.served[0].1 = Digest::of("another")),
    ("E-10", "a head that is not in the chain", |evidence| {
        evidence.history.heads.iter_mut().find(|(_, _, height, _)| *height > 0).unwrap().3 = Digest::of("another");
    }),
    ("E-10", "a chain that shrank", |evidence| {
        let (tenant, span, height, digest) =
            *evidence.history.heads.iter().find(|(_, _, height, _)| *height > 0).unwrap();
        let after = Span { from: span.to + 1, to: span.to + 1 };
        evidence.history.heads.push((tenant, after, height - 1, digest));
    }),
];

#[test]
fn true_histories_pass_and_each_that_cannot_be_is_rejected() {
    let sound = evidence();
    assert_eq!(sound.check(), Vec::<String>::new());
    for (rule, what, bend) in BENT {
        let mut bent = sound.clone();
        bend(&mut bent);
        let found = bent.check();
        assert!(found.iter().any(|finding| finding.starts_with(rule)), "{rule}: {what}: {found:#?}");
    }
}
