//! A store of one's own: everything in a sorted map, and every change of the map in a log file.
//!
//! | module | what lives there |
//! |---|---|
//! | `log` | the file: a line a commit, synced before anybody is answered, replayed at open |
//! | `rows` | the map, the keys of its rows, and a batch of changes to it |
//! | `apply` | a write-set as a batch |
//! | `read` | pages, chains and what a step is given |
//!
//! Whoever has an ordered map with atomic batches, as most key-value stores are, can write the same on top of it.

mod apply;
mod log;
mod read;
mod rows;

use std::{
    any::Any,
    panic::{AssertUnwindSafe, catch_unwind},
    path::Path,
    sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard},
    time::Duration,
};

use async_trait::async_trait;
use bytes::Bytes;
use futures::stream;
use handoff_engine::{
    clock::Clock,
    entropy::Entropy,
    store::{
        BlobRef, ChainEntry, ChainHead, ChainName, Claimed, ClaimedTimer, HeightRange, IndexScan, Loaded, Moment,
        NewBlob, Page, Record, RecordKey, Sequence, Step, Store, StoreError, StoredEvent, Topic, Transacted,
        Transaction, Wake, WakeStream,
    },
};
use handoff_protocol::{digest::Digest, id::TenantId, timestamp::Timestamp};
use tokio::sync::broadcast::{self, error::RecvError};

use self::{
    log::Log,
    rows::{Batch, Blob, Changes, Rows, Timer},
};

/// How many times a step may ask for more.
const MAX_RUNS: usize = 16;

/// A store in a log file. One process at a time has the file open.
pub struct LogStore(Arc<Shared>);

struct Shared {
    clock: Arc<dyn Clock>,
    entropy: Arc<dyn Entropy>,
    /// Held through a whole transaction, so that transactions are serial.
    log: Mutex<Log>,
    /// What is durable; readers never wait for the disk.
    rows: RwLock<Rows>,
    wakes: broadcast::Sender<Wake>,
}

impl LogStore {
    /// Opens the log, or begins one, and replays it.
    ///
    /// # Errors
    ///
    /// [`StoreError::Unavailable`] when the file cannot be opened or another process has it, and
    /// [`StoreError::Corrupt`] when something other than an unfinished last line is wrong with it.
    pub fn open(path: &Path, clock: Arc<dyn Clock>, entropy: Arc<dyn Entropy>) -> Result<Self, StoreError> {
        let (log, rows) = Log::open(path)?;
        let (wakes, _) = broadcast::channel(1024);
        Ok(Self(Arc::new(Shared { clock, entropy, log: Mutex::new(log), rows: RwLock::new(rows), wakes })))
    }

