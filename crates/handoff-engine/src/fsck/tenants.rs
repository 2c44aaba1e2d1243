//! No reference leaves its tenant, and none leads nowhere (T-1).

use handoff_protocol::id::TenantId;

use super::{Facts, Report};

const CHECK: &str = "tenants";

pub(super) fn check(facts: &Facts<'_>, report: &mut Report) {
    for request in facts.requests.values() {
        let own = TenantId::Org(request.org_id) == facts.snapshot.tenant;
        report.expect(own, (CHECK, "T-1"), request.id, || "belongs to another tenant".to_owned());
        for id in [request.supersedes, request.superseded_by].into_iter().flatten() {
            report.expect(facts.requests.contains_key(&id), (CHECK, "T-1"), request.id, || {
                "names a request that is not of this tenant".to_owned()
            });
        }
        for handle in &request.open_grants {
            let own = facts.grants.get(handle).is_some_and(|grant| grant.request_id == request.id);
            report.expect(own, (CHECK, "T-1"), request.id, || "holds a grant of another request".to_owned());
        }
        for delivery in &request.deliveries {
            report.expect(delivery.request_id == request.id, (CHECK, "T-1"), request.id, || {
                "holds a delivery of another request".to_owned()
            });
        }
    }
    let known = |id| facts.requests.contains_key(&id);
    for grant in facts.grants.values() {
        report.expect(known(grant.request_id), (CHECK, "T-1"), grant.handle, || "is of no request here".to_owned());
    }
    for session in facts.sessions.values() {
        let own = facts.grants.get(&session.handle).is_some_and(|grant| grant.request_id == session.request_id);
        report.expect(own, (CHECK, "T-1"), session.session_ref, || "is of no grant of its request".to_owned());
        let grant = facts.grants.get(&session.handle);
        let holder =
            grant.is_none_or(|grant| grant.max_holders > 1 || grant.bound_principal_id == Some(session.principal_id));
        report.expect(holder, (CHECK, "G-7"), session.session_ref, || {
            "is of somebody who does not hold the grant".to_owned()
        });
    }
    for id in facts.continuations.keys() {
        let continued = facts.requests.get(id).is_some_and(|request| request.continued);
        report.expect(continued, (CHECK, "L-1"), id, || "has continuation data that it never declared".to_owned());
    }
    for place in facts.places.values() {
        report.expect(known(place.request_id), (CHECK, "T-1"), place.id, || "is about no request here".to_owned());
    }
}
