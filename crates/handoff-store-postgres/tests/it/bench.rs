//! A store in a database of its own, and the write-sets that these tests use.

use std::{
    future::Future,
    time::{Duration, Instant},
};

use futures::StreamExt as _;
use handoff_engine::store::{
    BlobWrite, ChainAppend, ChainHead, ChainName, Erasure, EventType, IndexName, IndexRow, NewEvent, Reads, RecordKey,
    RecordKind, RecordWrite, Step, Store as _, StoreError, TimerKey, TimerWrite, Topic, Transacted, Transaction, Wake,
    WakeStream, WriteSet,
};
use handoff_postgres_cluster::{Cluster, Database};
use handoff_protocol::{digest::Digest, id::TenantId, timestamp::Timestamp};
use handoff_store_postgres::{PostgresOptions, PostgresStore};

pub(crate) const CHAIN: ChainName = ChainName::from_static("receipts");
pub(crate) const TOPIC: Topic = Topic::from_static("requests");

pub(crate) fn cluster() -> &'static Cluster {
    handoff_postgres_cluster::shared().unwrap()
}

pub(crate) fn database() -> Database {
    cluster().database().unwrap()
}

/// Options that wait for nothing longer than a test likes.
pub(crate) fn options() -> PostgresOptions {
    PostgresOptions {
        connections: 5,
        look_again: Duration::from_millis(500),
        heard_within: Duration::from_millis(500),
        answer_within: Duration::from_secs(10),
        ..PostgresOptions::default()
    }
}

pub(crate) async fn open(url: &str) -> PostgresStore {
    PostgresStore::open(url, options()).await.unwrap()
}

pub(crate) fn tenant() -> TenantId {
    TenantId::parse("org_00000000000000000000000001").unwrap()
}

pub(crate) fn other_tenant() -> TenantId {
    TenantId::parse("org_00000000000000000000000002").unwrap()
}

pub(crate) fn key(id: impl std::fmt::Display) -> RecordKey {
    RecordKey::new(RecordKind::from_static("request"), id)
}

pub(crate) fn put(id: impl std::fmt::Display, seen: Option<u64>, document: &str) -> RecordWrite {
    RecordWrite::Put { key: key(id), seen, document: document.into(), unindex: vec![], index: vec![] }
}

pub(crate) fn insert(id: impl std::fmt::Display, document: &str) -> RecordWrite {
    put(id, None, document)
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

/// One of everything that a store keeps.
pub(crate) fn everything() -> WriteSet {
    let index = IndexRow { index: IndexName::from_static("request.pending"), sort_key: b"one".to_vec() };
    let second = ChainAppend { height: 2, previous: Digest::of("{}"), digest: Digest::of("[]"), ..entry(None, "[]") };
    WriteSet {
        records: vec![RecordWrite::Put {
            key: key("one"),
            seen: None,
            document: r#"{"state":"pending","prompt":{"title":"One"}}"#.into(),
            unindex: vec![],
            index: vec![index],
        }],
        blobs: vec![BlobWrite::Store { owner: "one".to_owned(), bytes: "content".into() }],
        chain: vec![entry(None, "{}"), second],
        erasures: vec![Erasure { chain: CHAIN, height: 2, reason: "asked".to_owned() }],
        events: vec![event("one")],
        timers: vec![TimerWrite::Put {
            key: TimerKey::from_static("expire/one"),
            due: Timestamp::EPOCH,
            action: "{}".into(),
        }],
        wakes: vec![TOPIC],
        ..WriteSet::default()
    }
}

/// A record, a chain entry and an event, as most commits of the engine have them.
pub(crate) fn typical(id: String, document: String) -> Transaction {
    let step = move |loaded: &handoff_engine::store::Loaded, _: &handoff_engine::store::Moment| {
        let head = loaded.chain(&CHAIN).unwrap();
        Step::Commit(Box::new(WriteSet {
            records: vec![insert(&id, &document)],
            chain: vec![entry(head, &document)],
            events: vec![event(&id)],
            wakes: vec![TOPIC],
            ..WriteSet::default()
        }))
    };
    Transaction { tenant: tenant(), reads: Reads::none().chain(CHAIN), step: std::sync::Arc::new(step) }
}

pub(crate) fn transaction(step: impl Fn() -> Step + Send + Sync + 'static) -> Transaction {
    Transaction { tenant: tenant(), reads: Reads::none(), step: std::sync::Arc::new(move |_, _| step()) }
}

pub(crate) async fn write(store: &PostgresStore, set: WriteSet) -> Result<Transacted, StoreError> {
    write_in(store, tenant(), set).await
}

pub(crate) async fn write_in(store: &PostgresStore, tenant: TenantId, set: WriteSet) -> Result<Transacted, StoreError> {
    let transaction = transaction(move || Step::Commit(Box::new(set.clone())));
    store.transact(Transaction { tenant, ..transaction }).await
}

pub(crate) fn waking() -> WriteSet {
    WriteSet { events: vec![event("one")], wakes: vec![TOPIC], ..WriteSet::default() }
}

/// Writes what must be accepted, and answers the tenant's last sequence.
pub(crate) async fn commit(store: &PostgresStore, set: WriteSet) -> u64 {
    match write(store, set).await.unwrap() {
        Transacted::Committed { sequence } => sequence,
        Transacted::Rejected => panic!("a write that fits is committed"),
    }
}

/// Waits for a wake that is not only a hint of the start, and says how long it took.
pub(crate) async fn next_wake(wakes: &mut WakeStream, wanted: impl Fn(&Wake) -> bool) -> Duration {
    let since = Instant::now();
    let waiting = async {
        while let Some(wake) = wakes.next().await {
            if wanted(&wake) {
                return;
            }
        }
        panic!("the wakes ended");
    };
    within(waiting, "a wake").await;
    since.elapsed()
}

pub(crate) async fn within<T>(future: impl Future<Output = T>, what: &str) -> T {
    match tokio::time::timeout(Duration::from_secs(20), future).await {
        Ok(done) => done,
        Err(_) => panic!("{what} did not come"),
    }
}
