//! What is read of the rows: records, pages, chains, events, timers, blobs.

use bytes::Bytes;
use handoff_engine::store::{
    BlobRef, ChainEntry, ChainHead, ChainName, EventType, HeightRange, IndexScan, IndexedRecord, Loaded, Order, Page,
    Reads, Record, RecordKey, RecordKind, Sequence, StoreError, StoredEvent, TimerKey,
};
use handoff_protocol::{digest::Digest, id::TenantId, timestamp::Timestamp};

use crate::{
    apply::Entry,
    rows::{
        BLOBS, Blob, Rows, TIMERS, Timer, blob_key, chain_head_key, chain_prefix, corrupt, event_prefix, from_hex,
        index_prefix, ordered, read, record_key, to_hex,
    },
};

impl Rows {
    /// Adds what `reads` names to what a step is given.
    pub(crate) fn load(&self, reads: &Reads, loaded: &mut Loaded) -> Result<(), StoreError> {
        let tenant = loaded.tenant;
        for key in &reads.records {
            loaded.put_record(key.clone(), self.record(tenant, key)?);
        }
        for wanted in &reads.indexes {
            let (index, prefix) = (wanted.index.clone(), wanted.prefix.clone());
            let scan = IndexScan { tenant, index, prefix, after: None, order: Order::Ascending, limit: wanted.limit };
            loaded.put_index(wanted.clone(), self.page(&scan)?.rows);
        }
        for chain in &reads.chains {
            loaded.put_chain(chain.clone(), self.chain_head(tenant, chain)?);
        }
        Ok(())
    }

    pub(crate) fn record(&self, tenant: TenantId, key: &RecordKey) -> Result<Option<Record>, StoreError> {
        let found = self.get::<(u64, String)>(&record_key(tenant, key))?;
        Ok(found.map(|(version, document)| Record { key: key.clone(), version, document: document.into() }))
    }

    pub(crate) fn page(&self, scan: &IndexScan) -> Result<Page, StoreError> {
        let index = index_prefix(scan.tenant, &scan.index);
        let prefix = index.clone() + &to_hex(&scan.prefix);
        let after = scan.after.as_ref().map(|after| index.clone() + &to_hex(after));
        let mut rows: Vec<_> = self
            .from(prefix.clone())
            .take_while(|(key, _)| key.starts_with(&prefix))
            .filter(|(key, _)| {
                after.as_ref().is_none_or(|after| match scan.order {
                    Order::Ascending => *key > after,
                    Order::Descending => *key < after,
                })
            })
            .collect();
        if scan.order == Order::Descending {
            rows.reverse();
        }
        let mut page = Page { rows: Vec::new(), more: rows.len() > scan.limit };
        for (place, value) in rows.into_iter().take(scan.limit) {
            let (kind, id) = read::<(String, String)>(value)?;
            let record = self.record(scan.tenant, &RecordKey { kind: RecordKind::new(kind), id })?;
            let record = record.ok_or_else(|| corrupt("an index row points to a record that is not there"))?;
            page.rows.push(IndexedRecord { sort_key: from_hex(place.strip_prefix(&index).unwrap_or(""))?, record });
        }
        Ok(page)
    }

    pub(crate) fn chain_entries(
        &self,
        tenant: TenantId,
        chain: &ChainName,
        range: HeightRange,
    ) -> Result<Vec<ChainEntry>, StoreError> {
        let prefix = chain_prefix(tenant, chain);
        self.from(format!("{prefix}{}", ordered(range.from)))
            .map_while(|(key, value)| Some((key.strip_prefix(&prefix)?, value)))
            .take(range.limit)
            .map(|(height, value)| {
                let (previous, digest, body, attestation) = read::<Entry>(value)?;
                let (body, attestation) = (body.map(Into::into), attestation.map(Into::into));
                Ok(ChainEntry { height: height.parse().map_err(corrupt)?, previous, digest, body, attestation })
            })
            .collect()
    }

    pub(crate) fn chain_head(&self, tenant: TenantId, chain: &ChainName) -> Result<Option<ChainHead>, StoreError> {
        let head = self.get::<(u64, Digest)>(&chain_head_key(tenant, chain))?;
        Ok(head.map(|(height, digest)| ChainHead { height, digest }))
    }

    pub(crate) fn events(
        &self,
        tenant: TenantId,
        after: Sequence,
        limit: usize,
    ) -> Result<Vec<StoredEvent>, StoreError> {
        let prefix = event_prefix(tenant);
        self.from(format!("{prefix}{}", ordered(after.saturating_add(1))))
            .map_while(|(key, value)| Some((key.strip_prefix(&prefix)?, value)))
            .take(limit)
            .map(|(sequence, value)| {
                let (event_type, subject, at, data) = read::<(String, String, Timestamp, String)>(value)?;
                let (sequence, event_type) = (sequence.parse().map_err(corrupt)?, EventType::new(event_type));
                Ok(StoredEvent { sequence, event_type, subject, at, data: data.into() })
            })
            .collect()
    }

    /// All timers of all tenants.
    pub(crate) fn timers(&self) -> Result<Vec<(TenantId, TimerKey, Timer)>, StoreError> {
        self.under(TIMERS)
            .map(|(key, value)| {
                let (tenant, key) = key.split_once('\0').ok_or_else(|| corrupt("a timer's key has no tenant"))?;
                Ok((TenantId::parse(tenant).map_err(corrupt)?, TimerKey::new(key), read(value)?))
            })
            .collect()
    }

    pub(crate) fn blob_bytes(&self, tenant: TenantId, blob: &BlobRef) -> Result<Option<Bytes>, StoreError> {
        self.get::<Blob>(&blob_key(tenant, blob))?.map(|blob| blob.bytes()).transpose()
    }

    /// The keys of blobs that were put before a time and never kept.
    pub(crate) fn unkept_blobs(&self, before: Timestamp) -> Result<Vec<String>, StoreError> {
        let mut keys = Vec::new();
        for (key, value) in self.under(BLOBS) {
            let blob: Blob = read(value)?;
            if !blob.kept && blob.put_at < before {
                keys.push(format!("{BLOBS}{key}"));
            }
        }
        Ok(keys)
    }
}
