//! A receipt if and only if there was something to record (E-4, E-7, R5, R6), and what it says was shown is kept (D-8).

use std::collections::BTreeMap;

use handoff_protocol::{
    decision::{ReceiptPointer, Request, terms::RequestState},
    id::RequestId,
    json::Json,
};

use super::{Facts, Report, facts::Sealed};

const CHECK: &str = "receipts";

pub(super) fn check(facts: &Facts<'_>, report: &mut Report) {
    let mut sealed: BTreeMap<RequestId, Vec<&Sealed<'_>>> = BTreeMap::new();
    for receipt in &facts.receipts {
        let known = receipt.request().filter(|id| facts.requests.contains_key(id));
        match known {
            Some(id) => sealed.entry(id).or_default().push(receipt),
            None => report.find((CHECK, "E-7"), receipt.entry.height, "is about no request of this tenant"),
        }
        if let Some(shown) = receipt.json.get("rendered").and_then(|shown| shown.get("ref")).and_then(Json::as_str) {
            let kept = facts.snapshot.blobs.iter().any(|(blob, kept)| *kept && blob.owner == shown);
            report.expect(kept, (CHECK, "D-8"), receipt.entry.height, || "what was shown is not kept".to_owned());
        }
        match receipt.id().and_then(|id| facts.places.get(&id)) {
            Some(place) => {
                let there = place.height == receipt.entry.height && Some(place.request_id) == receipt.request();
                report.expect(there, (CHECK, "E-8"), place.id, || "is found at another place of the chain".to_owned());
            }
            None => report.find((CHECK, "E-8"), receipt.entry.height, "cannot be found by its id"),
        }
    }
    let standing = facts.receipts.len();
    let erased = facts.snapshot.chains.values().flatten().any(|entry| entry.body.is_none());
    report.expect(erased || facts.places.len() == standing, (CHECK, "E-7"), "receipts", || {
        format!("{} are found by id and {standing} are in the chain", facts.places.len())
    });
    if erased {
        return;
    }
    for request in facts.requests.values() {
        of_request(request, sealed.get(&request.id).map_or(&[], Vec::as_slice), report);
    }
}

fn of_request(request: &Request, sealed: &[&Sealed<'_>], report: &mut Report) {
    let (corrections, outcomes): (Vec<&Sealed<'_>>, Vec<&Sealed<'_>>) =
        sealed.iter().partition(|receipt| receipt.text("kind") == Some("correction"));
    let expected = match request.state {
        RequestState::Answered => Some("decision"),
        RequestState::Expired => Some("policy"),
        RequestState::Pending | RequestState::Cancelled | RequestState::Superseded => None,
    };
    match (expected, request.receipt, outcomes.as_slice()) {
        (None, None, []) => {}
        (Some(kind), Some(pointer), [receipt]) => {
            let found = receipt.text("kind");
            report.expect(found == Some(kind), (CHECK, "E-2"), request.id, || {
                format!("is {} and has a receipt of another kind", request.state.as_str())
            });
            let decided = receipt.json.get("decided_at").and_then(Json::as_str).map(str::to_owned);
            let ended = request.ended_at.map(|at| at.to_string());
            report.expect(decided == ended, (CHECK, "E-7"), request.id, || {
                "ended at another time than its receipt says".to_owned()
            });
            points(request, pointer, receipt, report);
        }
        (_, pointer, outcomes) => report.find(
            (CHECK, if outcomes.len() > 1 { "E-4" } else { "E-7" }),
            request.id,
            format!(
                "is {}, names {} and has {} in the chain",
                request.state.as_str(),
                if pointer.is_some() { "a receipt" } else { "no receipt" },
                outcomes.len()
            ),
        ),
    }
    report.expect(corrections.len() == request.corrections.len(), (CHECK, "E-4"), request.id, || {
        format!("names {} corrections and has {}", request.corrections.len(), corrections.len())
    });
    for (pointer, receipt) in request.corrections.iter().zip(&corrections) {
        points(request, *pointer, receipt, report);
        let corrects = receipt.text("corrects").map(str::to_owned);
        let outcome = request.receipt.map(|pointer| pointer.id.to_string());
        report.expect(corrects.is_some() && corrects == outcome, (CHECK, "E-4"), request.id, || {
            "a correction is of another receipt".to_owned()
        });
    }
}

fn points(request: &Request, pointer: ReceiptPointer, receipt: &Sealed<'_>, report: &mut Report) {
    let there = receipt.id() == Some(pointer.id) && receipt.entry.height == pointer.height;
    report.expect(there, (CHECK, "E-7"), request.id, || "names another receipt than the one about it".to_owned());
}
