//! Index rows are those of the documents, no more and no fewer.

use std::collections::BTreeMap;

use handoff_protocol::{
    decision::{
        Authorization, ChannelMessage, Continuation, EndpointHealth, Observation, PushLog, RecordedDisposition,
        Request, Signal, Waiter,
        capability::{Grant, GrantSession},
    },
    id::OrgId,
    signature::Jwks,
};

use super::{Facts, Report, facts::records};
use crate::{
    decision::{
        documents::{ReceiptPlace, ReplayRecord},
        policies::{PolicyHead, PolicyRecord},
    },
    document::{self, Document},
    identity::documents::{CredentialRecord, LinkRecord, PrincipalRecord, SigningKeyStatus, TenantRecord},
    store::{IndexRow, RecordKey, Snapshot},
};

const CHECK: &str = "index";

type Rows = BTreeMap<IndexRow, RecordKey>;

pub(super) fn check(facts: &Facts<'_>, report: &mut Report) {
    let mut stand = Stand { snapshot: facts.snapshot, rows: Rows::new() };
    stand.rows_of::<Request>();
    stand.rows_of::<Waiter>();
    stand.rows_of::<Signal>();
    stand.rows_of::<Authorization>();
    stand.rows_of::<Grant>();
    stand.rows_of::<GrantSession>();
    stand.rows_of::<RecordedDisposition>();
    stand.rows_of::<ReceiptPlace>();
    stand.rows_of::<Continuation>();
    stand.rows_of::<PushLog>();
    stand.rows_of::<EndpointHealth>();
    stand.rows_of::<ReplayRecord>();
    stand.rows_of::<ChannelMessage>();
    stand.rows_of::<Observation>();
    stand.rows_of::<PolicyRecord>();
    stand.rows_of::<PolicyHead>();
    stand.rows_of::<TenantRecord>();
    stand.rows_of::<PrincipalRecord>();
    stand.rows_of::<CredentialRecord>();
    stand.rows_of::<LinkRecord>();
    stand.rows_of::<SigningKeyStatus>();
    let Stand { rows, .. } = stand;
    for (row, key) in &rows {
        let there = facts.snapshot.index.get(row);
        report.expect(there == Some(key), (CHECK, "section 4"), format!("{key:?}"), || {
            format!("does not stand in {}", row.index)
        });
    }
    for (row, key) in &facts.snapshot.index {
        let checked = rows.contains_key(row);
        report.expect(checked, (CHECK, "section 4"), format!("{key:?}"), || {
            format!("stands in {} where it should not", row.index)
        });
    }
}

struct Stand<'a> {
    snapshot: &'a Snapshot,
    rows: Rows,
}

impl Stand<'_> {
    fn rows_of<D: Document>(&mut self) {
        for record in records::<D>(self.snapshot) {
            // What cannot be read was found already.
            let Ok(kept) = document::read::<D>(record) else { continue };
            self.rows.extend(kept.document.index().into_iter().map(|row| (row, record.key.clone())));
        }
    }
}

/// The keys that a snapshot of the system tenant publishes, by which signatures are judged.
#[must_use]
pub fn published_keys(system: &Snapshot) -> Jwks {
    let keys = records::<SigningKeyStatus>(system).filter_map(|record| document::read::<SigningKeyStatus>(record).ok());
    Jwks { keys: keys.map(|kept| kept.document.jwk).collect() }
}

/// The tenants that a snapshot of the system tenant names, also those that nothing was written for.
#[must_use]
pub fn known_tenants(system: &Snapshot) -> Vec<OrgId> {
    let tenants = records::<TenantRecord>(system).filter_map(|record| document::read::<TenantRecord>(record).ok());
    tenants.map(|kept| kept.document.org_id).collect()
}
