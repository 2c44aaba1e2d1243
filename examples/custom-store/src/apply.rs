//! A write-set as a batch: every part checked against what is stored, and nothing of it visible before all is durable.

use handoff_engine::store::{
    BlobRef, BlobWrite, ChainAppend, Erasure, RecordKey, RecordWrite, Sequence, StoreError, TimerKey, TimerWrite,
    WriteSet,
};
use handoff_protocol::{
    digest::Digest,
    id::{TenantId, Ulid},
    timestamp::Timestamp,
};

use crate::rows::{
    Batch, Blob, Timer, blob_key, chain_head_key, chain_prefix, event_prefix, head_key, index_prefix, ordered,
    record_key, timer_key, to_hex,
};

/// An entry of a chain: previous digest, digest, body, attestation.
pub(crate) type Entry = (Digest, Digest, Option<String>, Option<String>);

impl Batch<'_> {
    /// Adds all of the set; on an error the batch must be thrown away.
    pub(crate) fn write_set(
        &mut self,
        tenant: TenantId,
        set: WriteSet,
        now: Timestamp,
    ) -> Result<Sequence, StoreError> {
        let mut head = self.head(tenant)?;
        for write in set.records {
            self.write_record(tenant, write)?;
        }
        for write in set.blobs {
            self.write_blob(tenant, write, now)?;
        }
        for append in set.chain {
            self.append(tenant, append)?;
        }
        for erasure in set.erasures {
            self.erase(tenant, &erasure)?;
        }
        for event in set.events {
            head.sequence = head.sequence.saturating_add(1);
            let key = format!("{}{}", event_prefix(tenant), ordered(head.sequence));
            self.put(key, (event.event_type.as_str(), event.subject, now, &*event.data));
        }
        for write in set.timers {
            self.write_timer(tenant, write)?;
        }
        let last_id: Ulid = head.last_id.max(set.last_id);
        self.put(head_key(tenant), (head.sequence, last_id.to_string()));
        Ok(head.sequence)
    }

    fn write_record(&mut self, tenant: TenantId, write: RecordWrite) -> Result<(), StoreError> {
        match write {
            RecordWrite::Put { key, seen, document, unindex, index } => {
                self.expect_version(tenant, &key, seen)?;
                for row in unindex {
                    self.remove(index_prefix(tenant, &row.index) + &to_hex(&row.sort_key));
                }
                for row in index {
                    let place = index_prefix(tenant, &row.index) + &to_hex(&row.sort_key);
                    self.put(place, (key.kind.as_str(), &key.id));
                }
                self.put(record_key(tenant, &key), (seen.unwrap_or(0).saturating_add(1), &*document));
            }
            RecordWrite::Delete { key, seen, unindex } => {
                self.expect_version(tenant, &key, Some(seen))?;
                for row in unindex {
                    self.remove(index_prefix(tenant, &row.index) + &to_hex(&row.sort_key));
                }
                self.remove(record_key(tenant, &key));
            }
        }
        Ok(())
    }

    fn expect_version(&self, tenant: TenantId, key: &RecordKey, seen: Option<u64>) -> Result<(), StoreError> {
        let stored = self.get::<(u64, String)>(&record_key(tenant, key))?.map(|(version, _)| version);
        if stored == seen {
            return Ok(());
        }
        Err(StoreError::Conflict(format!("a {} is at version {stored:?}, the step saw {seen:?}", key.kind)))
    }

    fn write_blob(&mut self, tenant: TenantId, write: BlobWrite, now: Timestamp) -> Result<(), StoreError> {
        match write {
            BlobWrite::Store { owner, bytes } => {
                let blob = BlobRef { owner, digest: Digest::of(&bytes) };
                self.put_blob(tenant, &blob, &Blob::new(&bytes, now, true));
            }
            BlobWrite::Keep(blob) => {
                let found = self.blob(tenant, &blob)?;
                let mut found = found.ok_or_else(|| StoreError::Conflict("a blob to keep is gone".to_owned()))?;
                found.kept = true;
                self.put_blob(tenant, &blob, &found);
            }
            BlobWrite::Drop(blob) => self.remove(blob_key(tenant, &blob)),
        }
        Ok(())
    }

    pub(crate) fn blob(&self, tenant: TenantId, blob: &BlobRef) -> Result<Option<Blob>, StoreError> {
        self.get(&blob_key(tenant, blob))
    }

    pub(crate) fn put_blob(&mut self, tenant: TenantId, blob: &BlobRef, row: &Blob) {
        self.put(blob_key(tenant, blob), row);
    }

    fn append(&mut self, tenant: TenantId, append: ChainAppend) -> Result<(), StoreError> {
        let ChainAppend { chain, height, previous, digest, body, attestation } = append;
        let head_key = chain_head_key(tenant, &chain);
        let continues = match self.get::<(u64, Digest)>(&head_key)? {
            None => height == 1,
            Some((below, head)) => Some(height) == below.checked_add(1) && previous == head,
        };
        if !continues {
            return Err(StoreError::Conflict(format!("entry {height} does not continue the chain {chain}")));
        }
        let place = format!("{}{}", chain_prefix(tenant, &chain), ordered(height));
        self.put(place, (previous, digest, Some(&*body), attestation.as_deref()));
        self.put(head_key, (height, digest));
        Ok(())
    }

    /// The old body still stands in older lines of the log: see the README on what that means.
    fn erase(&mut self, tenant: TenantId, erasure: &Erasure) -> Result<(), StoreError> {
        let Erasure { chain, height, reason } = erasure;
        let place = format!("{}{}", chain_prefix(tenant, chain), ordered(*height));
        let Some((previous, digest, body, attestation)) = self.get::<Entry>(&place)? else {
            return Err(StoreError::Conflict(format!("there is no entry {height} to erase")));
        };
        if body.is_some() {
            self.put(place, (previous, digest, None::<String>, attestation));
            self.put(format!("erasure\0{tenant}\0{chain}\0{}", ordered(*height)), reason);
        }
        Ok(())
    }

    fn write_timer(&mut self, tenant: TenantId, write: TimerWrite) -> Result<(), StoreError> {
        match write {
            TimerWrite::Settle { key, epoch } => {
                let timer = self.get::<Timer>(&timer_key(tenant, &key))?;
                if timer.and_then(|timer| timer.claim).map(|(held, _)| held) != Some(epoch) {
                    return Err(StoreError::StaleTimer { key });
                }
                self.remove(timer_key(tenant, &key));
            }
            TimerWrite::Remove { key } => self.remove(timer_key(tenant, &key)),
            TimerWrite::Put { key, due, action } => {
                self.put_timer(tenant, &key, &Timer { due, action: action.to_string(), claim: None });
            }
        }
        Ok(())
    }

    pub(crate) fn put_timer(&mut self, tenant: TenantId, key: &TimerKey, timer: &Timer) {
        self.put(timer_key(tenant, key), timer);
    }
}
