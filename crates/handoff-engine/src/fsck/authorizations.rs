//! One authorization a deciding answer, spent once (Z-1, Z-3, Z-5).

use std::collections::BTreeSet;

use handoff_protocol::{decision::terms::RequestState, json::Json};

use super::{Facts, Report};

const CHECK: &str = "authorizations";

pub(super) fn check(facts: &Facts<'_>, report: &mut Report) {
    for request in facts.requests.values() {
        let answered = request.state == RequestState::Answered;
        report.expect(request.authorization.is_some() == answered, (CHECK, "Z-1"), request.id, || {
            format!("is {}, which does not agree with whether it has an authorization", request.state.as_str())
        });
        let Some(id) = request.authorization else { continue };
        let Some(minted) = facts.authorizations.get(&id) else {
            report.find((CHECK, "Z-1"), request.id, "its authorization is not there");
            continue;
        };
        let of_it = minted.request_id == request.id && Some(minted.receipt_id) == request.receipt.map(|kept| kept.id);
        report.expect(of_it, (CHECK, "Z-1"), id, || "belongs to another request or receipt".to_owned());
        let bound =
            minted.bound_to.waiter_ref == request.waiter_ref && minted.bound_to.effect_digest == request.effect_digest;
        report.expect(bound, (CHECK, "Z-6"), id, || "is bound to something else than its request declared".to_owned());
        let receipt = facts.receipts.iter().find(|receipt| receipt.id() == Some(minted.receipt_id));
        let values = receipt.and_then(|receipt| receipt.json.get("decision")).and_then(|made| made.get("values"));
        report.expect(values.is_none_or(|values| *values == minted.grants), (CHECK, "Z-1"), id, || {
            "grants something else than was decided".to_owned()
        });
        report.expect(
            receipt.and_then(|receipt| receipt.json.get("kind")).and_then(Json::as_str) != Some("policy"),
            (CHECK, "Z-1"),
            id,
            || "comes from a policy".to_owned(),
        );
    }
    for minted in facts.authorizations.values() {
        let named = facts.requests.get(&minted.request_id).and_then(|request| request.authorization);
        report.expect(named == Some(minted.id), (CHECK, "Z-1"), minted.id, || {
            "is one more than its request names".to_owned()
        });
        let effects: BTreeSet<&str> = minted.redemptions.iter().map(|spent| spent.effect_key.as_str()).collect();
        report.expect(effects.len() == minted.redemptions.len(), (CHECK, "Z-5"), minted.id, || {
            "was redeemed twice for one effect".to_owned()
        });
        report.expect(!minted.single_use || minted.redemptions.len() <= 1, (CHECK, "Z-3"), minted.id, || {
            format!("is for one use and was redeemed {} times", minted.redemptions.len())
        });
    }
}