    /// Does what waits for the disk on a thread that may wait.
    async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Shared) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let shared = Arc::clone(&self.0);
        let done = tokio::task::spawn_blocking(move || work(&shared)).await;
        done.unwrap_or_else(|error| Err(StoreError::Unknown(error.to_string())))
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Log> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn rows(&self) -> RwLockReadGuard<'_, Rows> {
        self.rows.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes changes durable, then visible.
    fn commit(&self, log: &mut Log, changes: Changes) -> Result<(), StoreError> {
        if !changes.is_empty() {
            log.append(&changes)?;
            self.rows.write().unwrap_or_else(PoisonError::into_inner).change(changes);
        }
        Ok(())
    }

    fn transact(&self, transaction: Transaction) -> Result<Transacted, StoreError> {
        let tenant = transaction.tenant;
        let mut log = self.lock();
        let Some(decided) = self.decide(transaction)? else { return Ok(Transacted::Rejected) };
        self.commit(&mut log, decided.changes)?;
        for topic in decided.wakes {
            // An error means that nobody listens.
            let _ = self.wakes.send(Wake::Touched { tenant, topic });
        }
        Ok(Transacted::Committed { sequence: decided.sequence })
    }

    /// Runs the step until it has all it needs; `None` when it rejects.
    fn decide(&self, transaction: Transaction) -> Result<Option<Decided>, StoreError> {
        let Transaction { tenant, mut reads, step } = transaction;
        let rows = self.rows();
        let mut loaded = Loaded::new(tenant, rows.head(tenant)?);
        for _ in 0..MAX_RUNS {
            rows.load(&reads, &mut loaded)?;
            let seed = self.entropy.seed().map_err(|error| StoreError::Unavailable(error.to_string()))?;
            let moment = Moment { now: self.clock.now(), seed };
            let stepped = catch_unwind(AssertUnwindSafe(|| step(&loaded, &moment)))
                .map_err(|panic| StoreError::StepPanicked(panic_text(panic.as_ref())))?;
            match stepped {
                Step::Need(more) => reads = more,
                Step::Reject => return Ok(None),
                Step::Commit(mut set) => {
                    let wakes = std::mem::take(&mut set.wakes);
                    let mut batch = Batch::over(&rows);
                    let sequence = batch.write_set(tenant, *set, moment.now)?;
                    return Ok(Some(Decided { changes: batch.into_changes()?, wakes, sequence }));
                }
            }
        }
        Err(StoreError::TooManyReads)
    }

    fn claim_timers(&self, limit: usize, lease: Duration) -> Result<Claimed, StoreError> {
        let mut log = self.lock();
        let now = self.clock.now();
        let (claimed, changes) = {
            let rows = self.rows();
            let (mut due, mut next) = (Vec::new(), None::<Timestamp>);
            for (tenant, key, timer) in rows.timers()? {
                if timer.claimable_from() <= now {
                    due.push((timer.due, tenant, key, timer));
                } else {
                    next = next.into_iter().chain([timer.claimable_from()]).min();
                }
            }
            due.sort_by(|one, other| (one.0, one.1, &one.2).cmp(&(other.0, other.1, &other.2)));
            let left = due.split_off(limit.min(due.len()));
            next = next.into_iter().chain(left.first().map(|(due, ..)| *due)).min();

            let mut batch = Batch::over(&rows);
            let mut timers = Vec::with_capacity(due.len());
            for (due, tenant, key, timer) in due {
                let epoch = batch.next_epoch()?;
                let action = timer.action.as_str().into();
                batch.put_timer(tenant, &key, &Timer { claim: Some((epoch, now.saturating_add(lease))), ..timer });
                timers.push(ClaimedTimer { tenant, key, due, action, epoch });
            }
            (Claimed { now, timers, next }, batch.into_changes()?)
        };
        self.commit(&mut log, changes)?;
        Ok(claimed)
    }

    fn put_blob(&self, blob: &NewBlob) -> Result<BlobRef, StoreError> {
        let mut log = self.lock();
        let put = BlobRef { owner: blob.owner.clone(), digest: Digest::of(&blob.bytes) };
        let changes = {
            let rows = self.rows();
            let mut batch = Batch::over(&rows);
            let kept = batch.blob(blob.tenant, &put)?.is_some_and(|found| found.kept);
            batch.put_blob(blob.tenant, &put, &Blob::new(&blob.bytes, self.clock.now(), kept));
            batch.into_changes()?
        };
        self.commit(&mut log, changes)?;
        Ok(put)
    }

    fn sweep_blobs(&self, older_than: Duration) -> Result<u64, StoreError> {
        let mut log = self.lock();
        let before = self.clock.now().saturating_sub(older_than);
        let changes: Changes = self.rows().unkept_blobs(before)?.into_iter().map(|key| (key, None)).collect();
        let swept = u64::try_from(changes.len()).unwrap_or(u64::MAX);
        self.commit(&mut log, changes)?;
        Ok(swept)
    }
}

/// What a step decided.
struct Decided {
    changes: Changes,
    wakes: Vec<Topic>,
    sequence: Sequence,
}

#[async_trait]
impl Store for LogStore {
    async fn transact(&self, transaction: Transaction) -> Result<Transacted, StoreError> {
        self.blocking(|shared| shared.transact(transaction)).await
    }

    async fn get(&self, tenant: &TenantId, keys: &[RecordKey]) -> Result<Vec<Option<Record>>, StoreError> {
        let rows = self.0.rows();
        keys.iter().map(|key| rows.record(*tenant, key)).collect()
    }

    async fn scan(&self, scan: IndexScan) -> Result<Page, StoreError> {
        self.0.rows().page(&scan)
    }

    async fn read_chain(
        &self,
        tenant: &TenantId,
        chain: &ChainName,
        range: HeightRange,
    ) -> Result<Vec<ChainEntry>, StoreError> {
        self.0.rows().chain_entries(*tenant, chain, range)
    }

    async fn chain_head(&self, tenant: &TenantId, chain: &ChainName) -> Result<Option<ChainHead>, StoreError> {
        self.0.rows().chain_head(*tenant, chain)
    }

    async fn read_events(
        &self,
        tenant: &TenantId,
        after: Sequence,
        limit: usize,
    ) -> Result<Vec<StoredEvent>, StoreError> {
        self.0.rows().events(*tenant, after, limit)
    }

    async fn claim_timers(&self, limit: usize, lease: Duration) -> Result<Claimed, StoreError> {
        self.blocking(move |shared| shared.claim_timers(limit, lease)).await
    }

    async fn put_blob(&self, blob: NewBlob) -> Result<BlobRef, StoreError> {
        self.blocking(move |shared| shared.put_blob(&blob)).await
    }

    async fn get_blob(&self, tenant: &TenantId, blob: &BlobRef) -> Result<Option<Bytes>, StoreError> {
        self.0.rows().blob_bytes(*tenant, blob)
    }

    async fn sweep_blobs(&self, older_than: Duration) -> Result<u64, StoreError> {
        self.blocking(move |shared| shared.sweep_blobs(older_than)).await
    }

    fn wakes(&self) -> WakeStream {
        Box::pin(stream::unfold(self.0.wakes.subscribe(), |mut wakes| async {
            match wakes.recv().await {
                Ok(wake) => Some((wake, wakes)),
                Err(RecvError::Lagged(_)) => Some((Wake::Missed, wakes)),
                Err(RecvError::Closed) => None,
            }
        }))
    }
}

fn panic_text(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied().or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or("without a message").to_owned()
}
