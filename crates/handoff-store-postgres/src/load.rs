//! What a batch reads under the tenant's lock, the head among it.

use handoff_engine::store::{ChainHead, IndexedRecord, Reads, Record, RecordKey, StoreError, TenantHead};
use handoff_protocol::{id::TenantId, timestamp::Timestamp};
use sqlx::postgres::PgRow;

use crate::{codec, link::Question, overlay::Overlay};

/// How the rows of an answer are told apart.
const HEAD: i32 = 0;
const NOW: i32 = 1;
const RECORD: i32 = 2;
const INDEX: i32 = 3;
const CHAIN: i32 = 4;

/// The question for all that `reads` names; with `lock` the head is locked first.
pub(crate) fn question<'q>(tenant: &TenantId, lock: bool, reads: &Reads) -> Question<'q> {
    let kinds: Vec<_> = reads.records.iter().map(|key| codec::text(key.kind.as_str()).into_owned()).collect();
    let ids: Vec<_> = reads.records.iter().map(|key| codec::text(&key.id).into_owned()).collect();
    let indexes: Vec<_> = reads.indexes.iter().map(|read| codec::text(read.index.as_str()).into_owned()).collect();
    let ranges = reads.indexes.iter().map(|read| codec::prefix_range(&read.prefix));
    let (from, below): (Vec<_>, Vec<_>) = ranges.unzip();
    let limits: Vec<_> = reads.indexes.iter().map(|read| codec::limit(read.limit)).collect();
    let chains: Vec<_> = reads.chains.iter().map(|chain| codec::text(chain.as_str()).into_owned()).collect();
    sqlx::query(
        "SELECT what, place, sort_key, kind, id, number, content FROM handoff_load($1, $2, $3, $4, $5, $6, $7, $8, $9)",
    )
    .bind(tenant.to_string())
    .bind(lock)
    .bind(kinds)
    .bind(ids)
    .bind(indexes)
    .bind(from)
    .bind(below)
    .bind(limits)
    .bind(chains)
}

/// The head of the tenant and the database's time, from the answer to a question that locked.
pub(crate) fn head(rows: &[PgRow]) -> Result<(TenantHead, Timestamp), StoreError> {
    let (mut head, mut now) = (None, None);
    for row in rows {
        match codec::column::<i32>(row, "what")? {
            HEAD => {
                let last_id = codec::ulid(codec::column(row, "content")?)?;
                head = Some(TenantHead { sequence: codec::count(row, "number")?, last_id });
            }
            NOW => now = Some(codec::time(row, "number")?),
            _ => {}
        }
    }
    head.zip(now).ok_or_else(|| StoreError::Corrupt("the head of the tenant is missing".to_owned()))
}

/// Notes everything else, also what was asked for and is not there.
pub(crate) fn note(overlay: &mut Overlay, reads: &Reads, rows: &[PgRow]) -> Result<(), StoreError> {
    let mut records: Vec<Option<Record>> = vec![None; reads.records.len()];
    let mut indexes: Vec<Vec<IndexedRecord>> = vec![Vec::new(); reads.indexes.len()];
    let mut chains: Vec<Option<ChainHead>> = vec![None; reads.chains.len()];
    for row in rows {
        let place = usize::try_from(codec::column::<i32>(row, "place")?).unwrap_or_default().wrapping_sub(1);
        match codec::column::<i32>(row, "what")? {
            RECORD => {
                let (Some(slot), Some(key)) = (records.get_mut(place), reads.records.get(place)) else { continue };
                *slot = Some(record(row, key)?);
            }
            INDEX => {
                let Some(found) = indexes.get_mut(place) else { continue };
                found.push(codec::indexed_record(row, "number", "content")?);
            }
            CHAIN => {
                let Some(slot) = chains.get_mut(place) else { continue };
                *slot =
                    Some(ChainHead { height: codec::count(row, "number")?, digest: codec::digest(row, "content")? });
            }
            _ => {}
        }
    }
    for (key, record) in reads.records.iter().zip(records) {
        overlay.note_record(key.clone(), record)?;
    }
    for (read, rows) in reads.indexes.iter().zip(indexes) {
        overlay.note_index(read, rows);
    }
    for (chain, head) in reads.chains.iter().zip(chains) {
        overlay.note_chain(chain.clone(), head);
    }
    Ok(())
}

fn record(row: &PgRow, key: &RecordKey) -> Result<Record, StoreError> {
    Ok(Record { key: key.clone(), version: codec::count(row, "number")?, document: codec::shared(row, "content")? })
}
