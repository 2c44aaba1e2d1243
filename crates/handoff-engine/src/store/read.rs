//! What a step asks for and what it is given.

use std::collections::HashMap;

use handoff_protocol::{
    id::{TenantId, Ulid},
    timestamp::Timestamp,
};

use super::{ChainHead, ChainName, IndexName, IndexedRecord, Record, RecordKey, Sequence};

/// What a transaction wants loaded under the tenant's lock.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Reads {
    /// Records by key.
    pub records: Vec<RecordKey>,
    /// The first rows of an index under a prefix, with their records.
    pub indexes: Vec<IndexRead>,
    /// Heads of chains.
    pub chains: Vec<ChainName>,
}

impl Reads {
    /// Nothing to load.
    #[must_use]
    pub fn none() -> Self {
        Self::default()
    }

    /// Adds a record.
    #[must_use]
    pub fn record(mut self, key: RecordKey) -> Self {
        self.records.push(key);
        self
    }

    /// Adds the rows of an index under a prefix.
    #[must_use]
    pub fn index(mut self, read: IndexRead) -> Self {
        self.indexes.push(read);
        self
    }

    /// Adds the head of a chain.
    #[must_use]
    pub fn chain(mut self, chain: ChainName) -> Self {
        self.chains.push(chain);
        self
    }

    /// Whether nothing is asked for.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.records.is_empty() && self.indexes.is_empty() && self.chains.is_empty()
    }
}

/// The rows of one index that begin with a prefix, lowest sort key first, at most `limit` of them.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct IndexRead {
    /// The index.
    pub index: IndexName,
    /// What the sort keys begin with.
    pub prefix: Vec<u8>,
    /// How many rows at the most.
    pub limit: usize,
}

/// What a store loaded for a step.
///
/// The queries answer `None` for what was not asked for, so that a step can tell "absent" from "not loaded".
#[derive(Clone, Debug)]
pub struct Loaded {
    /// The tenant that is locked.
    pub tenant: TenantId,
    /// The tenant's head row.
    pub head: TenantHead,
    records: HashMap<RecordKey, Option<Record>>,
    indexes: HashMap<IndexRead, Vec<IndexedRecord>>,
    chains: HashMap<ChainName, Option<ChainHead>>,
}

impl Loaded {
    /// Nothing loaded yet but the head row.
    #[must_use]
    pub fn new(tenant: TenantId, head: TenantHead) -> Self {
        Self { tenant, head, records: HashMap::new(), indexes: HashMap::new(), chains: HashMap::new() }
    }

    /// Notes what was found under a key.
    pub fn put_record(&mut self, key: RecordKey, record: Option<Record>) {
        self.records.insert(key, record);
    }

    /// Notes the rows found for an index read.
    pub fn put_index(&mut self, read: IndexRead, rows: Vec<IndexedRecord>) {
        self.indexes.insert(read, rows);
    }

    /// Notes the head of a chain.
    pub fn put_chain(&mut self, chain: ChainName, head: Option<ChainHead>) {
        self.chains.insert(chain, head);
    }

    /// The record under a key: `None` if it was not asked for, `Some(None)` if there is none.
    #[must_use]
    pub fn record(&self, key: &RecordKey) -> Option<Option<&Record>> {
        self.records.get(key).map(Option::as_ref)
    }

    /// The rows of an index read: `None` if it was not asked for.
    #[must_use]
    pub fn index(&self, read: &IndexRead) -> Option<&[IndexedRecord]> {
        self.indexes.get(read).map(Vec::as_slice)
    }

    /// The head of a chain: `None` if it was not asked for, `Some(None)` if the chain was never written.
    #[must_use]
    pub fn chain(&self, chain: &ChainName) -> Option<Option<&ChainHead>> {
        self.chains.get(chain).map(Option::as_ref)
    }
}

/// The head row of a tenant: what every write reads and moves on.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct TenantHead {
    /// The last event's sequence; 0 before the first.
    pub sequence: Sequence,
    /// The last id minted in this tenant, so that no later one is below it.
    pub last_id: Ulid,
}

/// The moment at which a step runs: the store's time, and entropy drawn for this run alone.
#[derive(Clone, Debug)]
pub struct Moment {
    /// The store's clock, read once for this run.
    pub now: Timestamp,
    /// Fresh bytes of a cryptographic generator.
    pub seed: [u8; 32],
}
