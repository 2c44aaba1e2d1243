//! What this domain keeps as records, and the index rows that each document stands in.

use handoff_protocol::{
    decision::{
        Authorization, RecordedDisposition, Request, Signal, Waiter,
        idempotency::Replay,
        terms::{Liveness, RequestState, WaiterState},
    },
    id::{ReceiptId, RequestId},
};
use serde::{Deserialize, Serialize};

use super::{inbox, keys};
use crate::{
    document::Document,
    store::{IndexName, IndexRow, RecordKind},
};

impl Document for Request {
    const KIND: RecordKind = keys::REQUEST;

    fn id(&self) -> String {
        self.id.to_string()
    }

    fn index(&self) -> Vec<IndexRow> {
        let mut rows = vec![
            IndexRow { index: keys::BY_ID, sort_key: keys::by_id(self.id) },
            IndexRow { index: keys::BY_STATE, sort_key: keys::by_state(self.state, self.id) },
            IndexRow { index: keys::BY_WAITER, sort_key: keys::by_waiter(&self.waiter_ref, self.id) },
        ];
        if self.state == RequestState::Pending {
            rows.push(IndexRow { index: keys::OPEN_BY_WAITER, sort_key: keys::by_waiter(&self.waiter_ref, self.id) });
            rows.push(IndexRow {
                index: keys::BY_QUESTION,
                sort_key: keys::by_question(&self.waiter_ref, &self.dedupe_key, self.id),
            });
            if let Some(index) = lease_index(self) {
                rows.push(IndexRow { index, sort_key: keys::by_waiter(&self.waiter_ref, self.id) });
            }
            rows.extend(inbox::rows(self));
        }
        rows
    }
}

/// Where a pending request is found when its waiter falls silent or comes back.
fn lease_index(request: &Request) -> Option<IndexName> {
    match (request.waiter.state, request.liveness) {
        (WaiterState::Orphaned, _) => Some(keys::ORPHANED),
        (_, Liveness::Leased) => Some(keys::LEASED),
        (_, Liveness::Durable) => None,
    }
}

impl Document for Waiter {
    const KIND: RecordKind = keys::WAITER;

    fn id(&self) -> String {
        self.waiter_ref.digest().hex()
    }

    fn index(&self) -> Vec<IndexRow> {
        Vec::new()
    }
}

impl Document for Signal {
    const KIND: RecordKind = keys::SIGNAL;

    fn id(&self) -> String {
        self.id.to_string()
    }

    fn index(&self) -> Vec<IndexRow> {
        if self.acked_at.is_some() {
            return Vec::new();
        }
        vec![IndexRow { index: keys::UNACKED, sort_key: keys::unacked(&self.waiter_ref, self.sequence) }]
    }
}

impl Document for Authorization {
    const KIND: RecordKind = keys::AUTHORIZATION;

    fn id(&self) -> String {
        self.id.to_string()
    }

    fn index(&self) -> Vec<IndexRow> {
        Vec::new()
    }
}

impl Document for RecordedDisposition {
    const KIND: RecordKind = keys::DISPOSITION;

    fn id(&self) -> String {
        format!("{}/{}", self.request_id, self.n)
    }

    fn index(&self) -> Vec<IndexRow> {
        vec![IndexRow { index: keys::DISPOSITIONS, sort_key: keys::disposition(self.request_id, self.n) }]
    }
}

/// Where a receipt stands in the chain, by its id. The receipt itself is in the chain alone.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct ReceiptPlace {
    pub(crate) id: ReceiptId,
    pub(crate) request_id: RequestId,
    pub(crate) height: u64,
}

impl Document for ReceiptPlace {
    const KIND: RecordKind = keys::RECEIPT;

    fn id(&self) -> String {
        self.id.to_string()
    }

    fn index(&self) -> Vec<IndexRow> {
        Vec::new()
    }
}

/// A replay record under its scope.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct ReplayRecord {
    pub(crate) scope: String,
    #[serde(flatten)]
    pub(crate) replay: Replay,
}

impl Document for ReplayRecord {
    const KIND: RecordKind = keys::REPLAY;

    fn id(&self) -> String {
        self.scope.clone()
    }

    fn index(&self) -> Vec<IndexRow> {
        vec![IndexRow { index: keys::REPLAYS, sort_key: keys::replay_expiry(self.replay.expires_at, &self.scope) }]
    }
}
