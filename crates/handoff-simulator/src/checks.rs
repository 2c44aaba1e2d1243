//! What clients were told, held against what is there afterwards: acknowledged means present, reads never go back, nothing
//! that waits is kept from whoever waits for it. What the store alone can show is checked by `handoff_engine::fsck`.
//!
//! | module | what must hold |
//! |---|---|
//! | [`acknowledged`] | whatever a client was told was done is done, and once (K-1, K-4, R5, X-8, Z-3, Z-5, K-S4) |
//! | [`reads`] | each request read is one that was, between the question and the answer (R-table, K-1) |
//! | [`polls`] | a poll lists every signal that waits and no other (X-5) |
//! | [`held`] | a call that waits hears of what it waits for when that comes (X-6, HC-5) |
//! | [`served`] | receipts are served to the byte, chains never shrink (E-8, E-10) |
//! | [`progress`] | once all is well, everything comes to its end and everybody hears of it (X-1, X-11, G-11, C-5) |

pub mod acknowledged;
pub mod held;
pub mod polls;
pub mod progress;
pub mod reads;
pub mod served;

use std::collections::BTreeMap;

use handoff_engine::store::Snapshot;
use handoff_protocol::{
    decision::{Authorization, Request, Signal, capability::GrantSession},
    id::{AuthorizationId, RequestId, SessionRef, SignalId},
    json::from_text,
};
use serde::de::DeserializeOwned;

/// What is there when everything is over, of every tenant.
#[derive(Clone, Debug, Default)]
pub struct Final {
    /// Everything.
    pub snapshots: Vec<Snapshot>,
    /// Every request.
    pub requests: BTreeMap<RequestId, Request>,
    /// Every signal.
    pub signals: BTreeMap<SignalId, Signal>,
    /// Every authorization.
    pub authorizations: BTreeMap<AuthorizationId, Authorization>,
    /// Every session.
    pub sessions: BTreeMap<SessionRef, GrantSession>,
}

impl Final {
    /// Reads snapshots. What cannot be read is for `fsck` to find.
    #[must_use]
    pub fn of(snapshots: Vec<Snapshot>) -> Self {
        let mut found = Self::default();
        for snapshot in &snapshots {
            read(snapshot, "request", |request: Request| {
                found.requests.insert(request.id, request);
            });
            read(snapshot, "signal", |signal: Signal| {
                found.signals.insert(signal.id, signal);
            });
            read(snapshot, "authorization", |minted: Authorization| {
                found.authorizations.insert(minted.id, minted);
            });
            read(snapshot, "grant_session", |session: GrantSession| {
                found.sessions.insert(session.session_ref, session);
            });
        }
        found.snapshots = snapshots;
        found
    }
}

fn read<D: DeserializeOwned>(snapshot: &Snapshot, kind: &str, mut take: impl FnMut(D)) {
    for record in snapshot.records.values().filter(|record| record.key.kind.as_str() == kind) {
        if let Ok(document) = from_text(&record.document) {
            take(document);
        }
    }
}
