//! The queries of the read port.

use handoff_engine::store::{
    ChainEntry, ChainName, EventType, HeightRange, IndexScan, Order, Page, Record, RecordKey, Sequence, StoredEvent,
};
use rusqlite::{Connection, params};

use crate::{
    codec,
    error::Failure,
    load::{self, Range},
    readers::in_snapshot,
};

/// Records in the order asked, several of one snapshot.
pub(crate) fn records(
    connection: &Connection,
    tenant: &str,
    keys: &[RecordKey],
) -> Result<Vec<Option<Record>>, Failure> {
    let each = |connection: &Connection| keys.iter().map(|key| load::record(connection, tenant, key)).collect();
    // A statement alone sees one state in any case.
    if keys.len() > 1 && connection.is_autocommit() { in_snapshot(connection, each) } else { each(connection) }
}

/// One page of an index, with one row more than wanted to learn whether there are more.
pub(crate) fn scan(connection: &Connection, scan: &IndexScan) -> Result<Page, Failure> {
    let (mut from, mut below) = codec::prefix_range(&scan.prefix);
    let descending = scan.order == Order::Descending;
    if let Some(after) = &scan.after {
        if descending {
            below = Some(below.map_or_else(|| after.clone(), |below| below.min(after.clone())));
        } else {
            // The lowest key beyond `after` is `after` with a zero byte.
            let mut beyond = after.clone();
            beyond.push(0);
            from = from.max(beyond);
        }
    }
    let limit = scan.limit.max(1);
    let range = Range { from, below, descending, limit: limit.saturating_add(1) };
    let mut rows = load::range(connection, &scan.tenant.to_string(), scan.index.as_str(), &range)?;
    let more = rows.len() > limit;
    rows.truncate(limit);
    Ok(Page { rows, more })
}

/// Entries of a chain by height, with the bodies that were not erased.
pub(crate) fn chain(
    connection: &Connection,
    tenant: &str,
    chain: &ChainName,
    range: HeightRange,
) -> Result<Vec<ChainEntry>, Failure> {
    let Ok(from) = i64::try_from(range.from) else { return Ok(Vec::new()) };
    let mut statement = connection.prepare_cached(
        "SELECT e.height, e.previous, e.digest, b.body, e.attestation FROM chain_entries e
         LEFT JOIN chain_bodies b ON b.tenant = e.tenant AND b.chain = e.chain AND b.height = e.height
         WHERE e.tenant = ?1 AND e.chain = ?2 AND e.height >= ?3 ORDER BY e.height LIMIT ?4",
    )?;
    let mut rows = statement.query(params![tenant, chain.as_str(), from, codec::limit(range.limit)])?;
    let mut entries = Vec::new();
    while let Some(row) = rows.next()? {
        entries.push(ChainEntry {
            height: codec::count(row, 0)?,
            previous: codec::digest(row, 1)?,
            digest: codec::digest(row, 2)?,
            body: row.get(3)?,
            attestation: row.get(4)?,
        });
    }
    Ok(entries)
}

/// Events after a sequence number.
pub(crate) fn events(
    connection: &Connection,
    tenant: &str,
    after: Sequence,
    limit: usize,
) -> Result<Vec<StoredEvent>, Failure> {
    let Ok(after) = i64::try_from(after) else { return Ok(Vec::new()) };
    let mut statement = connection.prepare_cached(
        "SELECT sequence, type, subject, at, data FROM events
         WHERE tenant = ?1 AND sequence > ?2 ORDER BY sequence LIMIT ?3",
    )?;
    let mut rows = statement.query(params![tenant, after, codec::limit(limit)])?;
    let mut events = Vec::new();
    while let Some(row) = rows.next()? {
        events.push(StoredEvent {
            sequence: codec::count(row, 0)?,
            event_type: EventType::new(row.get::<_, String>(1)?),
            subject: row.get(2)?,
            at: codec::time(row, 3)?,
            data: row.get(4)?,
        });
    }
    Ok(events)
}
