//! A store whose chosen transactions fail, for tests of what callers do then.

use std::{
    collections::BTreeMap,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use bytes::Bytes;
use handoff_engine::store::{
    BlobRef, ChainEntry, ChainHead, ChainName, Claimed, HeightRange, IndexScan, NewBlob, Page, Record, RecordKey,
    Sequence, Store, StoreError, StoredEvent, Transacted, Transaction, WakeStream,
};
use handoff_protocol::id::TenantId;

/// How a transaction fails.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Fault {
    /// The store cannot be reached: [`StoreError::Unavailable`], and the step does not run.
    Unreachable,
    /// The answer is lost on the way out: [`StoreError::Unknown`], and nothing was written.
    LostBeforeCommit,
    /// The answer is lost on the way back: [`StoreError::Unknown`], and everything was written.
    LostAfterCommit,
}

/// A store around another one that fails the transactions its script names and hands everything else through.
///
/// Transactions are counted from 1, in the order in which they reach this store.
#[derive(Debug)]
pub struct FaultStore<S> {
    inner: S,
    transactions: AtomicU64,
    script: Mutex<BTreeMap<u64, Fault>>,
}

impl<S> FaultStore<S> {
    /// Wraps a store; `script` says which transactions fail, and how.
    #[must_use]
    pub fn new(inner: S, script: impl IntoIterator<Item = (u64, Fault)>) -> Self {
        Self { inner, transactions: AtomicU64::new(0), script: Mutex::new(script.into_iter().collect()) }
    }

    /// Makes the next transaction fail, whatever its number.
    pub fn fail_next(&self, fault: Fault) {
        self.fail_after(0, fault);
    }

    /// Lets so many transactions through and makes the one after them fail.
    pub fn fail_after(&self, well: u64, fault: Fault) {
        let next = self.transactions.load(Ordering::SeqCst) + 1 + well;
        self.script.lock().unwrap_or_else(PoisonError::into_inner).insert(next, fault);
    }

    /// How many transactions reached this store.
    #[must_use]
    pub fn transactions(&self) -> u64 {
        self.transactions.load(Ordering::SeqCst)
    }

    /// The store within.
    #[must_use]
    pub fn inner(&self) -> &S {
        &self.inner
    }

    fn next_fault(&self) -> Option<Fault> {
        let number = self.transactions.fetch_add(1, Ordering::SeqCst) + 1;
        self.script.lock().unwrap_or_else(PoisonError::into_inner).remove(&number)
    }
}

#[async_trait]
impl<S: Store> Store for FaultStore<S> {
    async fn transact(&self, transaction: Transaction) -> Result<Transacted, StoreError> {
        match self.next_fault() {
            None => self.inner.transact(transaction).await,
            Some(Fault::Unreachable) => Err(StoreError::Unavailable("planted by a test".to_owned())),
            Some(Fault::LostBeforeCommit) => Err(StoreError::Unknown("planted by a test".to_owned())),
            Some(Fault::LostAfterCommit) => {
                let _lost = self.inner.transact(transaction).await?;
                Err(StoreError::Unknown("planted by a test".to_owned()))
            }
        }
    }

    async fn get(&self, tenant: &TenantId, keys: &[RecordKey]) -> Result<Vec<Option<Record>>, StoreError> {
        self.inner.get(tenant, keys).await
    }

    async fn scan(&self, scan: IndexScan) -> Result<Page, StoreError> {
        self.inner.scan(scan).await
    }

    async fn read_chain(
        &self,
        tenant: &TenantId,
        chain: &ChainName,
        range: HeightRange,
    ) -> Result<Vec<ChainEntry>, StoreError> {
        self.inner.read_chain(tenant, chain, range).await
    }

    async fn chain_head(&self, tenant: &TenantId, chain: &ChainName) -> Result<Option<ChainHead>, StoreError> {
        self.inner.chain_head(tenant, chain).await
    }

    async fn read_events(
        &self,
        tenant: &TenantId,
        after: Sequence,
        limit: usize,
    ) -> Result<Vec<StoredEvent>, StoreError> {
        self.inner.read_events(tenant, after, limit).await
    }

    async fn claim_timers(&self, limit: usize, lease: Duration) -> Result<Claimed, StoreError> {
        self.inner.claim_timers(limit, lease).await
    }

    async fn put_blob(&self, blob: NewBlob) -> Result<BlobRef, StoreError> {
        self.inner.put_blob(blob).await
    }

    async fn get_blob(&self, tenant: &TenantId, blob: &BlobRef) -> Result<Option<Bytes>, StoreError> {
        self.inner.get_blob(tenant, blob).await
    }

    async fn sweep_blobs(&self, older_than: Duration) -> Result<u64, StoreError> {
        self.inner.sweep_blobs(older_than).await
    }

    fn wakes(&self) -> WakeStream {
        self.inner.wakes()
    }
}
