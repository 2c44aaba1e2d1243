//! What a batch has come to so far: each step runs over what the steps before it in the batch decided, and nothing of it
//! is in the database yet.
//!
//! Whatever is stored under the locked tenant stays as it was read until the batch is written, since nobody else may write
//! it meanwhile; timers and blobs alone have other writers, so what is expected of them is checked by the write.

mod blobs;
mod index;
mod records;
mod timers;

use std::collections::BTreeMap;

use handoff_engine::store::{
    ChainAppend, ChainHead, ChainName, Erasure, IndexRead, IndexedRecord, Loaded, NewEvent, Reads, Record, RecordKey,
    Sequence, StoreError, TenantHead, Topic, WriteSet,
};
use handoff_protocol::{id::TenantId, timestamp::Timestamp};

pub(crate) use self::{blobs::Blobs, index::IndexRows, records::Records, timers::Timers};
use crate::tracked::Tracked;

/// Why a write-set is not taken in.
#[derive(Debug)]
pub(crate) enum Refusal {
    /// It does not fit.
    Misfit(StoreError),
    /// Whether it fits shows only when this is read as well.
    Missing(Reads),
}

impl Refusal {
    fn conflict(reason: impl Into<String>) -> Self {
        Self::Misfit(StoreError::Conflict(reason.into()))
    }
}

/// The state of one tenant as the steps of a batch see it.
#[derive(Debug)]
pub(crate) struct Overlay {
    tenant: TenantId,
    /// The head as it was read.
    stored: TenantHead,
    head: TenantHead,
    pub(crate) records: Records,
    pub(crate) index: IndexRows,
    chains: Tracked<ChainName, Option<ChainHead>>,
    pub(crate) blobs: Blobs,
    pub(crate) timers: Timers,
    pub(crate) erasures: Tracked<(ChainName, u64), String>,
    pub(crate) entries: Vec<(ChainAppend, Timestamp)>,
    pub(crate) events: Vec<(Sequence, NewEvent, Timestamp)>,
    pub(crate) labels: Vec<&'static str>,
    wakes: bool,
    changed: bool,
    now: Timestamp,
}

impl Overlay {
    /// Nothing but the head of a tenant that is locked.
    pub(crate) fn new(tenant: TenantId, stored: TenantHead) -> Self {
        Self {
            tenant,
            stored,
            head: stored,
            records: Records::default(),
            index: IndexRows::default(),
            chains: Tracked::default(),
            blobs: Blobs::default(),
            timers: Timers::default(),
            erasures: Tracked::default(),
            entries: Vec::new(),
            events: Vec::new(),
            labels: Vec::new(),
            wakes: false,
            changed: false,
            now: Timestamp::EPOCH,
        }
    }

    /// Whether there is anything to write.
    pub(crate) const fn is_changed(&self) -> bool {
        self.changed
    }

    /// The head as it is to be written.
    pub(crate) const fn head(&self) -> TenantHead {
        self.head
    }

    /// Whether somebody may wait for what is written.
    pub(crate) const fn wakes(&self) -> bool {
        self.wakes
    }

    /// The time of the last write-set that was taken in.
    pub(crate) const fn now(&self) -> Timestamp {
        self.now
    }

    /// What a step is given, or what has to be read first.
    pub(crate) fn give(&self, reads: &Reads) -> Result<Loaded, Reads> {
        let mut loaded = Loaded::new(self.tenant, self.head);
        let mut missing = Reads::none();
        for key in &reads.records {
            match self.records.get(key) {
                Some(found) => loaded.put_record(key.clone(), found.cloned()),
                None => missing.records.push(key.clone()),
            }
        }
        for read in &reads.indexes {
            match self.index.read(read, &self.records) {
                Ok(rows) => loaded.put_index(read.clone(), rows),
                Err(limit) => missing.indexes.push(IndexRead { limit, ..read.clone() }),
            }
        }
        for chain in &reads.chains {
            match self.chains.get(chain) {
                Some(head) => loaded.put_chain(chain.clone(), *head),
                None => missing.chains.push(chain.clone()),
            }
        }
        if missing.is_empty() { Ok(loaded) } else { Err(missing) }
    }

    /// Notes what is stored under a key.
    ///
    /// # Errors
    ///
    /// When a step before wrote it without looking, and supposed something else.
    pub(crate) fn note_record(&mut self, key: RecordKey, stored: Option<Record>) -> Result<(), StoreError> {
        self.records.note(key, stored)
    }

    /// Notes the rows that are stored for an index read.
    pub(crate) fn note_index(&mut self, read: &IndexRead, rows: Vec<IndexedRecord>) {
        self.index.note(read, rows);
    }

