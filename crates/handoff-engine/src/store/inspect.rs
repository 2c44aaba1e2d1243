//! Reading everything of a tenant at once, for whoever checks a store.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use async_trait::async_trait;
use handoff_protocol::{id::TenantId, timestamp::Timestamp};

use super::{
    BlobRef, ChainEntry, ChainName, IndexRow, Record, RecordKey, StoreError, StoredEvent, TenantHead, TimerKey,
};

/// A store that shows everything that it keeps, for [`fsck`](crate::fsck).
///
/// No use case needs this: it is apart from [`Store`](super::Store) so that a store that cannot do it is a store all the
/// same.
#[async_trait]
pub trait Inspect: Send + Sync {
    /// Every tenant that anything was ever written for, the system tenant included.
    ///
    /// # Errors
    ///
    /// If the store fails.
    async fn tenants(&self) -> Result<Vec<TenantId>, StoreError>;

    /// Everything of a tenant as one commit left it. It is held in memory as a whole.
    ///
    /// # Errors
    ///
    /// If the store fails.
    async fn snapshot(&self, tenant: &TenantId) -> Result<Snapshot, StoreError>;
}

/// Everything that a store keeps of one tenant.
#[derive(Clone, Debug)]
pub struct Snapshot {
    /// The tenant.
    pub tenant: TenantId,
    /// The store's time when it was taken.
    pub now: Timestamp,
    /// The head row.
    pub head: TenantHead,
    /// Every record.
    pub records: BTreeMap<RecordKey, Record>,
    /// Every index row, with the record that it points to.
    pub index: BTreeMap<IndexRow, RecordKey>,
    /// Every chain, lowest height first.
    pub chains: BTreeMap<ChainName, Vec<ChainEntry>>,
    /// The entries whose bodies were erased, by chain and height.
    pub erased: BTreeSet<(ChainName, u64)>,
    /// Every event, in order.
    pub events: Vec<StoredEvent>,
    /// Every timer.
    pub timers: BTreeMap<TimerKey, StoredTimer>,
    /// Every blob, with whether a transaction kept it.
    pub blobs: Vec<(BlobRef, bool)>,
}

/// A timer as it is kept.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct StoredTimer {
    /// When it can be claimed.
    pub due: Timestamp,
    /// JSON text that says what to do then.
    pub action: Arc<str>,
    /// Who holds it, or held it last.
    pub claim: Option<StoredClaim>,
}

/// A claim on a timer.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct StoredClaim {
    /// The epoch that it was claimed under.
    pub epoch: u64,
    /// Until when it holds.
    pub until: Timestamp,
}

impl Snapshot {
    /// Nothing of a tenant yet.
    #[must_use]
    pub fn empty(tenant: TenantId, now: Timestamp) -> Self {
        Self {
            tenant,
            now,
            head: TenantHead::default(),
            records: BTreeMap::new(),
            index: BTreeMap::new(),
            chains: BTreeMap::new(),
            erased: BTreeSet::new(),
            events: Vec::new(),
            timers: BTreeMap::new(),
            blobs: Vec::new(),
        }
    }
}
