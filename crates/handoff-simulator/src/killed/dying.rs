//! The embedded store, and the call at which the process dies.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use async_trait::async_trait;
use bytes::Bytes;
use futures::{FutureExt as _, future::BoxFuture};
use handoff_engine::store::{
    BlobRef, ChainEntry, ChainHead, ChainName, Claimed, HeightRange, IndexScan, NewBlob, Page, Record, RecordKey,
    Sequence, Store, StoreError, StoredEvent, Transacted, Transaction, WakeStream,
};
use handoff_protocol::id::TenantId;
use handoff_store_sqlite::SqliteStore;

use crate::scheduler::lock;

/// When, around a call, the process dies.
#[derive(Clone, Copy, Debug, Eq, PartialEq, clap::ValueEnum)]
pub enum Moment {
    /// Before the store hears of it.
    Before,
    /// In the middle of the step, with the database locked.
    Within,
    /// As soon as the store's writer has it: before, in or after its commit, as it happens.
    During,
    /// When it is done, and before whoever called hears of it.
    After,
}

impl Moment {
    /// Its name on a command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Before => "before",
            Self::Within => "within",
            Self::During => "during",
            Self::After => "after",
        }
    }

    /// Whether a call has this moment: what writes nothing has no middle.
    #[must_use]
    pub const fn is_of(self, call: Call) -> bool {
        match self {
            Self::Before | Self::After => true,
            Self::Within => matches!(call, Call::Step),
            Self::During => matches!(call, Call::Step | Call::Write),
        }
    }
}

/// What a call does.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Call {
    /// It reads.
    Read,
    /// It writes.
    Write,
    /// It writes what a step says.
    Step,
}

impl Call {
    /// As one letter.
    #[must_use]
    pub const fn letter(self) -> char {
        match self {
            Self::Read => 'r',
            Self::Write => 'w',
            Self::Step => 's',
        }
    }

    /// From its letter.
    #[must_use]
    pub const fn from_letter(letter: char) -> Option<Self> {
        match letter {
            'r' => Some(Self::Read),
            'w' => Some(Self::Write),
            's' => Some(Self::Step),
            _ => None,
        }
    }
}

/// Where a process dies: at which of its calls, and when.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Death {
    /// The call, the first being 1.
    pub at: usize,
    /// When.
    pub moment: Moment,
}

/// The store of a process that dies.
pub struct DyingStore {
    store: SqliteStore,
    death: Option<Death>,
    calls: Arc<Mutex<String>>,
}

impl DyingStore {
    /// A store over another; without a death it only counts.
    #[must_use]
    pub fn new(store: SqliteStore, death: Option<Death>) -> Self {
        Self { store, death, calls: Arc::default() }
    }

    /// Every call so far, as its letter.
    #[must_use]
    pub fn calls(&self) -> String {
        lock(&self.calls).clone()
    }

    fn count(&self, call: Call) -> Option<Moment> {
        let mut calls = lock(&self.calls);
        calls.push(call.letter());
        self.death.filter(|death| death.at == calls.len()).map(|death| death.moment)
    }

    async fn call<T>(&self, call: Call, act: BoxFuture<'_, Result<T, StoreError>>) -> Result<T, StoreError> {
        let moment = self.count(call);
        match moment {
            Some(Moment::Before) => std::process::abort(),
            // Whoever is asked for something hands it to the writer's thread when it is first polled.
            Some(Moment::During) => {
                let _ = act.now_or_never();
                std::process::abort()
            }
            _ => {}
        }
        let done = act.await;
        if moment == Some(Moment::After) {
            std::process::abort();
        }
        done
    }
}

#[async_trait]
impl Store for DyingStore {
    async fn transact(&self, transaction: Transaction) -> Result<Transacted, StoreError> {
        // It is counted in a moment, under the same number.
        let next = lock(&self.calls).len().saturating_add(1);
        let mut transaction = transaction;
        if self.death == Some(Death { at: next, moment: Moment::Within }) {
            transaction.step = Arc::new(|_, _| std::process::abort());
        }
        self.call(Call::Step, self.store.transact(transaction)).await
    }

    async fn get(&self, tenant: &TenantId, keys: &[RecordKey]) -> Result<Vec<Option<Record>>, StoreError> {
        self.call(Call::Read, self.store.get(tenant, keys)).await
    }

    async fn scan(&self, scan: IndexScan) -> Result<Page, StoreError> {
        self.call(Call::Read, self.store.scan(scan)).await
    }

    async fn read_chain(
        &self,
        tenant: &TenantId,
        chain: &ChainName,
        range: HeightRange,
    ) -> Result<Vec<ChainEntry>, StoreError> {
        self.call(Call::Read, self.store.read_chain(tenant, chain, range)).await
    }

    async fn chain_head(&self, tenant: &TenantId, chain: &ChainName) -> Result<Option<ChainHead>, StoreError> {
        self.call(Call::Read, self.store.chain_head(tenant, chain)).await
    }

    async fn read_events(
        &self,
        tenant: &TenantId,
        after: Sequence,
        limit: usize,
    ) -> Result<Vec<StoredEvent>, StoreError> {
        self.call(Call::Read, self.store.read_events(tenant, after, limit)).await
    }

    async fn claim_timers(&self, limit: usize, lease: Duration) -> Result<Claimed, StoreError> {
        self.call(Call::Write, self.store.claim_timers(limit, lease)).await
    }

    async fn put_blob(&self, blob: NewBlob) -> Result<BlobRef, StoreError> {
        self.call(Call::Write, self.store.put_blob(blob)).await
    }

    async fn get_blob(&self, tenant: &TenantId, blob: &BlobRef) -> Result<Option<Bytes>, StoreError> {
        self.call(Call::Read, self.store.get_blob(tenant, blob)).await
    }

    async fn sweep_blobs(&self, older_than: Duration) -> Result<u64, StoreError> {
        self.call(Call::Write, self.store.sweep_blobs(older_than)).await
    }

    fn wakes(&self) -> WakeStream {
        self.store.wakes()
    }
}
