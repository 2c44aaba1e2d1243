//! The store itself: the port, each call handed to the thread that does it.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
    thread::{self, JoinHandle},
    time::Duration,
};

use async_trait::async_trait;
use bytes::Bytes;
use handoff_engine::store::{
    BlobRef, ChainEntry, ChainHead, ChainName, Claimed, HeightRange, IndexScan, NewBlob, Page, Portable, Record,
    RecordKey, Sequence, Store, StoreError, StoredEvent, Transacted, Transaction, WakeStream,
};
use handoff_protocol::{id::TenantId, timestamp::Timestamp};
use rusqlite::Connection;

use crate::{
    blobs,
    error::{Failure, OpenError},
    load,
    member::{Finished, Member, Outcome, member},
    options::SqliteOptions,
    read,
    readers::Readers,
    schema,
    stats::{Counters, Stats},
    step,
    sync::{Sender, channel},
    timers,
    wakes::{Foreign, Wakes},
    writer::Writer,
};

/// A store in one SQLite file.
///
/// Other processes may open the same file; nothing is cached between calls. Dropping the store finishes the work that
/// was handed in and waits for it.
#[derive(Debug)]
pub struct SqliteStore {
    // The readers are dropped first: the last connection to close tidies the log away, and only the writer may.
    readers: Readers,
    writer: WriterHandle,
    wakes: Wakes,
    counters: Arc<Counters>,
    path: PathBuf,
    options: SqliteOptions,
}

#[derive(Debug)]
struct WriterHandle {
    queue: Option<Sender<Box<dyn Member>>>,
    thread: Option<JoinHandle<()>>,
}

impl SqliteStore {
    /// Opens the file, creating it for its owner alone when it is missing, and brings it to the newest schema.
    ///
    /// Safe when two processes open the same file at once. This blocks for as long as the disk takes.
    ///
    /// # Errors
    ///
    /// See [`OpenError`]; a missing directory, a database of another program and a newer schema are named.
    pub fn open(path: impl AsRef<Path>, options: SqliteOptions) -> Result<Self, OpenError> {
        let path = path.as_ref();
        let connection = schema::open_writer(path, &options)?;
        let foreign = Foreign::new(&connection)?;
        let readers = Readers::open(path, &options)?;
        let wakes = Wakes::new();
        let counters = Arc::new(Counters::default());
        let (queue, members) = channel();
        let writer = Writer {
            connection,
            options: options.clone(),
            counters: Arc::clone(&counters),
            wakes: wakes.clone(),
            foreign,
            traces: false,
        };
        let thread = thread::Builder::new().name("handoff-store-write".to_owned());
        let thread = thread.spawn(move || writer.work(&members))?;
        let writer = WriterHandle { queue: Some(queue), thread: Some(thread) };
        Ok(Self { readers, writer, wakes, counters, path: path.to_path_buf(), options })
    }

    /// The file, and how a connection to it is opened that is none of the readers and not the writer's.
    pub(crate) fn file(&self) -> (&Path, SqliteOptions) {
        (&self.path, SqliteOptions { busy_timeout: self.options.busy_timeout, ..SqliteOptions::default() })
    }

    /// What the store did since it was opened, to see how many transactions share a commit.
    #[must_use]
    pub fn stats(&self) -> Stats {
        self.counters.read()
    }

    pub(crate) const fn readers(&self) -> &Readers {
        &self.readers
    }

    /// The store's time.
    pub(crate) fn now(&self) -> Timestamp {
        self.options.clock.now()
    }

    /// Hands work to the writer and waits until its outcome is durable.
    async fn write<T: Send + 'static>(
        &self,
        work: impl FnMut(&Connection, &SqliteOptions) -> Result<Finished<T>, Failure> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (member, answer) = member(work);
        let stopped = || StoreError::Unavailable("the store is closing".to_owned());
        self.writer.queue.as_ref().ok_or_else(stopped)?.send(member).map_err(|_| stopped())?;
        // The writer answers all that it took, so a lost answer means that its thread died in the middle.
        answer.await.map_err(|_| StoreError::Unknown("the store's writer stopped".to_owned()))?
    }
}

