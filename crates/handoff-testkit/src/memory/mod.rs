//! The whole store port in memory.
//!
//! Everything lies behind one mutex, so transactions are serial by construction, and a table remembers what it held
//! before the open transaction so that a write-set can be taken back. Nothing outlives the process.

mod apply;
mod inspect;
mod log;
#[cfg(feature = "planted-faults")]
mod planted;
mod table;
mod tenant;

use std::{
    any::Any,
    collections::BTreeMap,
    fmt,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use async_trait::async_trait;
use bytes::Bytes;
use futures::StreamExt as _;
use handoff_engine::{
    clock::Clock,
    entropy::Entropy,
    store::{
        BlobRef, ChainEntry, ChainHead, ChainName, Claimed, ClaimedTimer, HeightRange, IndexScan, Loaded, Moment,
        NewBlob, Page, Record, RecordKey, Sequence, Step, Store, StoreError, StoredEvent, TimerKey, Topic, Transacted,
        Transaction, Wake, WakeStream,
    },
};
use handoff_protocol::{digest::Digest, id::TenantId, timestamp::Timestamp};
use tokio::sync::broadcast;
use tokio_stream::wrappers::BroadcastStream;

pub use self::log::{LogHook, Logged};
use self::tenant::{Blob, Claim, Tenant, Timer, blob_key};

/// How many times a step may ask for more.
const MAX_RUNS: usize = 16;

/// How many wakes a subscriber may lag behind before it is told that it missed some.
const WAKE_BUFFER: usize = 1024;

/// What is called with a write-set's label.
pub type LabelHook = Arc<dyn Fn(&str) + Send + Sync>;

/// A store in memory. Clones are handles on the same data.
///
/// ```
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// use std::sync::Arc;
///
/// use handoff_engine::store::{ChainName, Store as _};
/// use handoff_protocol::id::TenantId;
/// use handoff_testkit::{MemoryStore, SeededEntropy, VirtualClock};
///
/// let store = MemoryStore::new(Arc::new(VirtualClock::default()), Arc::new(SeededEntropy::new(1)));
/// let chain = ChainName::from_static("receipts");
/// assert_eq!(store.chain_head(&TenantId::System, &chain).await.unwrap(), None);
/// # });
/// ```
#[derive(Clone)]
pub struct MemoryStore {
    shared: Arc<Shared>,
}

struct Shared {
    clock: Arc<dyn Clock>,
    entropy: Arc<dyn Entropy>,
    on_label: Option<LabelHook>,
    on_log: Option<LogHook>,
    data: Mutex<Data>,
    wakes: broadcast::Sender<Wake>,
}

#[derive(Default)]
struct Data {
    tenants: BTreeMap<TenantId, Tenant>,
    /// The last epoch that any timer was claimed under.
    epoch: u64,
}

impl MemoryStore {
    /// An empty store that goes by this clock and draws from this entropy.
    #[must_use]
    pub fn new(clock: Arc<dyn Clock>, entropy: Arc<dyn Entropy>) -> Self {
        Self::build(clock, entropy, None, None)
    }

    /// An empty store that calls `on_label` at the label of every write-set that has one.
    ///
    /// When the hook panics, the write-set leaves nothing behind and its caller gets
    /// [`StoreError::StepPanicked`]. The store is locked meanwhile: the hook must not call it.
    #[must_use]
    pub fn with_label_hook(clock: Arc<dyn Clock>, entropy: Arc<dyn Entropy>, on_label: LabelHook) -> Self {
        Self::build(clock, entropy, Some(on_label), None)
    }

    fn build(
        clock: Arc<dyn Clock>,
        entropy: Arc<dyn Entropy>,
        on_label: Option<LabelHook>,
        on_log: Option<LogHook>,
    ) -> Self {
        let (wakes, _) = broadcast::channel(WAKE_BUFFER);
        Self { shared: Arc::new(Shared { clock, entropy, on_label, on_log, data: Mutex::default(), wakes }) }
    }

    /// Locks everything. Panics of steps and hooks are caught inside the lock, so a poisoned lock hides nothing.
    fn data(&self) -> MutexGuard<'_, Data> {
        self.shared.data.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads one tenant; a tenant that was never written to is empty.
    fn read<T>(&self, tenant: &TenantId, read: impl FnOnce(&Tenant) -> T) -> T {
        match self.data().tenants.get(tenant) {
            Some(tenant) => read(tenant),
            None => read(&Tenant::default()),
        }
    }

    /// The store's time, and entropy for one run.
    fn moment(&self) -> Result<Moment, StoreError> {
        let seed = self.shared.entropy.seed().map_err(|error| StoreError::Unavailable(error.to_string()))?;
        Ok(Moment { now: self.shared.clock.now(), seed })
    }

    fn log(&self, logged: Logged) {
        if let Some(on_log) = &self.shared.on_log {
            on_log(logged);
        }
    }

    fn wake(&self, tenant: &TenantId, topics: Vec<Topic>) {
        #[cfg(feature = "planted-faults")]
        if handoff_protocol::planted::Fault::CommitWakesNobody.is_planted() {
            return;
        }
        for topic in topics {
            // An error means that nobody is subscribed.
            let _ = self.shared.wakes.send(Wake::Touched { tenant: *tenant, topic });
        }
    }
}

#[async_trait]
impl Store for MemoryStore {
    async fn transact(&self, transaction: Transaction) -> Result<Transacted, StoreError> {
        let Transaction { tenant: tenant_id, mut reads, step } = transaction;
        let mut data = self.data();
        let tenant = data.tenants.entry(tenant_id).or_default();
        let mut loaded = Loaded::new(tenant_id, tenant.head);
        for _ in 0..MAX_RUNS {
            tenant.load(&reads, &mut loaded)?;
            let moment = self.moment()?;
            let stepped = catch_unwind(AssertUnwindSafe(|| step(&loaded, &moment)))
                .map_err(|panic| StoreError::StepPanicked(panic_text(panic.as_ref())))?;
            match stepped {
                Step::Need(more) => reads = more,
                Step::Reject => return Ok(Transacted::Rejected),
                Step::Commit(mut set) => {
                    let topics = std::mem::take(&mut set.wakes);
                    #[cfg(feature = "planted-faults")]
                    if Tenant::loses(&set) {
                        return Ok(Transacted::Committed { sequence: tenant.head.sequence });
                    }
                    let logged = self.shared.on_log.as_ref().map(|_| (*set).clone());
                    tenant.write(*set, moment.now, self.shared.on_label.as_ref())?;
                    if let Some(set) = logged {
                        self.log(Logged::Wrote { tenant: tenant_id, now: moment.now, set: Box::new(set) });
                    }
                    self.wake(&tenant_id, topics);
                    return Ok(Transacted::Committed { sequence: tenant.head.sequence });
                }
            }
        }
        Err(StoreError::TooManyReads)
    }

    async fn get(&self, tenant: &TenantId, keys: &[RecordKey]) -> Result<Vec<Option<Record>>, StoreError> {
        #[cfg(feature = "planted-faults")]
        if let Some(found) = planted::read_otherwise(&self.data().tenants, tenant, keys) {
            return Ok(found);
        }
        Ok(self.read(tenant, |tenant| keys.iter().map(|key| tenant.records.get(key).cloned()).collect()))
    }

    async fn scan(&self, scan: IndexScan) -> Result<Page, StoreError> {
        let IndexScan { tenant, index, prefix, after, order, limit } = scan;
        self.read(&tenant, |tenant| tenant.page(&index, &prefix, after.as_deref(), order, limit))
    }

    async fn read_chain(
        &self,
        tenant: &TenantId,
        chain: &ChainName,
        range: HeightRange,
    ) -> Result<Vec<ChainEntry>, StoreError> {
        Ok(self.read(tenant, |tenant| tenant.chain_entries(chain, range)))
    }

    async fn chain_head(&self, tenant: &TenantId, chain: &ChainName) -> Result<Option<ChainHead>, StoreError> {
        Ok(self.read(tenant, |tenant| tenant.chain_head(chain)))
    }

    async fn read_events(
        &self,
        tenant: &TenantId,
        after: Sequence,
        limit: usize,
    ) -> Result<Vec<StoredEvent>, StoreError> {
        Ok(self.read(tenant, |tenant| tenant.events_after(after, limit)))
    }

    async fn claim_timers(&self, limit: usize, lease: Duration) -> Result<Claimed, StoreError> {
        let now = self.shared.clock.now();
        let mut data = self.data();
        let Data { tenants, epoch } = &mut *data;

        let mut claimable: Vec<(Timestamp, TenantId, TimerKey)> = Vec::new();
        let mut next: Option<Timestamp> = None;
        for (tenant_id, tenant) in &*tenants {
            for (key, timer) in tenant.timers.iter() {
                if timer.due <= now && timer.claimable_from() <= now {
                    claimable.push((timer.due, *tenant_id, key.clone()));
                } else {
                    next = next.into_iter().chain([timer.claimable_from()]).min();
                }
            }
        }
        claimable.sort();
        let left = claimable.split_off(limit.min(claimable.len()));
        next = next.into_iter().chain(left.first().map(|(due, ..)| *due)).min();

        let mut timers = Vec::with_capacity(claimable.len());
        for (due, tenant_id, key) in claimable {
            let Some(tenant) = tenants.get_mut(&tenant_id) else { continue };
            let Some(timer) = tenant.timers.get(&key).cloned() else { continue };
            *epoch += 1;
            let action = Arc::clone(&timer.action);
            let claim = Some(Claim { epoch: *epoch, until: now.saturating_add(lease) });
            tenant.timers.put(key.clone(), Timer { claim, ..timer });
            tenant.commit();
            self.log(Logged::Claimed {
                tenant: tenant_id,
                key: key.clone(),
                epoch: *epoch,
                until: now.saturating_add(lease),
            });
            timers.push(ClaimedTimer { tenant: tenant_id, key, due, action, epoch: *epoch });
        }
        Ok(Claimed { now, timers, next })
    }

    async fn put_blob(&self, blob: NewBlob) -> Result<BlobRef, StoreError> {
        let NewBlob { tenant, owner, bytes } = blob;
        let put = BlobRef { owner, digest: Digest::of(&bytes) };
        let mut data = self.data();
        let tenant_id = tenant;
        let tenant = data.tenants.entry(tenant_id).or_default();
        let key = blob_key(&put);
        // Content that a transaction keeps stays kept when it is put again.
        let kept = tenant.blobs.get(&key).is_some_and(|found| found.kept);
        let put_at = self.shared.clock.now();
        tenant.blobs.put(key, Blob { bytes: bytes.clone(), put_at, kept });
        tenant.commit();
        self.log(Logged::PutBlob { tenant: tenant_id, blob: put.clone(), bytes, now: put_at });
        Ok(put)
    }

    async fn get_blob(&self, tenant: &TenantId, blob: &BlobRef) -> Result<Option<Bytes>, StoreError> {
        Ok(self.read(tenant, |tenant| tenant.blobs.get(&blob_key(blob)).map(|found| found.bytes.clone())))
    }

    async fn sweep_blobs(&self, older_than: Duration) -> Result<u64, StoreError> {
        let now = self.shared.clock.now();
        let mut swept = 0;
        for (tenant_id, tenant) in &mut self.data().tenants {
            let old: Vec<_> = tenant
                .blobs
                .iter()
                .filter(|(_, blob)| !blob.kept && blob.put_at.saturating_add(older_than) < now)
                .map(|(key, _)| key.clone())
                .collect();
            for key in old {
                tenant.blobs.remove(&key);
                self.log(Logged::Swept { tenant: *tenant_id, owner: key.0, digest: key.1 });
                swept += 1;
            }
            tenant.commit();
        }
        Ok(swept)
    }

    fn wakes(&self) -> WakeStream {
        let wakes = BroadcastStream::new(self.shared.wakes.subscribe());
        // An error says that the subscriber lagged and lost some.
        Box::pin(wakes.map(|wake| wake.unwrap_or(Wake::Missed)))
    }
}

impl fmt::Debug for MemoryStore {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("MemoryStore").finish_non_exhaustive()
    }
}

/// What a panic said, where it said something.
fn panic_text(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied().or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or("without a message").to_owned()
}
