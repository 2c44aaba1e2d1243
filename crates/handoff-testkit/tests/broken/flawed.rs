//! The store in memory, with one flaw.

use std::{
    collections::{BTreeSet, HashMap},
    sync::{
        Arc, Mutex, OnceLock,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use bytes::Bytes;
use futures::{StreamExt as _, future, stream};
use handoff_engine::{
    clock::Clock,
    store::{
        BlobRef, ChainEntry, ChainHead, ChainName, Claimed, HeightRange, IndexScan, Loaded, Moment, NewBlob, Order,
        Page, Reads, Record, RecordKey, RecordWrite, Sequence, Step, Store, StoreError, StoredEvent, TimerKey,
        TimerWrite, Transacted, Transaction, Wake, WakeStream, WriteSet,
    },
};
use handoff_protocol::{
    id::{OrgId, TenantId, Ulid},
    timestamp::Timestamp,
};
use handoff_testkit::{
    MemoryStore, async_trait,
    suite::{Ports, StoreFactory},
};

use super::altered::noise;

/// One way of not keeping a promise; each is named as what the store does.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Flaw {
    BlanksInsteadOfDeleting,
    ClaimsBackward,
    ClaimsWithoutLease,
    CountsRejects,
    CutsBlobs,
    CutsDocuments,
    DiesOfPanics,
    DrawsOneSeed,
    DropsStoredBlobs,
    DropsTimerPuts,
    DropsWakes,
    FoldsIds,
    ForgetsAtReopening,
    ForgetsToKeepBlobs,
    ForgetsToUnindex,
    HidesMissedWakes,
    IgnoresPreviousDigests,
    KeepsAnything,
    KeepsErasedBodies,
    LastWriterWins,
    LoadsAbsentAsUnasked,
    LosesEvents,
    LowersTheLastId,
    NeverCutsOff,
    NeverRemovesTimers,
    NeverRenewsBlobs,
    NeverSaysMore,
    NeverSaysNext,
    NeverSweeps,
    Nothing,
    ReadsOneEntryTooMany,
    RefusesASecondErasure,
    ReusesEpochs,
    RunsFast,
    RunsStepsOutsideTheLock,
    ScansUpwardOnly,
    SettlesAnyEpoch,
    SharesBlobs,
    SharesBlobsOfTenants,
    SharesChains,
    SharesEvents,
    SharesEverything,
    SharesIndexes,
    SharesRecords,
    ShowsEventsOutOfOrder,
    SkipsARowOfEachPage,
    TidiesDocuments,
    WakesOneHandle,
    WritesEventsOfRefusedSets,
    WritesRecordsOfRefusedSets,
}

pub(crate) const SHARED_OWNER: &str = "everybody";

/// Makes stores with a flaw.
pub(crate) struct Broken {
    flaw: Flaw,
    inner: OnceLock<MemoryStore>,
}

impl Broken {
    pub(crate) fn with(flaw: Flaw) -> Self {
        Self { flaw, inner: OnceLock::new() }
    }
}

#[async_trait]
impl StoreFactory for Broken {
    async fn fresh(&self, ports: Ports) -> Arc<dyn Store> {
        let clock = if self.flaw == Flaw::RunsFast { Arc::new(Fast(ports.clock)) } else { ports.clock };
        let inner = self.inner.get_or_init(|| MemoryStore::new(clock, ports.entropy)).clone();
        Arc::new(Flawed::new(self.flaw, inner))
    }

    async fn reopen(&self, store: Arc<dyn Store>, ports: Ports) -> Option<Arc<dyn Store>> {
        match self.flaw {
            Flaw::ForgetsAtReopening => Some(Arc::new(MemoryStore::new(ports.clock, ports.entropy))),
            _ => Some(store),
        }
    }

    async fn second(&self, _ports: Ports) -> Option<Arc<dyn Store>> {
        let second = Flawed { second: true, ..Flawed::new(self.flaw, self.inner.get()?.clone()) };
        Some(Arc::new(second))
    }
}

/// A clock that is a second fast.
struct Fast(Arc<dyn Clock>);

impl Clock for Fast {
    fn now(&self) -> Timestamp {
        self.0.now().saturating_add(Duration::from_secs(1))
    }
}

/// A store with a flaw; most of them alter what goes in or comes out of a sound one.
#[derive(Clone)]
pub(crate) struct Flawed {
    pub(crate) flaw: Flaw,
    inner: MemoryStore,
    second: bool,
    dead: Arc<AtomicBool>,
    pub(crate) erased: Arc<Mutex<BTreeSet<(ChainName, u64)>>>,
    pub(crate) last_id: Arc<Mutex<Ulid>>,
    epochs: Arc<Mutex<HashMap<TimerKey, u64>>>,
}

impl Flawed {
    fn new(flaw: Flaw, inner: MemoryStore) -> Self {
        Self {
            flaw,
            inner,
            second: false,
            dead: Arc::default(),
            erased: Arc::default(),
            last_id: Arc::default(),
            epochs: Arc::default(),
        }
    }

    /// The tenant that is read when this method leaks.
    fn shared(&self, tenant: &TenantId, leak: Flaw) -> TenantId {
        if self.flaw == leak { TenantId::Org(OrgId::from_ulid(Ulid::from_u128(1))) } else { self.tenant(tenant) }
    }

    fn tenant(&self, tenant: &TenantId) -> TenantId {
        if self.flaw == Flaw::SharesEverything { TenantId::System } else { *tenant }
    }

    async fn write(&self, tenant: TenantId, set: WriteSet) -> Result<Transacted, StoreError> {
        let step = move |_: &Loaded, _: &Moment| Step::Commit(Box::new(set.clone()));
        self.inner.transact(Transaction { tenant, reads: Reads::none(), step: Arc::new(step) }).await
    }

    /// Reads, decides and writes, each in a transaction of its own.
    async fn transact_without_lock(&self, transaction: Transaction) -> Result<Transacted, StoreError> {
        let Transaction { tenant, mut reads, step } = transaction;
        loop {
            let decided = Arc::new(Mutex::new(Step::Reject));
            let (decide, step) = (Arc::clone(&decided), Arc::clone(&step));
            let look = move |loaded: &Loaded, moment: &Moment| {
                *lock(&decide) = step(loaded, moment);
                Step::Reject
            };
            let looked = Transaction { tenant, reads: reads.clone(), step: Arc::new(look) };
            let Transacted::Rejected = self.inner.transact(looked).await? else { continue };
            // The gap is the flaw; it is long enough for everybody to look before anybody writes.
            tokio::time::sleep(Duration::from_millis(5)).await;
            let decided = std::mem::replace(&mut *lock(&decided), Step::Reject);
            match decided {
                Step::Reject => return Ok(Transacted::Rejected),
                Step::Commit(set) => return self.write(tenant, *set).await,
                Step::Need(more) => {
                    reads.records.extend(more.records);
                    reads.indexes.extend(more.indexes);
                    reads.chains.extend(more.chains);
                }
            }
        }
    }

    /// What becomes of a set that the sound store refused.
    async fn refused(&self, tenant: TenantId, set: WriteSet, error: StoreError) -> Result<Transacted, StoreError> {
        match (self.flaw, &error) {
            (Flaw::LastWriterWins, StoreError::Conflict(_)) => {
                let mut forced = set;
                for write in &mut forced.records {
                    if let RecordWrite::Put { key, seen, .. } = write {
                        let found = self.inner.get(&tenant, std::slice::from_ref(key)).await?;
                        *seen = found.into_iter().flatten().next().map(|record| record.version);
                    }
                }
                self.write(tenant, forced).await
            }
            (Flaw::KeepsAnything, StoreError::Conflict(_)) => {
                self.write(tenant, WriteSet { blobs: vec![], ..set }).await
            }
            (Flaw::NeverCutsOff, StoreError::TooManyReads) => Ok(Transacted::Rejected),
            _ => {
                if let Some(remains) = self.remains(set) {
                    let _written = self.write(tenant, remains).await;
                }
                Err(error)
            }
        }
    }
}

#[async_trait]
impl Store for Flawed {
    async fn transact(&self, transaction: Transaction) -> Result<Transacted, StoreError> {
        if self.flaw == Flaw::RunsStepsOutsideTheLock {
            return self.transact_without_lock(transaction).await;
        }
        if self.dead.load(Ordering::SeqCst) {
            return Err(StoreError::Unavailable("a step panicked before".to_owned()));
        }
        let Transaction { tenant, mut reads, step } = transaction;
        let tenant = self.tenant(&tenant);
        let written = Arc::new(Mutex::new(WriteSet::default()));
        let rejected = Arc::new(AtomicBool::new(false));
        let asked = reads.clone();
        if self.flaw == Flaw::IgnoresPreviousDigests {
            reads = reads.chain(ChainName::from_static("log"));
        }
        let (store, write, reject) = (self.clone(), Arc::clone(&written), Arc::clone(&rejected));
        let flawed = move |loaded: &Loaded, moment: &Moment| {
            let seed = if store.flaw == Flaw::DrawsOneSeed { [7; 32] } else { moment.seed };
            match step(&store.show(&asked, loaded), &Moment { seed, ..moment.clone() }) {
                Step::Commit(set) => {
                    let mut set = store.alter(loaded, *set);
                    for write in &mut set.timers {
                        if let (Flaw::ReusesEpochs, TimerWrite::Settle { key, epoch }) = (store.flaw, write) {
                            *epoch = lock(&store.epochs).get(key).copied().unwrap_or(0);
                        }
                    }
                    *lock(&store.last_id) = set.last_id;
                    *lock(&write) = set.clone();
                    Step::Commit(Box::new(set))
                }
                Step::Reject if store.flaw == Flaw::CountsRejects => {
                    reject.store(true, Ordering::SeqCst);
                    Step::Commit(Box::new(noise()))
                }
                other => other,
            }
        };
        let outcome = self.inner.transact(Transaction { tenant, reads, step: Arc::new(flawed) }).await;
        if self.flaw == Flaw::DiesOfPanics && matches!(outcome, Err(StoreError::StepPanicked(_))) {
            self.dead.store(true, Ordering::SeqCst);
        }
        let set = lock(&written).clone();
        match outcome {
            Ok(_) if rejected.load(Ordering::SeqCst) => Ok(Transacted::Rejected),
            Ok(done) => Ok(done),
            Err(error) => self.refused(tenant, set, error).await,
        }
    }

    async fn get(&self, tenant: &TenantId, keys: &[RecordKey]) -> Result<Vec<Option<Record>>, StoreError> {
        self.inner.get(&self.shared(tenant, Flaw::SharesRecords), keys).await
    }

    async fn scan(&self, mut scan: IndexScan) -> Result<Page, StoreError> {
        scan.tenant = self.shared(&scan.tenant, Flaw::SharesIndexes);
        if self.flaw == Flaw::ScansUpwardOnly {
            scan.order = Order::Ascending;
        }
        let mut page = self.inner.scan(scan).await?;
        if self.flaw == Flaw::SkipsARowOfEachPage && page.rows.len() > 2 {
            page.rows.remove(0);
        }
        page.more &= self.flaw != Flaw::NeverSaysMore;
        Ok(page)
    }

    async fn read_chain(
        &self,
        tenant: &TenantId,
        chain: &ChainName,
        range: HeightRange,
    ) -> Result<Vec<ChainEntry>, StoreError> {
        let more = usize::from(self.flaw == Flaw::ReadsOneEntryTooMany);
        let range = HeightRange { limit: range.limit + more, ..range };
        self.inner.read_chain(&self.shared(tenant, Flaw::SharesChains), chain, range).await
    }

    async fn chain_head(&self, tenant: &TenantId, chain: &ChainName) -> Result<Option<ChainHead>, StoreError> {
        self.inner.chain_head(&self.tenant(tenant), chain).await
    }

    async fn read_events(
        &self,
        tenant: &TenantId,
        after: Sequence,
        limit: usize,
    ) -> Result<Vec<StoredEvent>, StoreError> {
        let mut page = self.inner.read_events(&self.shared(tenant, Flaw::SharesEvents), after, limit).await?;
        if let (Flaw::ShowsEventsOutOfOrder, [first, second, ..]) = (self.flaw, &mut page[..]) {
            std::mem::swap(&mut first.subject, &mut second.subject);
        }
        Ok(page)
    }

    async fn claim_timers(&self, limit: usize, lease: Duration) -> Result<Claimed, StoreError> {
        let lease = if self.flaw == Flaw::ClaimsWithoutLease { Duration::ZERO } else { lease };
        let mut claimed = self.inner.claim_timers(limit, lease).await?;
        match self.flaw {
            Flaw::ClaimsBackward => claimed.timers.reverse(),
            Flaw::NeverSaysNext => claimed.next = None,
            Flaw::ReusesEpochs => {
                for timer in &mut claimed.timers {
                    lock(&self.epochs).insert(timer.key.clone(), timer.epoch);
                    timer.epoch = 1;
                }
            }
            _ => {}
        }
        Ok(claimed)
    }

    async fn put_blob(&self, mut blob: NewBlob) -> Result<BlobRef, StoreError> {
        let owner = blob.owner.clone();
        if self.flaw == Flaw::SharesBlobs {
            SHARED_OWNER.clone_into(&mut blob.owner);
        }
        if self.flaw == Flaw::NeverRenewsBlobs {
            let digest = handoff_protocol::digest::Digest::of(&blob.bytes);
            let put = BlobRef { owner: owner.clone(), digest };
            if self.inner.get_blob(&blob.tenant, &put).await?.is_some() {
                return Ok(put);
            }
        }
        let put = self.inner.put_blob(blob).await?;
        Ok(BlobRef { owner, ..put })
    }

    async fn get_blob(&self, tenant: &TenantId, blob: &BlobRef) -> Result<Option<Bytes>, StoreError> {
        let mut blob = blob.clone();
        if self.flaw == Flaw::SharesBlobs {
            SHARED_OWNER.clone_into(&mut blob.owner);
        }
        let found = self.inner.get_blob(&self.shared(tenant, Flaw::SharesBlobsOfTenants), &blob).await?;
        let limit = if self.flaw == Flaw::CutsBlobs { 1_000_000 } else { usize::MAX };
        Ok(found.map(|bytes| bytes.slice(..bytes.len().min(limit))))
    }

    async fn sweep_blobs(&self, older_than: Duration) -> Result<u64, StoreError> {
        if self.flaw == Flaw::NeverSweeps { Ok(0) } else { self.inner.sweep_blobs(older_than).await }
    }

    fn wakes(&self) -> WakeStream {
        match self.flaw {
            Flaw::HidesMissedWakes => Box::pin(self.inner.wakes().filter(|wake| future::ready(*wake != Wake::Missed))),
            Flaw::WakesOneHandle if self.second => Box::pin(stream::pending()),
            _ => self.inner.wakes(),
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}
