//! One ending a request, and its event (R5 to R8, R11).

use handoff_protocol::decision::terms::RequestState;

use super::{Facts, Report};

const CHECK: &str = "terminal";

/// What may still happen to a request that ended.
const AFTER_THE_END: [&str; 6] = [
    "receipt.corrected",
    "delivery.transitioned",
    "grant.revoked",
    "channel.message_received",
    "runtime.observation",
    "callback.endpoint_disabled",
];

pub(super) fn check(facts: &Facts<'_>, report: &mut Report) {
    for request in facts.requests.values() {
        let heir = request.superseded_by.and_then(|heir| facts.requests.get(&heir));
        report.expect(heir.is_none_or(|heir| heir.supersedes.is_some()), (CHECK, "R8"), request.id, || {
            "was superseded by a request that does not know of it".to_owned()
        });
    }
    for request in facts.requests.values() {
        let place = |rule| (CHECK, rule);
        let events = facts.events_of(request.id);
        let ending = |name: &str| {
            let state = name.strip_prefix("request.")?;
            RequestState::ALL.iter().find(|(known, of)| *known == state && of.is_final()).map(|(_, state)| *state)
        };
        let endings: Vec<(usize, RequestState)> = events
            .iter()
            .enumerate()
            .filter_map(|(at, (event, _))| Some((at, ending(event.event_type.as_str())?)))
            .collect();
        match (request.state.is_final(), endings.as_slice()) {
            (false, []) => {}
            (true, [(at, state)]) => {
                report.expect(*state == request.state, place("R11"), request.id, || {
                    format!("is {}, and its event says {}", request.state.as_str(), state.as_str())
                });
                for (event, _) in events.iter().skip(at.saturating_add(1)) {
                    let after = AFTER_THE_END.contains(&event.event_type.as_str());
                    report.expect(after, place("R11"), request.id, || format!("{} after its end", event.event_type));
                }
            }
            (_, endings) => report.find(
                place("R11"),
                request.id,
                format!("is {} and has {} endings", request.state.as_str(), endings.len()),
            ),
        }
        let told = |holds, rule, what: &str| (holds, rule, what.to_owned());
        let is = |state| request.state == state;
        for (holds, rule, what) in [
            told(request.ended_at.is_some() == request.state.is_final(), "R5", "its end has a time"),
            told(request.answered_at.is_some() == is(RequestState::Answered), "R5", "its answer has a time"),
            told(request.cancel_reason.is_some() == is(RequestState::Cancelled), "R7", "it says why it was cancelled"),
            told(request.superseded_by.is_some() == is(RequestState::Superseded), "R8", "it names its successor"),
        ] {
            report.expect(holds, place(rule), request.id, || {
                format!("is {}, which does not agree with whether {what}", request.state.as_str())
            });
        }
        if let Some(by) = request.superseded_by {
            report.expect(facts.requests.contains_key(&by), place("R8"), request.id, || {
                "its successor is not there".to_owned()
            });
        }
    }
}
