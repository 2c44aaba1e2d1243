//! How a write-set becomes rows, in the order of its fields, each part checked against what is stored.

use handoff_engine::store::{
    ChainAppend, ChainHead, Erasure, IndexRow, Loaded, NewEvent, RecordKey, RecordWrite, Sequence, WriteSet,
};
use handoff_protocol::timestamp::Timestamp;
use rusqlite::{Connection, params};

use crate::{blobs, codec, error::Failure, load, options::LabelHook, timers};

/// Where a write-set is written: an open transaction that holds the tenant's lock.
pub(crate) struct Target<'a> {
    pub(crate) connection: &'a Connection,
    pub(crate) tenant: &'a str,
    /// What the step saw, the tenant's head among it: nobody else wrote since.
    pub(crate) loaded: &'a Loaded,
    pub(crate) now: Timestamp,
    pub(crate) on_label: Option<&'a LabelHook>,
}

impl Target<'_> {
    /// Writes the whole set and answers the tenant's last sequence. After a failure the caller takes back all of it.
    pub(crate) fn write(&self, set: &WriteSet) -> Result<Sequence, Failure> {
        for write in &set.records {
            self.record(write)?;
        }
        for write in &set.blobs {
            blobs::write(self.connection, self.tenant, write, self.now)?;
        }
        for (place, append) in set.chain.iter().enumerate() {
            // Only the first can continue what the step saw.
            let seen = self.loaded.chain(&append.chain).filter(|_| place == 0);
            let head = match seen {
                Some(head) => head.copied(),
                None => load::chain_head(self.connection, self.tenant, &append.chain)?,
            };
            self.append(append, head)?;
        }
        for erasure in &set.erasures {
            self.erase(erasure)?;
        }
        if let (Some(label), Some(hook)) = (set.label, self.on_label) {
            #[cfg(feature = "planted-faults")]
            crate::planted::commit_early(self.connection)?;
            hook(label);
        }
        let sequence = self.events(&set.events)?;
        for write in &set.timers {
            timers::write(self.connection, self.tenant, write)?;
        }
        self.move_head(sequence, set)?;
        Ok(sequence)
    }

    fn record(&self, write: &RecordWrite) -> Result<(), Failure> {
        match write {
            RecordWrite::Put { key, seen: None, document, unindex, index } => {
                let inserted = self
                    .connection
                    .prepare_cached(
                        "INSERT INTO records (tenant, kind, id, version, document) VALUES (?1, ?2, ?3, 1, ?4)
                         ON CONFLICT DO NOTHING",
                    )?
                    .execute(params![self.tenant, key.kind.as_str(), key.id, document])?;
                expect_one(inserted, key, "exists already")?;
                self.unindex(key, unindex)?;
                self.index(key, index)
            }
            RecordWrite::Put { key, seen: Some(seen), document, unindex, index } => {
                let updated = self
                    .connection
                    .prepare_cached(
                        "UPDATE records SET version = version + 1, document = ?5
                         WHERE tenant = ?1 AND kind = ?2 AND id = ?3 AND version = ?4",
                    )?
                    .execute(params![self.tenant, key.kind.as_str(), key.id, codec::integer(*seen)?, document])?;
                expect_one(updated, key, "is not at the version that was seen")?;
                self.unindex(key, unindex)?;
                self.index(key, index)
            }
            RecordWrite::Delete { key, seen, unindex } => {
                let deleted = self
                    .connection
                    .prepare_cached("DELETE FROM records WHERE tenant = ?1 AND kind = ?2 AND id = ?3 AND version = ?4")?
                    .execute(params![self.tenant, key.kind.as_str(), key.id, codec::integer(*seen)?])?;
                expect_one(deleted, key, "is not at the version that was seen")?;
                self.unindex(key, unindex)
            }
        }
    }

    fn unindex(&self, key: &RecordKey, rows: &[IndexRow]) -> Result<(), Failure> {
        for row in rows {
            self.connection
                .prepare_cached(
                    "DELETE FROM record_index
                     WHERE tenant = ?1 AND idx = ?2 AND sort_key = ?3 AND kind = ?4 AND id = ?5",
                )?
                .execute(params![self.tenant, row.index.as_str(), row.sort_key, key.kind.as_str(), key.id])?;
        }
        Ok(())
    }

    /// A row that already points to this record is left alone; one that points to another is a conflict.
    fn index(&self, key: &RecordKey, rows: &[IndexRow]) -> Result<(), Failure> {
        for row in rows {
            let written = self
                .connection
                .prepare_cached(
                    "INSERT INTO record_index (tenant, idx, sort_key, kind, id) VALUES (?1, ?2, ?3, ?4, ?5)
                     ON CONFLICT DO UPDATE SET id = excluded.id WHERE kind = excluded.kind AND id = excluded.id",
                )?
                .execute(params![self.tenant, row.index.as_str(), row.sort_key, key.kind.as_str(), key.id])?;
            if written == 0 {
                return Err(Failure::conflict(format!("a row of the index {} belongs to another record", row.index)));
            }
        }
        Ok(())
    }

    fn append(&self, append: &ChainAppend, head: Option<ChainHead>) -> Result<(), Failure> {
        let continues = match head {
            None => append.height == 1,
            Some(head) => Some(append.height) == head.height.checked_add(1) && append.previous == head.digest,
        };
        #[cfg(feature = "planted-faults")]
        let continues = continues || handoff_protocol::planted::Fault::ChainForks.is_planted();
        if !continues {
            return Err(Failure::conflict(format!(
                "entry {} does not continue the chain {}",
                append.height, append.chain
            )));
        }
        let height = codec::integer(append.height)?;
        self.connection
            .prepare_cached(
                "INSERT INTO chain_entries (tenant, chain, height, previous, digest, attestation, at)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
            )?
            .execute(params![
                self.tenant,
                append.chain.as_str(),
                height,
                append.previous.to_string(),
                append.digest.to_string(),
                append.attestation,
                self.now.unix_millis(),
            ])?;
        self.connection
            .prepare_cached("INSERT INTO chain_bodies (tenant, chain, height, body) VALUES (?1, ?2, ?3, ?4)")?
            .execute(params![self.tenant, append.chain.as_str(), height, append.body])?;
        Ok(())
    }

    /// Erasing again what is erased changes nothing: the first reason stays.
    fn erase(&self, erasure: &Erasure) -> Result<(), Failure> {
        let height = codec::integer(erasure.height)?;
        let place = params![self.tenant, erasure.chain.as_str(), height];
        let erased = "SELECT 1 FROM erasures WHERE tenant = ?1 AND chain = ?2 AND height = ?3";
        if load::exists(self.connection, erased, place)? {
            return Ok(());
        }
        let body = "SELECT 1 FROM chain_bodies WHERE tenant = ?1 AND chain = ?2 AND height = ?3";
        if !load::exists(self.connection, body, place)? {
            return Err(Failure::conflict(format!("there is no entry {} to erase", erasure.height)));
        }
        // The reason comes first: the database deletes no body without it.
        self.connection
            .prepare_cached("INSERT INTO erasures (tenant, chain, height, reason, at) VALUES (?1, ?2, ?3, ?4, ?5)")?
            .execute(params![self.tenant, erasure.chain.as_str(), height, erasure.reason, self.now.unix_millis(),])?;
        self.connection
            .prepare_cached("DELETE FROM chain_bodies WHERE tenant = ?1 AND chain = ?2 AND height = ?3")?
            .execute(place)?;
        Ok(())
    }

    fn events(&self, events: &[NewEvent]) -> Result<Sequence, Failure> {
        let mut sequence = self.loaded.head.sequence;
        for event in events {
            #[cfg(feature = "planted-faults")]
            if event.event_type.as_str() == "request.answered"
                && handoff_protocol::planted::Fault::AnswerWithoutEvent.is_planted()
            {
                continue;
            }
            sequence = sequence.saturating_add(1);
            self.connection
                .prepare_cached(
                    "INSERT INTO events (tenant, sequence, type, subject, at, data) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
                )?
                .execute(params![
                    self.tenant,
                    codec::integer(sequence)?,
                    event.event_type.as_str(),
                    event.subject,
                    self.now.unix_millis(),
                    event.data,
                ])?;
        }
        Ok(sequence)
    }

    /// Moves the head row on. The last id never falls, whatever the step says.
    fn move_head(&self, sequence: Sequence, set: &WriteSet) -> Result<(), Failure> {
        let last_id = self.loaded.head.last_id.max(set.last_id);
        if sequence == self.loaded.head.sequence && last_id == self.loaded.head.last_id {
            return Ok(());
        }
        self.connection
            .prepare_cached(
                "INSERT INTO tenants (tenant, sequence, last_id) VALUES (?1, ?2, ?3)
                 ON CONFLICT DO UPDATE SET sequence = excluded.sequence, last_id = excluded.last_id",
            )?
            .execute(params![self.tenant, codec::integer(sequence)?, last_id.to_string()])?;
        Ok(())
    }
}

fn expect_one(rows: usize, key: &RecordKey, otherwise: &str) -> Result<(), Failure> {
    if rows == 1 { Ok(()) } else { Err(Failure::conflict(format!("a record of kind {} {otherwise}", key.kind))) }
}
