//! How a write-set becomes rows: every part checked against what is stored, all of it or nothing.

use std::panic::{AssertUnwindSafe, catch_unwind};

use handoff_engine::store::{
    BlobWrite, ChainAppend, ChainEntry, Erasure, NewEvent, Record, RecordKey, RecordWrite, StoreError, StoredEvent,
    TimerWrite, WriteSet,
};
use handoff_protocol::{digest::Digest, timestamp::Timestamp};

use super::{
    LabelHook, panic_text,
    tenant::{Blob, Tenant, Timer, blob_key},
};

impl Tenant {
    /// Writes the whole set, or leaves everything as it was and says why.
    pub(super) fn write(
        &mut self,
        set: WriteSet,
        now: Timestamp,
        on_label: Option<&LabelHook>,
    ) -> Result<(), StoreError> {
        let head = self.head;
        // A fault that a test plants at the label may panic; that too must leave nothing behind.
        let written = catch_unwind(AssertUnwindSafe(|| self.write_parts(set, now, on_label)))
            .unwrap_or_else(|panic| Err(StoreError::StepPanicked(panic_text(panic.as_ref()))));
        match written {
            Ok(()) => self.commit(),
            #[cfg(feature = "planted-faults")]
            Err(_) if handoff_protocol::planted::Fault::RefusedWriteStays.is_planted() => self.commit(),
            Err(_) => {
                self.roll_back();
                self.head = head;
            }
        }
        written
    }

    fn write_parts(&mut self, set: WriteSet, now: Timestamp, on_label: Option<&LabelHook>) -> Result<(), StoreError> {
        #[cfg(feature = "planted-faults")]
        let set = self.altered(set);
        self.head.last_id = self.head.last_id.max(set.last_id);
        for write in set.records {
            self.write_record(write)?;
        }
        for write in set.blobs {
            self.write_blob(write, now)?;
        }
        for append in set.chain {
            self.append(append)?;
        }
        for erasure in set.erasures {
            self.erase(erasure)?;
        }
        if let (Some(label), Some(hook)) = (set.label, on_label) {
            hook(label);
        }
        for event in set.events {
            self.append_event(event, now);
        }
        for write in set.timers {
            self.write_timer(write)?;
        }
        Ok(())
    }

    fn write_record(&mut self, write: RecordWrite) -> Result<(), StoreError> {
        match write {
            RecordWrite::Put { key, seen, document, unindex, index } => {
                self.expect_version(&key, seen)?;
                for row in unindex {
                    self.index.remove(&(row.index, row.sort_key));
                }
                for row in index {
                    self.index.put((row.index, row.sort_key), key.clone());
                }
                let version = seen.unwrap_or(0).saturating_add(1);
                self.records.put(key.clone(), Record { key, version, document });
            }
            RecordWrite::Delete { key, seen, unindex } => {
                self.expect_version(&key, Some(seen))?;
                for row in unindex {
                    self.index.remove(&(row.index, row.sort_key));
                }
                self.records.remove(&key);
            }
        }
        Ok(())
    }

    fn expect_version(&self, key: &RecordKey, seen: Option<u64>) -> Result<(), StoreError> {
        let stored = self.records.get(key).map(|record| record.version);
        if stored == seen {
            return Ok(());
        }
        Err(StoreError::Conflict(format!("a {} is at version {stored:?}, the step saw {seen:?}", key.kind)))
    }

    fn write_blob(&mut self, write: BlobWrite, now: Timestamp) -> Result<(), StoreError> {
        match write {
            BlobWrite::Store { owner, bytes } => {
                let key = (owner, Digest::of(&bytes));
                self.blobs.put(key, Blob { bytes, put_at: now, kept: true });
            }
            BlobWrite::Keep(blob) => {
                let key = blob_key(&blob);
                let Some(found) = self.blobs.get(&key) else {
                    return Err(StoreError::Conflict("a blob to keep is gone".to_owned()));
                };
                let kept = Blob { kept: true, ..found.clone() };
                self.blobs.put(key, kept);
            }
            BlobWrite::Drop(blob) => {
                self.blobs.remove(&blob_key(&blob));
            }
        }
        Ok(())
    }

    fn append(&mut self, append: ChainAppend) -> Result<(), StoreError> {
        let ChainAppend { chain, height, previous, digest, body, attestation } = append;
        let continues = match self.chain_head(&chain) {
            None => height == 1,
            Some(head) => Some(height) == head.height.checked_add(1) && previous == head.digest,
        };
        #[cfg(feature = "planted-faults")]
        let continues = continues || handoff_protocol::planted::Fault::ChainTakesAnything.is_planted();
        if !continues {
            return Err(StoreError::Conflict(format!("entry {height} does not continue the chain {chain}")));
        }
        self.chains.put((chain, height), ChainEntry { height, previous, digest, body: Some(body), attestation });
        Ok(())
    }

    /// Erasing again what is erased changes nothing: the first reason stays.
    fn erase(&mut self, erasure: Erasure) -> Result<(), StoreError> {
        let Erasure { chain, height, reason } = erasure;
        let place = (chain, height);
        let Some(entry) = self.chains.get(&place) else {
            return Err(StoreError::Conflict(format!("there is no entry {height} to erase")));
        };
        if entry.body.is_some() {
            let erased = ChainEntry { body: None, ..entry.clone() };
            self.chains.put(place.clone(), erased);
            self.erasures.put(place, reason);
        }
        Ok(())
    }

    fn append_event(&mut self, event: NewEvent, at: Timestamp) {
        let NewEvent { event_type, subject, data } = event;
        let sequence = self.head.sequence.saturating_add(1);
        #[cfg(feature = "planted-faults")]
        let sequence = sequence - u64::from(self.reuses(sequence));
        self.events.put(sequence, StoredEvent { sequence, event_type, subject, at, data });
        self.head.sequence = sequence;
    }

    fn write_timer(&mut self, write: TimerWrite) -> Result<(), StoreError> {
        match write {
            TimerWrite::Settle { key, epoch } => {
                let held = self.timers.get(&key).and_then(|timer| timer.claim).map(|claim| claim.epoch);
                let holds = held == Some(epoch);
                #[cfg(feature = "planted-faults")]
                let holds = holds || handoff_protocol::planted::Fault::AnyClaimSettles.is_planted();
                if !holds {
                    return Err(StoreError::StaleTimer { key });
                }
                self.timers.remove(&key);
            }
            TimerWrite::Remove { key } => {
                self.timers.remove(&key);
            }
            TimerWrite::Put { key, due, action } => self.timers.put(key, Timer { due, action, claim: None }),
        }
        Ok(())
    }

    /// Makes the changes since the last commit permanent.
    pub(super) fn commit(&mut self) {
        self.records.commit();
        self.index.commit();
        self.chains.commit();
        self.erasures.commit();
        self.events.commit();
        self.timers.commit();
        self.blobs.commit();
    }

    fn roll_back(&mut self) {
        self.records.roll_back();
        self.index.roll_back();
        self.chains.roll_back();
        self.erasures.roll_back();
        self.events.roll_back();
        self.timers.roll_back();
        self.blobs.roll_back();
    }
}
