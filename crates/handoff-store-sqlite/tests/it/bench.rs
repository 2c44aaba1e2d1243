//! A store in a directory of its own, and the write-sets that these tests use.

use std::{path::PathBuf, sync::Arc};

use handoff_engine::store::{
    ChainAppend, ChainHead, ChainName, EventType, NewEvent, Reads, RecordKey, RecordKind, RecordWrite, Step, StepFn,
    Store as _, StoreError, Topic, Transacted, Transaction, WriteSet,
};
use handoff_protocol::{digest::Digest, id::TenantId};
use handoff_store_sqlite::{SqliteOptions, SqliteStore};
use rusqlite::Connection;
use tempfile::TempDir;

pub(crate) const CHAIN: ChainName = ChainName::from_static("receipts");
pub(crate) const TOPIC: Topic = Topic::from_static("requests");

pub(crate) struct Bench {
    directory: TempDir,
}

impl Bench {
    pub(crate) fn new() -> Self {
        Self { directory: tempfile::tempdir().unwrap() }
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.directory.path().join("handoff.db")
    }

    pub(crate) fn open(&self) -> SqliteStore {
        self.open_with(SqliteOptions::default())
    }

    pub(crate) fn open_with(&self, options: SqliteOptions) -> SqliteStore {
        SqliteStore::open(self.path(), options).unwrap()
    }

    /// The file as an operator's shell sees it.
    pub(crate) fn shell(&self) -> Connection {
        Connection::open(self.path()).unwrap()
    }
}

pub(crate) fn tenant() -> TenantId {
    TenantId::parse("org_00000000000000000000000001").unwrap()
}

pub(crate) fn key(id: impl std::fmt::Display) -> RecordKey {
    RecordKey::new(RecordKind::from_static("request"), id)
}

pub(crate) fn insert(id: impl std::fmt::Display, document: &str) -> RecordWrite {
    RecordWrite::Put { key: key(id), seen: None, document: document.into(), unindex: vec![], index: vec![] }
}

pub(crate) fn event(subject: &str) -> NewEvent {
    NewEvent { event_type: EventType::from_static("request.raised"), subject: subject.to_owned(), data: "{}".into() }
}

/// An entry that continues a head.
pub(crate) fn entry(head: Option<&ChainHead>, body: &str) -> ChainAppend {
    ChainAppend {
        chain: CHAIN,
        height: head.map_or(1, |head| head.height + 1),
        previous: head.map_or(Digest::zero(), |head| head.digest),
        digest: Digest::of(body),
        body: body.into(),
        attestation: None,
    }
}

/// A record, a chain entry and an event, as most commits of the engine have them.
pub(crate) fn typical(id: String, document: String) -> Transaction {
    let step: StepFn = Arc::new(move |loaded, _| {
        let head = loaded.chain(&CHAIN).unwrap();
        Step::Commit(Box::new(WriteSet {
            records: vec![insert(&id, &document)],
            chain: vec![entry(head, &document)],
            events: vec![event(&id)],
            wakes: vec![TOPIC],
            ..WriteSet::default()
        }))
    });
    Transaction { tenant: tenant(), reads: Reads::none().chain(CHAIN), step }
}

pub(crate) fn transaction(step: impl Fn() -> Step + Send + Sync + 'static) -> Transaction {
    Transaction { tenant: tenant(), reads: Reads::none(), step: Arc::new(move |_, _| step()) }
}

pub(crate) async fn write(store: &SqliteStore, set: WriteSet) -> Result<Transacted, StoreError> {
    store.transact(transaction(move || Step::Commit(Box::new(set.clone())))).await
}
