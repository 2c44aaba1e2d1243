//! The documents of a snapshot, read once for every check.

use std::collections::BTreeMap;

use handoff_protocol::{
    decision::{
        Authorization, Continuation, EndpointHealth, Request, Signal, Waiter,
        capability::{Grant, GrantSession},
    },
    id::{AuthorizationId, GrantHandle, ReceiptId, RequestId, SessionRef, SignalId},
    json::{Json, read_str},
};

use super::Report;
use crate::{
    decision::RECEIPTS,
    decision::documents::{ReceiptPlace, ReplayRecord},
    document::{self, Document},
    store::{ChainEntry, Record, Snapshot, StoredEvent},
};

/// What a snapshot says, as documents.
pub(super) struct Facts<'a> {
    pub(super) snapshot: &'a Snapshot,
    pub(super) requests: BTreeMap<RequestId, Request>,
    /// By the digest of the reference, as their records are.
    pub(super) waiters: BTreeMap<String, Waiter>,
    pub(super) signals: BTreeMap<SignalId, Signal>,
    pub(super) authorizations: BTreeMap<AuthorizationId, Authorization>,
    pub(super) grants: BTreeMap<GrantHandle, Grant>,
    pub(super) sessions: BTreeMap<SessionRef, GrantSession>,
    pub(super) places: BTreeMap<ReceiptId, ReceiptPlace>,
    pub(super) continuations: BTreeMap<RequestId, Continuation>,
    pub(super) endpoints: BTreeMap<String, EndpointHealth>,
    pub(super) replays: BTreeMap<String, ReplayRecord>,
    pub(super) receipts: Vec<Sealed<'a>>,
    /// The events of each request, in order, each with its data.
    pub(super) events: BTreeMap<String, Vec<(&'a StoredEvent, Json)>>,
}

/// A receipt of the chain.
pub(super) struct Sealed<'a> {
    pub(super) entry: &'a ChainEntry,
    pub(super) json: Json,
}

impl Sealed<'_> {
    /// A member that is text.
    pub(super) fn text(&self, member: &str) -> Option<&str> {
        self.json.get(member).and_then(Json::as_str)
    }

    pub(super) fn id(&self) -> Option<ReceiptId> {
        self.text("id").and_then(|id| ReceiptId::parse(id).ok())
    }

    pub(super) fn request(&self) -> Option<RequestId> {
        self.text("request_id").and_then(|id| RequestId::parse(id).ok())
    }
}

impl<'a> Facts<'a> {
    pub(super) fn read(snapshot: &'a Snapshot, report: &mut Report) -> Self {
        let mut facts = Self {
            snapshot,
            requests: documents(snapshot, report, |request: &Request| request.id),
            waiters: documents(snapshot, report, |waiter: &Waiter| waiter.waiter_ref.digest().hex()),
            signals: documents(snapshot, report, |signal: &Signal| signal.id),
            authorizations: documents(snapshot, report, |authorization: &Authorization| authorization.id),
            grants: documents(snapshot, report, |grant: &Grant| grant.handle),
            sessions: documents(snapshot, report, |session: &GrantSession| session.session_ref),
            places: documents(snapshot, report, |place: &ReceiptPlace| place.id),
            continuations: documents(snapshot, report, |kept: &Continuation| kept.request_id),
            endpoints: documents(snapshot, report, |endpoint: &EndpointHealth| endpoint.url_digest.hex()),
            replays: documents(snapshot, report, |replay: &ReplayRecord| replay.scope.clone()),
            receipts: Vec::new(),
            events: BTreeMap::new(),
        };
        for entry in snapshot.chains.get(&RECEIPTS).into_iter().flatten() {
            // An erased body leaves its digests, and a row that says so.
            let Some(body) = &entry.body else { continue };
            match read_str(body) {
                Ok(json) => facts.receipts.push(Sealed { entry, json }),
                Err(error) => report.find(("chain", "E-8"), entry.height, format!("cannot be read: {error}")),
            }
        }
        for event in &snapshot.events {
            match read_str(&event.data) {
                Ok(data) => facts.events.entry(event.subject.clone()).or_default().push((event, data)),
                Err(error) => report.find(("events", "section 23"), event.sequence, format!("cannot be read: {error}")),
            }
        }
        facts
    }

    /// The events of a request, in order.
    pub(super) fn events_of(&self, request: RequestId) -> &[(&'a StoredEvent, Json)] {
        self.events.get(&request.to_string()).map_or(&[], Vec::as_slice)
    }

    /// How many events of a type a request has.
    pub(super) fn count(&self, request: RequestId, event_type: &str) -> usize {
        self.events_of(request).iter().filter(|(event, _)| event.event_type.as_str() == event_type).count()
    }
}

/// The records of a kind in a snapshot.
pub(super) fn records<D: Document>(snapshot: &Snapshot) -> impl Iterator<Item = &Record> {
    snapshot.records.values().filter(|record| record.key.kind == D::KIND)
}

fn documents<D: Document, K: Ord>(snapshot: &Snapshot, report: &mut Report, key: impl Fn(&D) -> K) -> BTreeMap<K, D> {
    let mut found = BTreeMap::new();
    for record in records::<D>(snapshot) {
        match document::read::<D>(record) {
            Ok(kept) => {
                let named = kept.document.key();
                report.expect(named == record.key, ("index", "section 4"), format!("{:?}", record.key), || {
                    format!("holds the document of {named:?}")
                });
                found.insert(key(&kept.document), kept.document);
            }
            Err(error) => report.find(("index", "section 4"), format!("{:?}", record.key), error.to_string()),
        }
    }
    found
}
