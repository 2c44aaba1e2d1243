//! What the behaviours are written with: a store on its ports, and short ways to say what to write.

use std::{future::Future, sync::Arc, time::Duration};

use bytes::Bytes;
use futures::StreamExt as _;
use handoff_engine::{
    clock::Clock as _,
    store::{
        ChainAppend, ChainEntry, ChainName, EventType, HeightRange, IndexName, IndexRow, IndexScan, Loaded, Moment,
        NewBlob, NewEvent, Order, Page, Reads, Record, RecordKey, RecordKind, RecordWrite, Sequence, Step, StepFn,
        Store, StoreError, TimerKey, TimerWrite, Topic, Transacted, Transaction, Wake, WakeStream, WriteSet,
    },
};
use handoff_protocol::{
    digest::Digest,
    id::{OrgId, TenantId, Ulid},
    timestamp::Timestamp,
};

use super::{Ports, StoreFactory};
use crate::{SeededEntropy, VirtualClock};

pub(super) const KIND: RecordKind = RecordKind::from_static("thing");
pub(super) const INDEX: IndexName = IndexName::from_static("thing.by_key");
pub(super) const CHAIN: ChainName = ChainName::from_static("log");

/// A fresh store with a clock that the behaviour moves.
pub(super) struct Bench {
    pub(super) store: Arc<dyn Store>,
    pub(super) clock: VirtualClock,
    pub(super) ports: Ports,
}

impl Bench {
    pub(super) async fn new(factory: &dyn StoreFactory) -> Self {
        let clock = VirtualClock::default();
        let ports = Ports { clock: Arc::new(clock.clone()), entropy: Arc::new(SeededEntropy::new(1)) };
        let store = factory.fresh(ports.clone()).await;
        Self { store, clock, ports }
    }

    /// The moment `seconds` from now.
    pub(super) fn in_seconds(&self, seconds: u64) -> Timestamp {
        self.clock.now().saturating_add(Duration::from_secs(seconds))
    }

    pub(super) fn advance(&self, seconds: u64) {
        self.clock.advance(Duration::from_secs(seconds));
    }

    /// Commits in the first tenant what must be accepted.
    pub(super) async fn commit(&self, set: WriteSet) -> Sequence {
        commit(&self.store, tenant(1), set).await
    }

    /// Tries to commit in the first tenant what should be refused.
    pub(super) async fn refusal(&self, set: WriteSet) -> StoreError {
        refusal(&self.store, tenant(1), set).await
    }

    pub(super) async fn record(&self, id: &str) -> Option<Record> {
        record(&self.store, tenant(1), id).await
    }

    pub(super) async fn entries(&self, chain: &ChainName) -> Vec<ChainEntry> {
        let all = HeightRange { from: 1, limit: 10_000 };
        self.store.read_chain(&tenant(1), chain, all).await.expect("a chain is read")
    }
}

pub(super) fn tenant(number: u128) -> TenantId {
    TenantId::Org(OrgId::from_ulid(Ulid::from_u128(number)))
}

// What is done with a store.

pub(super) async fn transact(
    store: &Arc<dyn Store>,
    tenant: TenantId,
    reads: Reads,
    step: impl Fn(&Loaded, &Moment) -> Step + Send + Sync + 'static,
) -> Result<Transacted, StoreError> {
    store.transact(Transaction { tenant, reads, step: Arc::new(step) }).await
}

/// A step that always writes the same.
pub(super) fn always(set: WriteSet) -> StepFn {
    Arc::new(move |_, _| Step::Commit(Box::new(set.clone())))
}

pub(super) async fn commit(store: &Arc<dyn Store>, tenant: TenantId, set: WriteSet) -> Sequence {
    match store.transact(Transaction { tenant, reads: Reads::none(), step: always(set) }).await {
        Ok(Transacted::Committed { sequence }) => sequence,
        other => panic!("a write that fits must be committed, but: {other:?}"),
    }
}

pub(super) async fn refusal(store: &Arc<dyn Store>, tenant: TenantId, set: WriteSet) -> StoreError {
    match store.transact(Transaction { tenant, reads: Reads::none(), step: always(set) }).await {
        Err(error) => error,
        Ok(done) => panic!("a write that does not fit must be refused, but: {done:?}"),
    }
}

pub(super) async fn record(store: &Arc<dyn Store>, tenant: TenantId, id: &str) -> Option<Record> {
    let mut found = store.get(&tenant, &[key(id)]).await.expect("a record is read");
    assert_eq!(found.len(), 1, "one answer for each key");
    found.remove(0)
}

/// All rows of an index, a page at a time.
pub(super) async fn scan_all(store: &Arc<dyn Store>, tenant: TenantId, order: Order, limit: usize) -> Page {
    let mut all = Page::default();
    let mut after: Option<Vec<u8>> = None;
    loop {
        let scan = IndexScan { tenant, index: INDEX, prefix: Vec::new(), after: after.clone(), order, limit };
        let page = store.scan(scan).await.expect("an index is scanned");
        let last = page.rows.last().map(|row| row.sort_key.clone());
        for row in &page.rows {
            let beyond = after.as_ref().is_none_or(|after| match order {
                Order::Ascending => row.sort_key > *after,
                Order::Descending => row.sort_key < *after,
            });
            assert!(beyond, "a page goes on after the last sort key seen, in order");
            after = Some(row.sort_key.clone());
        }
        all.rows.extend(page.rows);
        if !page.more {
            return all;
        }
        assert!(last.is_some(), "an empty page has nothing more");
    }
}

