//! The store port: what a store must do for every domain to run on it.
//!
//! A store knows nothing of requests, pads or sessions. It keeps records, index rows, chain entries, events, timers
//! and blobs, each under a tenant, and commits what a [`Step`] returns in one atomic write. To bring a store of your
//! own, implement [`Store`] and run the suite of `handoff-testkit` against it.
//!
//! | module | what lives there |
//! |---|---|
//! | [`name`] | the names that rows go by: kinds, indexes, chains, topics, timer keys |
//! | [`read`] | what a step asks for and what it is given |
//! | [`write_set`] | everything that one commit writes |
//! | [`chain`], [`timer`], [`blob`], [`event`] | the rows beside records |
//! | [`scan`] | paging through an index |
//! | [`wake`] | how waiting callers learn of commits |
//! | [`error`] | how a store fails |
//! | [`portable`] | handing out everything, and filling an empty store with it |

pub mod blob;
pub mod chain;
pub mod error;
pub mod event;
mod inspect;
pub mod name;
pub mod portable;
pub mod read;
pub mod scan;
pub mod timer;
pub mod wake;
pub mod write_set;

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use bytes::Bytes;
use handoff_protocol::id::TenantId;

pub use self::{
    blob::{BlobRef, BlobWrite, NewBlob},
    chain::{ChainAppend, ChainEntry, ChainHead, Erasure, HeightRange},
    error::StoreError,
    event::{NewEvent, Sequence, StoredEvent},
    inspect::{Inspect, Snapshot, StoredClaim, StoredTimer},
    name::{ChainName, EventType, IndexName, RecordKind, TimerKey, Topic},
    portable::{Cell, Filling, Portable, Row, RowStream, Table},
    read::{IndexRead, Loaded, Moment, Reads, TenantHead},
    scan::{IndexScan, IndexedRecord, Order, Page},
    timer::{Claimed, ClaimedTimer, TimerWrite},
    wake::{Wake, WakeStream},
    write_set::{IndexRow, Record, RecordKey, RecordWrite, WriteSet},
};

/// A place to keep everything, with one lock a tenant.
///
/// # What an implementation promises
///
/// * **Atomic**: a committed [`WriteSet`] is there as a whole or not at all, also after a crash.
/// * **Durable on return**: when [`transact`](Store::transact) answers, the commit survives a power cut. An answer that
///   a step gave after seeing another step's uncommitted rows is withheld until those rows are durable.
/// * **Serial within a tenant**: steps of one tenant run one after another, each over what the one before committed.
///   So the order of events is the order of commits, chains never fork, and an absent key needs no lock.
/// * **Isolated between tenants**: nothing read or written under one tenant shows under another.
/// * **No cache across commits**: every read sees the last durable state, also one that another process wrote.
#[async_trait]
pub trait Store: Send + Sync + 'static {
    /// Locks the tenant, loads what the transaction names, runs its step and commits what the step returns.
    ///
    /// The step may run more than once: after [`Step::Need`], after a failure of the physical transaction it shared
    /// with others, or after a lost race. Only the last run counts. Calling this again after an error is safe when the
    /// step itself recognizes a repeat (idempotency records do).
    ///
    /// # Errors
    ///
    /// See [`StoreError`]. Only [`StoreError::Unknown`] leaves open whether the write happened.
    async fn transact(&self, transaction: Transaction) -> Result<Transacted, StoreError>;

    /// Reads records by key, in the order asked; `None` where there is none.
    async fn get(&self, tenant: &TenantId, keys: &[RecordKey]) -> Result<Vec<Option<Record>>, StoreError>;

    /// Reads one page of an index, with the records that its rows point to.
    async fn scan(&self, scan: IndexScan) -> Result<Page, StoreError>;

    /// Reads chain entries by height, lowest first. A chain that was never written is empty.
    async fn read_chain(
        &self,
        tenant: &TenantId,
        chain: &ChainName,
        range: HeightRange,
    ) -> Result<Vec<ChainEntry>, StoreError>;

    /// Reads the head of a chain; `None` when it was never written.
    async fn chain_head(&self, tenant: &TenantId, chain: &ChainName) -> Result<Option<ChainHead>, StoreError>;

    /// Reads events of a tenant after a sequence number, in commit order and without gaps.
    ///
    /// Call it again with the last sequence seen; an empty answer means that nothing more was committed yet.
    async fn read_events(
        &self,
        tenant: &TenantId,
        after: Sequence,
        limit: usize,
    ) -> Result<Vec<StoredEvent>, StoreError>;

    /// Claims timers that are due by the store's own clock, over all tenants, the longest overdue first.
    ///
    /// A claim holds for `lease`; a timer that nobody settled by then can be claimed again, under a higher epoch. The
    /// write that acts on a timer settles it under the epoch it was claimed with, so of two holders one wins.
    async fn claim_timers(&self, limit: usize, lease: Duration) -> Result<Claimed, StoreError>;

    /// Stores bytes ahead of a transaction that will keep them; what no transaction keeps is swept.
    async fn put_blob(&self, blob: NewBlob) -> Result<BlobRef, StoreError>;

    /// Reads a blob; `None` when there is none under this owner and digest.
    async fn get_blob(&self, tenant: &TenantId, blob: &BlobRef) -> Result<Option<Bytes>, StoreError>;

    /// Deletes blobs that were put longer ago than `older_than` and that no transaction kept; answers how many.
    async fn sweep_blobs(&self, older_than: Duration) -> Result<u64, StoreError>;

    /// Subscribes to the topics that commits touch, on this node or another, from now on.
    ///
    /// Wakes can be lost and can repeat: subscribe, then read, then wait, and read again after each wake.
    fn wakes(&self) -> WakeStream;

    /// What hands out everything that this store keeps and fills it while it is empty, if it can do that.
    fn portable(&self) -> Option<&dyn Portable> {
        None
    }
}

/// One attempt to change a tenant: what to load, and the step to run on it.
#[derive(Clone)]
pub struct Transaction {
    /// The tenant whose head is locked; nothing outside it is read or written.
    pub tenant: TenantId,
    /// What to load before the first run of the step.
    pub reads: Reads,
    /// The pure decision of what to write.
    pub step: StepFn,
}

/// A pure closure from what was loaded to what is to be written. It may run any number of times.
pub type StepFn = Arc<dyn Fn(&Loaded, &Moment) -> Step + Send + Sync>;

/// What a step makes of what it was given.
#[derive(Debug)]
pub enum Step {
    /// Write all of this, atomically.
    Commit(Box<WriteSet>),
    /// Load this as well, under the same lock, and run the step again.
    Need(Reads),
    /// Write nothing.
    Reject,
}

/// How a transaction ended.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[must_use]
pub enum Transacted {
    /// The write-set of the last run is durable.
    Committed {
        /// The tenant's last event sequence after this commit.
        sequence: Sequence,
    },
    /// The last run rejected; nothing was written.
    Rejected,
}

impl std::fmt::Debug for Transaction {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Transaction")
            .field("tenant", &self.tenant)
            .field("reads", &self.reads)
            .finish_non_exhaustive()
    }
}
