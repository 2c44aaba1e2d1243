//! How values of the port are written in columns and read back.

use std::time::Duration;

use handoff_engine::store::{IndexedRecord, Record, RecordKey, RecordKind};
use handoff_protocol::{digest::Digest, id::TenantId, id::Ulid, timestamp::Timestamp};
use rusqlite::Row;

use crate::error::Failure;

/// A count as SQLite's signed integer.
pub(crate) fn integer(count: u64) -> Result<i64, Failure> {
    i64::try_from(count).map_err(|_| Failure::conflict("a number is larger than the database can hold"))
}

/// A limit as SQLite's signed integer; one that is larger means no limit.
pub(crate) fn limit(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

/// A count from SQLite's signed integer.
pub(crate) fn count(row: &Row<'_>, column: usize) -> Result<u64, Failure> {
    u64::try_from(row.get::<_, i64>(column)?).map_err(|_| Failure::corrupt("a count is negative"))
}

/// A time from its milliseconds.
pub(crate) fn time(row: &Row<'_>, column: usize) -> Result<Timestamp, Failure> {
    Ok(Timestamp::from_unix_millis(row.get(column)?))
}

/// A digest from its text.
pub(crate) fn digest(row: &Row<'_>, column: usize) -> Result<Digest, Failure> {
    let text = row.get_ref(column)?.as_str().map_err(|_| Failure::corrupt("a digest is not text"))?;
    Digest::parse(text).map_err(|_| Failure::corrupt("a digest is malformed"))
}

/// A tenant from its text.
pub(crate) fn tenant(row: &Row<'_>, column: usize) -> Result<TenantId, Failure> {
    let text = row.get_ref(column)?.as_str().map_err(|_| Failure::corrupt("a tenant is not text"))?;
    TenantId::parse(text).map_err(|_| Failure::corrupt("a tenant is malformed"))
}

/// A last id from its text.
pub(crate) fn ulid(row: &Row<'_>, column: usize) -> Result<Ulid, Failure> {
    let text = row.get_ref(column)?.as_str().map_err(|_| Failure::corrupt("a last id is not text"))?;
    Ulid::parse(text).map_err(|_| Failure::corrupt("a last id is malformed"))
}

/// An index row with its record, from the columns `sort_key, kind, id, version, document`.
pub(crate) fn indexed_record(row: &Row<'_>) -> Result<IndexedRecord, Failure> {
    let key = RecordKey { kind: RecordKind::new(row.get::<_, String>(1)?), id: row.get(2)? };
    Ok(IndexedRecord { sort_key: row.get(0)?, record: Record { key, version: count(row, 3)?, document: row.get(4)? } })
}

/// The sort keys that begin with a prefix, from the first up to but excluding the second; `None` is beyond every key.
pub(crate) fn prefix_range(prefix: &[u8]) -> (Vec<u8>, Option<Vec<u8>>) {
    let mut beyond = prefix.to_vec();
    while let Some(last) = beyond.pop() {
        if let Some(next) = last.checked_add(1) {
            beyond.push(next);
            return (prefix.to_vec(), Some(beyond));
        }
    }
    (prefix.to_vec(), None)
}

/// A span in whole milliseconds; a fraction rounds up, so that a lease never lapses early.
pub(crate) fn millis(span: Duration) -> i64 {
    i64::try_from(span.as_nanos().div_ceil(1_000_000)).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prefix_ends_before_the_next_prefix() {
        assert_eq!(prefix_range(b"ab"), (b"ab".to_vec(), Some(b"ac".to_vec())));
        assert_eq!(prefix_range(b"a\xff\xff"), (b"a\xff\xff".to_vec(), Some(b"b".to_vec())));
        assert_eq!(prefix_range(b"\xff"), (b"\xff".to_vec(), None));
        assert_eq!(prefix_range(b""), (Vec::new(), None));
    }
}
