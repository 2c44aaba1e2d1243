//! The queries of the read port.

use handoff_engine::store::{
    ChainEntry, ChainHead, ChainName, EventType, HeightRange, IndexScan, Order, Page, Record, RecordKey, Sequence,
    StoreError, StoredEvent,
};
use handoff_protocol::id::TenantId;
use sqlx::postgres::PgRow;

use crate::{codec, link::Link};

/// What stands under one key, as far as it can be read.
pub(crate) type Found = Result<Option<Record>, StoreError>;

/// Records in the order asked, of one snapshot.
pub(crate) async fn records(link: &Link, tenant: &TenantId, keys: &[&RecordKey]) -> Result<Vec<Found>, StoreError> {
    let question = || {
        let kinds: Vec<_> = keys.iter().map(|key| codec::text(key.kind.as_str())).collect();
        let ids: Vec<_> = keys.iter().map(|key| codec::text(&key.id)).collect();
        sqlx::query("SELECT place, version, document FROM handoff_records($1, $2, $3)")
            .bind(tenant.to_string())
            .bind(kinds)
            .bind(ids)
    };
    let rows = link.ask(question).await?;
    let mut found: Vec<Found> = keys.iter().map(|_| Ok(None)).collect();
    for row in &rows {
        let place = usize::try_from(codec::column::<i32>(row, "place")?).unwrap_or_default().wrapping_sub(1);
        if let (Some(slot), Some(key)) = (found.get_mut(place), keys.get(place)) {
            *slot = record(row, key).map(Some);
        }
    }
    Ok(found)
}

fn record(row: &PgRow, key: &RecordKey) -> Result<Record, StoreError> {
    let (version, document) = (codec::count(row, "version")?, codec::shared(row, "document")?);
    Ok(Record { key: key.clone(), version, document })
}

/// One page of an index, with one row more than wanted to learn whether there are more.
pub(crate) async fn scan(link: &Link, scan: &IndexScan) -> Result<Page, StoreError> {
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
    let question = || {
        sqlx::query("SELECT sort_key, kind, id, version, document FROM handoff_scan($1, $2, $3, $4, $5, $6)")
            .bind(scan.tenant.to_string())
            .bind(codec::text(scan.index.as_str()).into_owned())
            .bind(&from)
            .bind(&below)
            .bind(descending)
            .bind(codec::limit(limit.saturating_add(1)))
    };
    let rows = link.ask(question).await?;
    let mut rows =
        rows.iter().map(|row| codec::indexed_record(row, "version", "document")).collect::<Result<Vec<_>, _>>()?;
    let more = rows.len() > limit;
    rows.truncate(limit);
    Ok(Page { rows, more })
}

/// Entries of a chain by height, with the bodies that were not erased.
pub(crate) async fn chain(
    link: &Link,
    tenant: &TenantId,
    chain: &ChainName,
    range: HeightRange,
) -> Result<Vec<ChainEntry>, StoreError> {
    let Ok(from) = i64::try_from(range.from) else { return Ok(Vec::new()) };
    let question = || {
        sqlx::query("SELECT height, previous, digest, body, attestation FROM handoff_chain($1, $2, $3, $4)")
            .bind(tenant.to_string())
            .bind(codec::text(chain.as_str()).into_owned())
            .bind(from)
            .bind(codec::limit(range.limit))
    };
    let rows = link.ask(question).await?;
    let optional = |held: Option<String>| held.map(codec::from_text).map(Into::into);
    let entry = |row| {
        Ok(ChainEntry {
            height: codec::count(row, "height")?,
            previous: codec::digest(row, "previous")?,
            digest: codec::digest(row, "digest")?,
            body: optional(codec::column(row, "body")?),
            attestation: optional(codec::column(row, "attestation")?),
        })
    };
    rows.iter().map(entry).collect()
}

/// The head of a chain.
pub(crate) async fn chain_head(
    link: &Link,
    tenant: &TenantId,
    chain: &ChainName,
) -> Result<Option<ChainHead>, StoreError> {
    let question = || {
        sqlx::query("SELECT height, digest FROM handoff_chain_head($1, $2)")
            .bind(tenant.to_string())
            .bind(codec::text(chain.as_str()).into_owned())
    };
    let rows = link.ask(question).await?;
    let head = |row| Ok(ChainHead { height: codec::count(row, "height")?, digest: codec::digest(row, "digest")? });
    rows.first().map(head).transpose()
}

/// Events after a sequence number.
pub(crate) async fn events(
    link: &Link,
    tenant: &TenantId,
    after: Sequence,
    limit: usize,
) -> Result<Vec<StoredEvent>, StoreError> {
    let Ok(after) = i64::try_from(after) else { return Ok(Vec::new()) };
    let question = || {
        sqlx::query("SELECT sequence, type, subject, at, data FROM handoff_events($1, $2, $3)")
            .bind(tenant.to_string())
            .bind(after)
            .bind(codec::limit(limit))
    };
    let rows = link.ask(question).await?;
    let event = |row| {
        Ok(StoredEvent {
            sequence: codec::count(row, "sequence")?,
            event_type: EventType::new(codec::string(row, "type")?),
            subject: codec::string(row, "subject")?,
            at: codec::time(row, "at")?,
            data: codec::shared(row, "data")?,
        })
    };
    rows.iter().map(event).collect()
}
