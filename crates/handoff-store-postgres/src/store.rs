//! The store itself: the port, each call handed to what does it.

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use bytes::Bytes;
use handoff_engine::store::{
    BlobRef, ChainEntry, ChainHead, ChainName, Claimed, HeightRange, IndexScan, NewBlob, Page, Portable, Record,
    RecordKey, Sequence, Store, StoreError, StoredEvent, Transacted, Transaction, WakeStream,
};
use handoff_protocol::{id::TenantId, timestamp::Timestamp};
use tokio::task::JoinSet;

use crate::{
    blobs,
    error::OpenError,
    gather::Gather,
    link::{self, Link},
    member::Member,
    options::PostgresOptions,
    queue::Writers,
    read, schema,
    stats::Stats,
    timers,
    wakes::{Hearing, Wakes, catch_up, listen, notify},
};

/// A store in a Postgres database that any number of nodes share.
///
/// Nothing is cached between calls. Work that was handed in is finished also when its caller goes away; dropping the store
/// ends what listens and leaves to end what was handed in.
#[derive(Debug)]
pub struct PostgresStore {
    writers: Arc<Writers>,
    gather: Gather,
    // Dropping the set ends what runs in it.
    _background: JoinSet<()>,
}

impl PostgresStore {
    /// Opens the database at an address such as `postgres://user@host/database?sslmode=verify-full`, and brings it to the
    /// newest schema unless the options say otherwise. Safe when several nodes open the same database at once.
    ///
    /// Call it within a Tokio runtime, which the store stays in.
    ///
    /// # Errors
    ///
    /// See [`OpenError`]; a database of another program and a newer schema are named.
    pub async fn open(url: &str, options: PostgresOptions) -> Result<Self, OpenError> {
        let address = link::address(url, options.pooled)?;
        let listen_at = match &options.listen_url {
            Some(url) => link::address(url, false)?,
            None => address.clone(),
        };
        schema::prepare(&address, options.migrate).await?;
        let wakes = Wakes::new();
        let link = Link::new(address, &options);
        let hearing = Hearing { within: options.heard_within, look_again: options.look_again };
        let mut background = JoinSet::new();
        background.spawn(listen(wakes.clone(), link.gate().clone(), listen_at.clone(), hearing));
        background.spawn(notify(wakes.clone(), listen_at));
        background.spawn(catch_up(wakes.clone(), link.clone(), options.look_again));
        let writers = Arc::new(Writers::new(link, options, wakes));
        Ok(Self { writers, gather: Gather::default(), _background: background })
    }

    /// Whether a text can be read as an address. Whether anything is there shows when it is opened.
    #[must_use]
    pub fn is_address(url: &str) -> bool {
        link::address(url, false).is_ok()
    }

    /// What the store did since it was opened, to see how many transactions share a commit.
    #[must_use]
    pub fn stats(&self) -> Stats {
        self.writers.counters.read()
    }

    pub(crate) fn link(&self) -> &Link {
        &self.writers.link
    }

    /// The time that stands for the database's, if one does.
    pub(crate) fn now(&self) -> Option<Timestamp> {
        self.writers.options.clock.as_ref().map(|clock| clock.now())
    }
}

#[async_trait]
impl Store for PostgresStore {
    async fn transact(&self, transaction: Transaction) -> Result<Transacted, StoreError> {
        let tenant = transaction.tenant;
        let (member, answer) = Member::new(transaction);
        self.writers.push(tenant, member);
        // Every member is answered, so a lost answer means that its worker died in the middle.
        answer.await.map_err(|_| StoreError::Unknown("the store's writer stopped".to_owned()))?
    }

    async fn get(&self, tenant: &TenantId, keys: &[RecordKey]) -> Result<Vec<Option<Record>>, StoreError> {
        self.gather.records(self.link(), tenant, keys).await
    }

    async fn scan(&self, scan: IndexScan) -> Result<Page, StoreError> {
        read::scan(self.link(), &scan).await
    }

    async fn read_chain(
        &self,
        tenant: &TenantId,
        chain: &ChainName,
        range: HeightRange,
    ) -> Result<Vec<ChainEntry>, StoreError> {
        read::chain(self.link(), tenant, chain, range).await
    }

    async fn chain_head(&self, tenant: &TenantId, chain: &ChainName) -> Result<Option<ChainHead>, StoreError> {
        read::chain_head(self.link(), tenant, chain).await
    }

    async fn read_events(
        &self,
        tenant: &TenantId,
        after: Sequence,
        limit: usize,
    ) -> Result<Vec<StoredEvent>, StoreError> {
        read::events(self.link(), tenant, after, limit).await
    }

    async fn claim_timers(&self, limit: usize, lease: Duration) -> Result<Claimed, StoreError> {
        timers::claim(self.link(), limit, lease, self.now()).await
    }

    async fn put_blob(&self, blob: NewBlob) -> Result<BlobRef, StoreError> {
        blobs::put(self.link(), blob, self.now()).await
    }

    async fn get_blob(&self, tenant: &TenantId, blob: &BlobRef) -> Result<Option<Bytes>, StoreError> {
        blobs::get(self.link(), tenant, blob).await
    }

    async fn sweep_blobs(&self, older_than: Duration) -> Result<u64, StoreError> {
        blobs::sweep(self.link(), older_than, self.now()).await
    }

    fn wakes(&self) -> WakeStream {
        self.writers.wakes.subscribe()
    }

    fn portable(&self) -> Option<&dyn Portable> {
        Some(self)
    }
}
