//! Everything that one commit writes.

use std::{fmt, sync::Arc};

use handoff_protocol::{id::Ulid, timestamp::Timestamp};

use super::{BlobWrite, ChainAppend, Erasure, IndexName, NewEvent, RecordKind, TimerWrite, Topic};

/// Names one record of a tenant.
#[derive(Clone, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct RecordKey {
    /// What the record is.
    pub kind: RecordKind,
    /// Its id within the kind: at most 200 bytes, longer ones are hashed by the engine.
    pub id: String,
}

impl RecordKey {
    /// A key of a kind and an id.
    #[must_use]
    pub fn new(kind: RecordKind, id: impl fmt::Display) -> Self {
        Self { kind, id: id.to_string() }
    }
}

impl fmt::Debug for RecordKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}/{}", self.kind, self.id)
    }
}

/// A record as stored: its document is authoritative, and kept exactly as written.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Record {
    /// Its name.
    pub key: RecordKey,
    /// Starts at 1 and rises by 1 with each write.
    pub version: u64,
    /// JSON text, byte for byte as the engine wrote it.
    pub document: Arc<str>,
}

/// One row of an index, pointing to the record it is written with.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct IndexRow {
    /// The index.
    pub index: IndexName,
    /// The sort key, compared bytewise; unique within the index, since the engine ends it with the record's id.
    pub sort_key: Vec<u8>,
}

/// A write of one record, with the index rows that change with it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum RecordWrite {
    /// Inserts the record, or replaces the version that the step saw.
    Put {
        /// Which record.
        key: RecordKey,
        /// The version that the step saw: `None` for a record that must not exist yet. A mismatch fails the whole
        /// write with [`StoreError::Conflict`](super::StoreError::Conflict).
        seen: Option<u64>,
        /// The new document.
        document: Arc<str>,
        /// Index rows that no longer hold.
        unindex: Vec<IndexRow>,
        /// Index rows that hold from now on.
        index: Vec<IndexRow>,
    },
    /// Deletes the version that the step saw.
    Delete {
        /// Which record.
        key: RecordKey,
        /// The version that the step saw.
        seen: u64,
        /// Its index rows.
        unindex: Vec<IndexRow>,
    },
}

/// What one step writes: all of it or nothing.
///
/// A store writes the parts in the order of the fields, so that a fault injected at [`label`](WriteSet::label) falls
/// between the records and the events.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WriteSet {
    /// The last id that the step minted; the head row keeps it. Zero if it minted none.
    pub last_id: Ulid,
    /// Records and their index rows.
    pub records: Vec<RecordWrite>,
    /// Blobs to store, keep or drop.
    pub blobs: Vec<BlobWrite>,
    /// Chain entries, in order; each must continue the head that the step saw.
    pub chain: Vec<ChainAppend>,
    /// Bodies of chain entries to erase, each leaving a row that says so.
    pub erasures: Vec<Erasure>,
    /// A point for test builds to fail at, after everything above and before everything below.
    pub label: Option<&'static str>,
    /// Events, in order; the store numbers them.
    pub events: Vec<NewEvent>,
    /// Timers to settle, remove and put, in this order.
    pub timers: Vec<TimerWrite>,
    /// Topics whose waiters the commit wakes.
    pub wakes: Vec<Topic>,
}

impl WriteSet {
    /// Whether a timer of it is due at once.
    #[must_use]
    pub fn leaves_work(&self, now: Timestamp) -> bool {
        self.timers.iter().any(|timer| matches!(timer, TimerWrite::Put { due, .. } if *due <= now))
    }
}
