//! What this domain keeps as records, and the index rows that each document stands in.

use handoff_protocol::{
    decision::{
        Authorization, Continuation, EndpointHealth, PushLog, RecordedDisposition, Request, Signal, Waiter,
        capability::{Grant, GrantSession},
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
        let deliveries = self.deliveries.iter().map(|delivery| keys::by_delivery(delivery.id));
        rows.extend(deliveries.map(|sort_key| IndexRow { index: keys::BY_DELIVERY, sort_key }));
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
        rows.extend(self.sink_refs().into_iter().map(|reference| IndexRow {
            index: keys::BY_SINK,
            sort_key: keys::by_sink(reference, self.state, self.id),
        }));
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
        let mut rows =
            vec![IndexRow { index: keys::UNACKED, sort_key: keys::unacked(&self.waiter_ref, self.sequence) }];
        if let Some(push) = self.push.as_ref().filter(|push| push.resting) {
            let sort_key = keys::resting(push.callback.url_digest(), self.id);
            rows.push(IndexRow { index: keys::RESTING, sort_key });
        }
        rows
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

impl Document for Grant {
    const KIND: RecordKind = keys::GRANT;

    fn id(&self) -> String {
        self.handle.to_string()
    }

    fn index(&self) -> Vec<IndexRow> {
        Vec::new()
    }
}

impl Document for GrantSession {
    const KIND: RecordKind = keys::SESSION;

    fn id(&self) -> String {
        self.session_ref.to_string()
    }

    fn index(&self) -> Vec<IndexRow> {
        let sort_key = keys::session_of(self.request_id, self.resolved_at, self.session_ref);
        vec![IndexRow { index: keys::SESSIONS, sort_key }]
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

impl Document for Continuation {
    const KIND: RecordKind = keys::CONTINUATION;

    fn id(&self) -> String {
        self.request_id.to_string()
    }

    fn index(&self) -> Vec<IndexRow> {
        let row = |key| IndexRow { index: keys::SEALED, sort_key: keys::sealed(key, self.request_id) };
        self.resume_payload.iter().map(|sealed| row(&sealed.key)).collect()
    }
}

impl Document for PushLog {
    const KIND: RecordKind = keys::PUSH_LOG;

    fn id(&self) -> String {
        self.signal_id.to_string()
    }

    fn index(&self) -> Vec<IndexRow> {
        Vec::new()
    }
}

impl Document for EndpointHealth {
    const KIND: RecordKind = keys::ENDPOINT;

    fn id(&self) -> String {
        self.url_digest.hex()
    }

    fn index(&self) -> Vec<IndexRow> {
        Vec::new()
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
