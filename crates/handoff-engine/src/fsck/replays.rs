//! What a repeat is told is what is there (K-1, K-6), and what is pending is asked once (K-1).

use std::collections::BTreeMap;

use handoff_protocol::{
    decision::{idempotency::ReplayOutcome, terms::RequestState},
    id::{ReceiptId, RequestId},
    json::{Json, read_str},
};

use super::{Facts, Report};

const CHECK: &str = "replays";

pub(super) fn check(facts: &Facts<'_>, report: &mut Report) {
    let mut asked = BTreeMap::new();
    for request in facts.requests.values().filter(|request| request.state == RequestState::Pending) {
        let question = (request.waiter_ref.as_str(), request.dedupe_key.as_str());
        if let Some(before) = asked.insert(question, request.id) {
            report.find((CHECK, "K-1"), request.id, format!("asks what {before} asks, and both are pending"));
        }
    }
    for record in facts.replays.values() {
        let scope = &record.scope;
        match &record.replay.outcome {
            ReplayOutcome::Request(id) => report.expect(facts.requests.contains_key(id), (CHECK, "K-1"), scope, || {
                "leads to a request that is not there".to_owned()
            }),
            ReplayOutcome::Session(id) => report.expect(facts.sessions.contains_key(id), (CHECK, "K-9"), scope, || {
                "leads to a session that is not there".to_owned()
            }),
            ReplayOutcome::Body(text) => match read_str(text) {
                Ok(body) => of_body(facts, scope, &body, report),
                Err(error) => report.find((CHECK, "K-6"), scope, format!("cannot be read: {error}")),
            },
        }
    }
}

fn of_body(facts: &Facts<'_>, scope: &str, body: &Json, report: &mut Report) {
    let text = |json: &Json, name: &str| json.get(name).and_then(Json::as_str).map(str::to_owned);
    // An answer says `request` and `receipt`, other operations on a request answer with the request itself.
    let answered = body.get("request").and_then(|request| text(request, "id"));
    let named = answered.clone().or_else(|| text(body, "id")).and_then(|id| RequestId::parse(&id).ok());
    if let Some(id) = named {
        let Some(request) = facts.requests.get(&id) else {
            report.find((CHECK, "K-6"), scope, "is about a request that is not there");
            return;
        };
        let version = body.get("version").and_then(Json::as_i64).and_then(|version| u64::try_from(version).ok());
        report.expect(version.is_none_or(|version| version <= request.version), (CHECK, "K-6"), scope, || {
            "tells of a version that never was".to_owned()
        });
        let said = body.get("receipt").filter(|_| answered.is_some()).and_then(|receipt| text(receipt, "id"));
        if let Some(said) = said.and_then(|id| ReceiptId::parse(&id).ok()) {
            let kept = request.receipt.map(|receipt| receipt.id);
            report.expect(kept == Some(said), (CHECK, "K-6"), scope, || {
                "tells of another receipt than the request has".to_owned()
            });
        }
    }
}