/// The heads and rows that a transaction is given.
pub(super) async fn load(store: &Arc<dyn Store>, tenant: TenantId, reads: Reads) -> Loaded {
    let (sender, receiver) = std::sync::mpsc::channel();
    let outcome = transact(store, tenant, reads, move |loaded, _| {
        sender.send(loaded.clone()).expect("the behaviour listens");
        Step::Reject
    })
    .await;
    assert!(matches!(outcome, Ok(Transacted::Rejected)), "a step that rejects is rejected, but: {outcome:?}");
    receiver.try_iter().last().expect("the step ran")
}

/// Waits for the topic of the tenant, or for the news that wakes were missed.
pub(super) async fn wait_for(wakes: &mut WakeStream, tenant: TenantId, topic: &str) -> Wake {
    let waiting = async {
        loop {
            let wake = wakes.next().await.expect("wakes end only with the store");
            match &wake {
                Wake::Missed => return wake,
                Wake::Touched { tenant: whose, topic: touched } if *whose == tenant && touched.as_str() == topic => {
                    return wake;
                }
                Wake::Touched { .. } => {}
            }
        }
    };
    within(waiting, "a wake").await
}

/// Waits no longer than any store may take.
pub(super) async fn within<T>(future: impl Future<Output = T>, what: &str) -> T {
    match tokio::time::timeout(Duration::from_secs(10), future).await {
        Ok(done) => done,
        Err(_) => panic!("{what} did not come"),
    }
}

/// Runs all of them at once, and answers what each answered.
pub(super) async fn together<T: Send + 'static>(
    tasks: impl IntoIterator<Item = impl Future<Output = T> + Send + 'static>,
) -> Vec<T> {
    let running: Vec<_> = tasks.into_iter().map(tokio::spawn).collect();
    let mut answers = Vec::with_capacity(running.len());
    for task in running {
        answers.push(task.await.expect("no task panics"));
    }
    answers
}

// What is written.

pub(super) fn key(id: &str) -> RecordKey {
    RecordKey::new(KIND, id)
}

pub(super) fn put(id: &str, seen: Option<u64>, document: &str) -> RecordWrite {
    RecordWrite::Put { key: key(id), seen, document: document.into(), unindex: vec![], index: vec![] }
}

/// An insert with one index row.
pub(super) fn insert_at(id: &str, sort_key: impl Into<Vec<u8>>, document: &str) -> RecordWrite {
    RecordWrite::Put {
        key: key(id),
        seen: None,
        document: document.into(),
        unindex: vec![],
        index: vec![row(sort_key)],
    }
}

pub(super) fn row(sort_key: impl Into<Vec<u8>>) -> IndexRow {
    IndexRow { index: INDEX, sort_key: sort_key.into() }
}

pub(super) fn records(records: impl IntoIterator<Item = RecordWrite>) -> WriteSet {
    WriteSet { records: records.into_iter().collect(), ..WriteSet::default() }
}

pub(super) fn event(subject: &str) -> NewEvent {
    NewEvent { event_type: EventType::from_static("thing.happened"), subject: subject.to_owned(), data: "{}".into() }
}

/// The digest that the suite gives to the entry at a height; a chain's first entry continues [`Digest::zero`].
pub(super) fn link(chain: &ChainName, height: u64) -> Digest {
    if height == 0 { Digest::zero() } else { Digest::of(format!("{chain} {height}")) }
}

/// The entry at a height, continuing the one below.
pub(super) fn entry(chain: &ChainName, height: u64) -> ChainAppend {
    ChainAppend {
        chain: chain.clone(),
        height,
        previous: link(chain, height - 1),
        digest: link(chain, height),
        body: format!("body {height}").into(),
        attestation: Some(format!("attestation {height}").into()),
    }
}

pub(super) fn chain(entries: impl IntoIterator<Item = ChainAppend>) -> WriteSet {
    WriteSet { chain: entries.into_iter().collect(), ..WriteSet::default() }
}

pub(super) fn timer(key: &str) -> TimerKey {
    TimerKey::new(key)
}

pub(super) fn put_timer(key: &str, due: Timestamp) -> TimerWrite {
    TimerWrite::Put { key: timer(key), due, action: format!("do {key}").into() }
}

pub(super) fn settle(key: &str, epoch: u64) -> TimerWrite {
    TimerWrite::Settle { key: timer(key), epoch }
}

pub(super) fn timers(timers: impl IntoIterator<Item = TimerWrite>) -> WriteSet {
    WriteSet { timers: timers.into_iter().collect(), ..WriteSet::default() }
}

pub(super) fn wake(topic: impl Into<String>) -> WriteSet {
    WriteSet { wakes: vec![Topic::new(topic)], ..WriteSet::default() }
}

pub(super) fn blob(tenant: TenantId, owner: &str, bytes: &'static [u8]) -> NewBlob {
    NewBlob { tenant, owner: owner.to_owned(), bytes: Bytes::from_static(bytes) }
}

/// Numbers that look random and are the same in every run.
pub(super) struct Dice(u64);

impl Dice {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// A number below `sides`.
    pub(super) fn roll(&mut self, sides: usize) -> usize {
        // A linear congruential generator, of which the upper half is good enough to choose test cases.
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).expect("31 bits") % sides
    }
}
