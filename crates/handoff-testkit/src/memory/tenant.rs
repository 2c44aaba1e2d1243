//! What is kept for one tenant, and how it is read.

use std::ops::Bound::{Excluded, Included, Unbounded};

use handoff_engine::store::{
    BlobRef, ChainEntry, ChainHead, ChainName, HeightRange, IndexName, IndexRead, IndexedRecord, Loaded, Order, Page,
    Reads, Record, RecordKey, Sequence, StoreError, StoredEvent, TenantHead, TimerKey,
};
use handoff_protocol::{digest::Digest, timestamp::Timestamp};

use super::table::Table;

/// Everything of one tenant.
#[derive(Debug, Default)]
pub(super) struct Tenant {
    pub(super) head: TenantHead,
    pub(super) records: Table<RecordKey, Record>,
    pub(super) index: Table<(IndexName, Vec<u8>), RecordKey>,
    pub(super) chains: Table<(ChainName, u64), ChainEntry>,
    /// Why each erased body is gone.
    pub(super) erasures: Table<(ChainName, u64), String>,
    pub(super) events: Table<Sequence, StoredEvent>,
    pub(super) timers: Table<TimerKey, Timer>,
    pub(super) blobs: Table<BlobKey, Blob>,
    /// What each record was before its last change.
    #[cfg(feature = "planted-faults")]
    pub(super) previous: std::collections::BTreeMap<RecordKey, Record>,
}

/// A timer; `claim` is who holds it, or held it until the lease lapsed.
#[derive(Clone, Debug)]
pub(super) struct Timer {
    pub(super) due: Timestamp,
    pub(super) action: std::sync::Arc<str>,
    pub(super) claim: Option<Claim>,
}

/// A claim on a timer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Claim {
    pub(super) epoch: u64,
    pub(super) until: Timestamp,
}

impl Timer {
    /// From when on the timer can be claimed.
    pub(super) fn claimable_from(&self) -> Timestamp {
        #[cfg(feature = "planted-faults")]
        if let Some(from) = self.claimable_otherwise() {
            return from;
        }
        self.claim.map_or(self.due, |claim| claim.until)
    }
}

/// Owner and digest.
pub(super) type BlobKey = (String, Digest);

/// The key that a reference names.
pub(super) fn blob_key(blob: &BlobRef) -> BlobKey {
    (blob.owner.clone(), blob.digest)
}

/// Content, and whether a transaction kept it.
#[derive(Clone, Debug)]
pub(super) struct Blob {
    pub(super) bytes: bytes::Bytes,
    pub(super) put_at: Timestamp,
    pub(super) kept: bool,
}

impl Tenant {
    /// Adds what `reads` names to what a step is given.
    pub(super) fn load(&self, reads: &Reads, loaded: &mut Loaded) -> Result<(), StoreError> {
        for key in &reads.records {
            let record = self.records.get(key).cloned();
            #[cfg(feature = "planted-faults")]
            let record = self.as_it_was(key, record);
            loaded.put_record(key.clone(), record);
        }
        for read in &reads.indexes {
            let IndexRead { index, prefix, limit } = read;
            let page = self.page(index, prefix, None, Order::Ascending, *limit)?;
            loaded.put_index(read.clone(), page.rows);
        }
        for chain in &reads.chains {
            let head = self.chain_head(chain);
            #[cfg(feature = "planted-faults")]
            let head = if self.takes_anything() { self.head_before(chain).or(head) } else { head };
            loaded.put_chain(chain.clone(), head);
        }
        Ok(())
    }

    /// The rows of an index that begin with `prefix` and lie beyond `after`, at most `limit`.
    pub(super) fn page(
        &self,
        index: &IndexName,
        prefix: &[u8],
        after: Option<&[u8]>,
        order: Order,
        limit: usize,
    ) -> Result<Page, StoreError> {
        let start = match after {
            Some(after) if order == Order::Ascending && after >= prefix => Excluded((index.clone(), after.to_vec())),
            _ => Included((index.clone(), prefix.to_vec())),
        };
        let rows = self
            .index
            .range((start, Unbounded))
            .take_while(|((row_index, sort_key), _)| row_index == index && sort_key.starts_with(prefix))
            .map(|((_, sort_key), key)| (sort_key, key));
        match order {
            Order::Ascending => self.fill(rows, limit),
            Order::Descending => {
                // `take_while` cannot be walked backward.
                let before: Vec<_> =
                    rows.take_while(|(key, _)| after.is_none_or(|after| key.as_slice() < after)).collect();
                self.fill(before.into_iter().rev(), limit)
            }
        }
    }

    fn fill<'a>(
        &self,
        mut rows: impl Iterator<Item = (&'a Vec<u8>, &'a RecordKey)>,
        limit: usize,
    ) -> Result<Page, StoreError> {
        let mut page = Page::default();
        for (sort_key, key) in rows.by_ref().take(limit) {
            let Some(record) = self.records.get(key) else {
                return Err(StoreError::Corrupt("an index row points to a record that is not there".to_owned()));
            };
            page.rows.push(IndexedRecord { sort_key: sort_key.clone(), record: record.clone() });
        }
        page.more = rows.next().is_some();
        Ok(page)
    }

    /// The entries of a chain from a height upward.
    pub(super) fn chain_entries(&self, chain: &ChainName, range: HeightRange) -> Vec<ChainEntry> {
        self.chains
            .range((chain.clone(), range.from)..=(chain.clone(), u64::MAX))
            .take(range.limit)
            .map(|(_, entry)| entry.clone())
            .collect()
    }

    /// The last entry of a chain.
    pub(super) fn chain_head(&self, chain: &ChainName) -> Option<ChainHead> {
        let (_, last) = self.chains.range((chain.clone(), 0)..=(chain.clone(), u64::MAX)).next_back()?;
        Some(ChainHead { height: last.height, digest: last.digest })
    }

    /// The events after a sequence number.
    pub(super) fn events_after(&self, after: Sequence, limit: usize) -> Vec<StoredEvent> {
        self.events.range(after.saturating_add(1)..).take(limit).map(|(_, event)| event.clone()).collect()
    }
}
