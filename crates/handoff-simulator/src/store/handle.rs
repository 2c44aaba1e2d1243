//! The store as one node calls it, and what goes wrong at a call.

use std::{
    future::Future,
    sync::{Arc, Mutex},
    time::Duration,
};

use async_trait::async_trait;
use bytes::Bytes;
use futures::{FutureExt as _, StreamExt as _, stream};
use handoff_engine::store::{
    BlobRef, ChainEntry, ChainHead, ChainName, Claimed, HeightRange, IndexScan, NewBlob, Page, Record, RecordKey,
    Sequence, Store, StoreError, StoredEvent, Transacted, Transaction, WakeStream,
};
use handoff_protocol::id::TenantId;
use handoff_testkit::MemoryStore;

use super::Disk;
use crate::{faults::StoreFault, rng::Rng, scheduler::lock, world::World};

/// The store that one node was given when it started.
pub struct NodeStore {
    world: Arc<World>,
    node: usize,
    store: MemoryStore,
    /// How often the node had crashed when it was given this.
    life: u64,
    wakes: Arc<Mutex<Rng>>,
}

impl NodeStore {
    /// The store for a node that starts now.
    #[must_use]
    pub fn new(world: Arc<World>, node: usize) -> Self {
        let wakes = Rng::of(world.draw("wakes"), "wakes");
        let store = world.disk.store();
        let life = world.crashes(node);
        Self { world, node, store, life, wakes: Arc::new(Mutex::new(wakes)) }
    }

    fn disk(&self) -> &Disk {
        &self.world.disk
    }

    /// One call: its latency, what goes wrong, and the wait until what it saw is durable.
    async fn call<T>(
        &self,
        what: &'static str,
        act: impl Future<Output = Result<T, StoreError>>,
        writes: bool,
    ) -> Result<T, StoreError> {
        self.live().await;
        let fault = self.world.store_call(self.node, what);
        self.pass().await;
        self.live().await;
        match fault {
            Some(StoreFault::CrashBefore) => return self.crash().await,
            Some(StoreFault::Unavailable) => return Err(StoreError::Unavailable("planned".to_owned())),
            Some(StoreFault::LostNotWritten) if writes => return Err(StoreError::Unknown("planned".to_owned())),
            Some(StoreFault::LostNotWritten | StoreFault::LostWritten) if !writes => {
                return Err(StoreError::Unavailable("planned".to_owned()));
            }
            Some(StoreFault::ClockBack(millis)) => self.disk().clock().shift(millis.saturating_neg()),
            Some(StoreFault::Slow(millis)) => tokio::time::sleep(Duration::from_millis(millis)).await,
            _ => {}
        }
        self.live().await;
        // The store in memory waits for nothing.
        let done = act.now_or_never().unwrap_or_else(|| Err(StoreError::Unavailable("it waits".to_owned())));
        if let Err(error) = &done {
            self.world.store_said(what, error);
        }
        let written = self.disk().written();
        match fault {
            Some(StoreFault::CrashUnsynced) => return self.crash().await,
            Some(StoreFault::PowerCut(thousandths)) => {
                self.world.power_cut(thousandths);
                return std::future::pending().await;
            }
            _ => {}
        }
        let lies = self.world.plan.knobs.lies;
        #[cfg(feature = "planted-faults")]
        let lies = lies || handoff_protocol::planted::Fault::AcknowledgedBeforeSynced.is_planted();
        while !lies && !self.disk().is_durable(written) {
            let began = self.disk().written();
            self.pass().await;
            self.disk().synced(began);
        }
        if !writes {
            // What was read is old by the time that it arrives.
            self.pass().await;
            self.live().await;
        }
        match fault {
            Some(StoreFault::CrashAfter) => self.crash().await,
            Some(StoreFault::LostWritten) if writes => Err(StoreError::Unknown("planned".to_owned())),
            _ => done,
        }
    }

    /// Nothing more comes of a node that crashed: what goes on beside the call at which it did is in the same task, which
    /// is dropped only once its turn is over.
    async fn live(&self) {
        if self.world.crashes(self.node) != self.life {
            std::future::pending::<()>().await;
        }
    }

    async fn crash<T>(&self) -> T {
        self.world.crash(self.node);
        std::future::pending().await
    }

    async fn pass(&self) {
        match self.world.store_latency() {
            0 => crate::world::yield_once().await,
            millis => tokio::time::sleep(Duration::from_millis(millis)).await,
        }
    }
}

#[async_trait]
impl Store for NodeStore {
    async fn transact(&self, transaction: Transaction) -> Result<Transacted, StoreError> {
        self.call("transact", self.store.transact(transaction), true).await
    }

    async fn get(&self, tenant: &TenantId, keys: &[RecordKey]) -> Result<Vec<Option<Record>>, StoreError> {
        self.call("get", self.store.get(tenant, keys), false).await
    }

    async fn scan(&self, scan: IndexScan) -> Result<Page, StoreError> {
        self.call("scan", self.store.scan(scan), false).await
    }

    async fn read_chain(
        &self,
        tenant: &TenantId,
        chain: &ChainName,
        range: HeightRange,
    ) -> Result<Vec<ChainEntry>, StoreError> {
        self.call("read_chain", self.store.read_chain(tenant, chain, range), false).await
    }

    async fn chain_head(&self, tenant: &TenantId, chain: &ChainName) -> Result<Option<ChainHead>, StoreError> {
        self.call("chain_head", self.store.chain_head(tenant, chain), false).await
    }

    async fn read_events(
        &self,
        tenant: &TenantId,
        after: Sequence,
        limit: usize,
    ) -> Result<Vec<StoredEvent>, StoreError> {
        self.call("read_events", self.store.read_events(tenant, after, limit), false).await
    }

    async fn claim_timers(&self, limit: usize, lease: Duration) -> Result<Claimed, StoreError> {
        self.call("claim_timers", self.store.claim_timers(limit, lease), true).await
    }

    async fn put_blob(&self, blob: NewBlob) -> Result<BlobRef, StoreError> {
        self.call("put_blob", self.store.put_blob(blob), true).await
    }

    async fn get_blob(&self, tenant: &TenantId, blob: &BlobRef) -> Result<Option<Bytes>, StoreError> {
        self.call("get_blob", self.store.get_blob(tenant, blob), false).await
    }

    async fn sweep_blobs(&self, older_than: Duration) -> Result<u64, StoreError> {
        self.call("sweep_blobs", self.store.sweep_blobs(older_than), true).await
    }

    fn wakes(&self) -> WakeStream {
        let (world, rng) = (Arc::clone(&self.world), Arc::clone(&self.wakes));
        let wakes = self.store.wakes().then(move |wake| {
            let (late, times) =
                if world.goes_wrong(&mut lock(&rng), world.plan.knobs.wakes, "wake lost, late or repeated") {
                    let mut rng = lock(&rng);
                    match rng.below(3) {
                        0 => (0, 0),
                        1 => (rng.between(1, 5_000), 1),
                        _ => (0, rng.between(2, 3)),
                    }
                } else {
                    (0, 1)
                };
            async move {
                if late > 0 {
                    tokio::time::sleep(Duration::from_millis(late)).await;
                }
                stream::iter(std::iter::repeat_n(wake, usize::try_from(times).unwrap_or(1)))
            }
        });
        Box::pin(wakes.flatten())
    }
}
