//! Index rows, as they are stored and as they are to be.

use std::{collections::HashMap, ops::Bound};

use handoff_engine::store::{IndexName, IndexRead, IndexRow, IndexedRecord, RecordKey};

use super::{Records, Refusal, Tracking};
use crate::tracked::Tracked;

/// How many rows more than asked are read when changes of the batch left too few.
const SPARE: usize = 16;

/// What a batch makes of one row.
#[derive(Clone, Debug, Default)]
pub(crate) struct RowChange {
    /// The record that it pointed to and no longer does.
    pub(crate) removed: Option<RecordKey>,
    /// The record that it points to.
    pub(crate) now: Option<RecordKey>,
}

/// The first rows that are stored under a prefix.
#[derive(Debug)]
struct Stored {
    rows: Vec<IndexedRecord>,
    /// Whether there are no others.
    complete: bool,
}

/// The rows that a batch has read or changed.
#[derive(Debug, Default)]
pub(crate) struct IndexRows {
    stored: HashMap<(IndexName, Vec<u8>), Stored>,
    changes: Tracked<(IndexName, Vec<u8>), RowChange>,
}

impl IndexRows {
    /// Every change, in the order of index and sort key.
    pub(crate) fn changes(&self) -> impl Iterator<Item = (&(IndexName, Vec<u8>), &RowChange)> {
        self.changes.rows().iter()
    }

    pub(super) fn note(&mut self, read: &IndexRead, rows: Vec<IndexedRecord>) {
        let complete = rows.len() < read.limit;
        self.stored.insert((read.index.clone(), read.prefix.clone()), Stored { rows, complete });
    }

    /// The rows that a read comes to, or how many of the stored ones have to be read first.
    pub(super) fn read(&self, read: &IndexRead, records: &Records) -> Result<Vec<IndexedRecord>, usize> {
        let stored = self.stored.get(&(read.index.clone(), read.prefix.clone())).ok_or(read.limit)?;
        let changes = || {
            let from = Bound::Included((read.index.clone(), read.prefix.clone()));
            self.changes
                .rows()
                .range((from, Bound::Unbounded))
                .take_while(|((index, sort_key), _)| *index == read.index && sort_key.starts_with(&read.prefix))
        };
        // A row is left out where the batch changed it; the change says what it points to instead.
        let unchanged = stored.rows.iter().filter(|row| {
            self.changes.rows().is_empty() || self.changes.get(&(read.index.clone(), row.sort_key.clone())).is_none()
        });
        let mut rows: Vec<IndexedRecord> = unchanged
            .filter_map(|row| match records.get(&row.record.key) {
                None => Some(row.clone()),
                Some(record) => Some(IndexedRecord { sort_key: row.sort_key.clone(), record: record?.clone() }),
            })
            .collect();
        // Beyond the last stored row that was read there may be others in between.
        let horizon = if stored.complete { None } else { stored.rows.last().map(|row| row.sort_key.as_slice()) };
        let known = |sort_key: &[u8]| stored.complete || horizon.is_some_and(|horizon| sort_key <= horizon);
        let mut added = false;
        for ((_, sort_key), change) in changes() {
            let record = change.now.as_ref().and_then(|key| records.get(key)).flatten();
            if let Some(record) = record.filter(|_| known(sort_key)) {
                rows.push(IndexedRecord { sort_key: sort_key.clone(), record: record.clone() });
                added = true;
            }
        }
        if added {
            rows.sort_by(|one, other| one.sort_key.cmp(&other.sort_key));
        }
        if rows.len() < read.limit && !stored.complete {
            return Err(stored.rows.len().max(read.limit).saturating_add(changes().count()).saturating_add(SPARE));
        }
        rows.truncate(read.limit);
        Ok(rows)
    }

    pub(super) fn remove(&mut self, key: &RecordKey, rows: Vec<IndexRow>) {
        for row in rows {
            let place = (row.index, row.sort_key);
            let change = self.changes.get(&place).cloned().unwrap_or_default();
            // A row that points to another record is not this record's to remove.
            let now = change.now.filter(|now| now != key);
            self.changes.put(place, RowChange { removed: Some(key.clone()), now });
        }
    }

    pub(super) fn add(&mut self, key: &RecordKey, rows: Vec<IndexRow>) -> Result<(), Refusal> {
        for row in rows {
            let place = (row.index, row.sort_key);
            let change = self.changes.get(&place).cloned().unwrap_or_default();
            if change.now.as_ref().is_some_and(|now| now != key) {
                return Err(Refusal::conflict(format!("a row of the index {} belongs to another record", place.0)));
            }
            self.changes.put(place, RowChange { now: Some(key.clone()), ..change });
        }
        Ok(())
    }

    pub(super) fn each(&mut self, tracking: Tracking) {
        tracking.on(&mut self.changes);
    }
}