    /// Notes the stored head of a chain.
    pub(crate) fn note_chain(&mut self, chain: ChainName, head: Option<ChainHead>) {
        if self.chains.get(&chain).is_none() {
            self.chains.put(chain, head);
            self.chains.keep();
        }
    }

    /// Takes a write-set in, all of it or nothing, and answers the tenant's last sequence after it.
    pub(crate) fn apply(&mut self, set: WriteSet, now: Timestamp) -> Result<(Sequence, Vec<Topic>), Refusal> {
        let (entries, events, labels) = (self.entries.len(), self.events.len(), self.labels.len());
        let head = self.head;
        let taken = self.take_in(set, now);
        match taken {
            Ok(topics) => {
                self.each(Tracking::Keep);
                self.wakes |= !topics.is_empty();
                self.now = now;
                Ok((self.head.sequence, topics))
            }
            Err(refusal) => {
                self.each(Tracking::TakeBack);
                self.entries.truncate(entries);
                self.events.truncate(events);
                self.labels.truncate(labels);
                self.head = head;
                Err(refusal)
            }
        }
    }

    fn take_in(&mut self, set: WriteSet, now: Timestamp) -> Result<Vec<Topic>, Refusal> {
        let unknown = set.chain.iter().map(|append| &append.chain).filter(|chain| self.chains.get(chain).is_none());
        let missing = unknown.fold(Reads::none(), |reads, chain| reads.chain(chain.clone()));
        if !missing.is_empty() {
            return Err(Refusal::Missing(missing));
        }
        let changes = !(set.records.is_empty()
            && set.blobs.is_empty()
            && set.chain.is_empty()
            && set.erasures.is_empty()
            && set.events.is_empty()
            && set.timers.is_empty());
        for write in set.records {
            self.records.write(write, &mut self.index)?;
        }
        for write in set.blobs {
            self.blobs.write(write)?;
        }
        for append in set.chain {
            self.append(append, now)?;
        }
        for Erasure { chain, height, reason } in set.erasures {
            // The first reason stays.
            if self.erasures.get(&(chain.clone(), height)).is_none() {
                self.erasures.put((chain, height), reason);
            }
        }
        self.labels.extend(set.label);
        for event in set.events {
            self.head.sequence = self.head.sequence.saturating_add(1);
            self.events.push((self.head.sequence, event, now));
        }
        for write in set.timers {
            self.timers.write(write)?;
        }
        // The last id never falls, whatever the step says.
        self.head.last_id = self.head.last_id.max(set.last_id);
        self.changed |= changes || self.head != self.stored;
        Ok(set.wakes)
    }

    fn append(&mut self, append: ChainAppend, now: Timestamp) -> Result<(), Refusal> {
        let continues = match self.chains.get(&append.chain).copied().flatten() {
            None => append.height == 1,
            Some(head) => Some(append.height) == head.height.checked_add(1) && append.previous == head.digest,
        };
        if !continues {
            return Err(Refusal::conflict(format!(
                "entry {} does not continue the chain {}",
                append.height, append.chain
            )));
        }
        self.chains.put(append.chain.clone(), Some(ChainHead { height: append.height, digest: append.digest }));
        self.entries.push((append, now));
        Ok(())
    }

    fn each(&mut self, tracking: Tracking) {
        tracking.on(&mut self.chains);
        tracking.on(&mut self.erasures);
        self.records.each(tracking);
        self.index.each(tracking);
        self.blobs.each(tracking);
        self.timers.each(tracking);
    }
}

/// What becomes of the changes since the last write-set that was taken in.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Tracking {
    Keep,
    TakeBack,
}

impl Tracking {
    fn on<K: Clone + Ord, V>(self, rows: &mut Tracked<K, V>) {
        match self {
            Self::Keep => rows.keep(),
            Self::TakeBack => rows.take_back(),
        }
    }
}

/// The reads of several steps in one: each key once, each index as far as the one that looks farthest.
#[derive(Debug, Default)]
pub(crate) struct Union {
    records: std::collections::BTreeSet<RecordKey>,
    indexes: BTreeMap<(handoff_engine::store::IndexName, Vec<u8>), usize>,
    chains: std::collections::BTreeSet<ChainName>,
}

impl Union {
    pub(crate) fn add(&mut self, reads: Reads) {
        self.records.extend(reads.records);
        self.chains.extend(reads.chains);
        for read in reads.indexes {
            let farthest = self.indexes.entry((read.index, read.prefix)).or_default();
            *farthest = read.limit.max(*farthest);
        }
    }

    pub(crate) fn reads(self) -> Reads {
        let index = |((index, prefix), limit)| IndexRead { index, prefix, limit };
        Reads {
            records: self.records.into_iter().collect(),
            indexes: self.indexes.into_iter().map(index).collect(),
            chains: self.chains.into_iter().collect(),
        }
    }
}