impl Drop for WriterHandle {
    fn drop(&mut self) {
        drop(self.queue.take());
        if let Some(thread) = self.thread.take() {
            // A thread that panicked has nothing left to finish.
            let _ = thread.join();
        }
    }
}

fn done<T>(value: T) -> Finished<T> {
    Finished { outcome: Outcome::Done, value, wakes: None, erases: false }
}

#[async_trait]
impl Store for SqliteStore {
    async fn transact(&self, transaction: Transaction) -> Result<Transacted, StoreError> {
        self.write(move |connection, options| {
            let ran = step::run(connection, options, &transaction)?;
            let outcome = match ran.transacted {
                Transacted::Committed { .. } => Outcome::Done,
                Transacted::Rejected => Outcome::Refused,
            };
            let wakes = (!ran.wakes.is_empty()).then_some((transaction.tenant, ran.wakes));
            Ok(Finished { outcome, value: ran.transacted, wakes, erases: ran.erases })
        })
        .await
    }

    async fn get(&self, tenant: &TenantId, keys: &[RecordKey]) -> Result<Vec<Option<Record>>, StoreError> {
        let (tenant, keys) = (tenant.to_string(), keys.to_vec());
        self.readers.point(move |connection| read::records(connection, &tenant, &keys)).await
    }

    async fn scan(&self, scan: IndexScan) -> Result<Page, StoreError> {
        self.readers.read(move |connection| read::scan(connection, &scan)).await
    }

    async fn read_chain(
        &self,
        tenant: &TenantId,
        chain: &ChainName,
        range: HeightRange,
    ) -> Result<Vec<ChainEntry>, StoreError> {
        let (tenant, chain) = (tenant.to_string(), chain.clone());
        let read = move |connection: &Connection| read::chain(connection, &tenant, &chain, range);
        if range.limit <= 1 { self.readers.point(read).await } else { self.readers.read(read).await }
    }

    async fn chain_head(&self, tenant: &TenantId, chain: &ChainName) -> Result<Option<ChainHead>, StoreError> {
        let (tenant, chain) = (tenant.to_string(), chain.clone());
        self.readers.point(move |connection| load::chain_head(connection, &tenant, &chain)).await
    }

    async fn read_events(
        &self,
        tenant: &TenantId,
        after: Sequence,
        limit: usize,
    ) -> Result<Vec<StoredEvent>, StoreError> {
        let tenant = tenant.to_string();
        self.readers.read(move |connection| read::events(connection, &tenant, after, limit)).await
    }

    async fn claim_timers(&self, limit: usize, lease: Duration) -> Result<Claimed, StoreError> {
        self.write(move |connection, options| Ok(done(timers::claim(connection, limit, lease, options.clock.now())?)))
            .await
    }

    async fn put_blob(&self, blob: NewBlob) -> Result<BlobRef, StoreError> {
        self.write(move |connection, options| Ok(done(blobs::put(connection, &blob, options.clock.now())?))).await
    }

    async fn get_blob(&self, tenant: &TenantId, blob: &BlobRef) -> Result<Option<Bytes>, StoreError> {
        let (tenant, blob) = (tenant.to_string(), blob.clone());
        self.readers.read(move |connection| blobs::get(connection, &tenant, &blob)).await
    }

    async fn sweep_blobs(&self, older_than: Duration) -> Result<u64, StoreError> {
        self.write(move |connection, options| {
            let swept = blobs::sweep(connection, older_than, options.clock.now())?;
            Ok(Finished { erases: swept > 0, ..done(swept) })
        })
        .await
    }

    fn wakes(&self) -> WakeStream {
        self.wakes.subscribe()
    }

    fn portable(&self) -> Option<&dyn Portable> {
        Some(self)
    }
}
