//! How values of the port are written in columns and read back.

use std::{borrow::Cow, sync::Arc, time::Duration};

use handoff_engine::store::{IndexedRecord, Record, RecordKey, RecordKind, StoreError};
use handoff_protocol::{digest::Digest, id::TenantId, id::Ulid, timestamp::Timestamp};
use sqlx::{
    Decode, Row as _, Type,
    postgres::{PgRow, Postgres},
};

/// Says of the next character that it stands for one that a column cannot hold.
///
/// JSON has no such character outside of escapes, so documents stand in their columns exactly as they were written.
const ESCAPE: char = '\u{1b}';

/// Text as a column holds it. Postgres has no NUL in its texts; whatever else is in one stays as it is.
pub(crate) fn text(value: &str) -> Cow<'_, str> {
    if !value.bytes().any(|byte| byte == 0 || byte == 0x1b) {
        return Cow::Borrowed(value);
    }
    let mut escaped = String::with_capacity(value.len().saturating_add(8));
    for character in value.chars() {
        match character {
            '\0' => escaped.extend([ESCAPE, '0']),
            ESCAPE => escaped.extend([ESCAPE, ESCAPE]),
            other => escaped.push(other),
        }
    }
    Cow::Owned(escaped)
}

/// Text from what a column holds.
pub(crate) fn from_text(held: String) -> String {
    if !held.bytes().any(|byte| byte == 0x1b) {
        return held;
    }
    let mut text = String::with_capacity(held.len());
    let mut characters = held.chars();
    while let Some(character) = characters.next() {
        text.push(match character {
            ESCAPE => characters.next().map_or(ESCAPE, |escaped| if escaped == '0' { '\0' } else { escaped }),
            other => other,
        });
    }
    text
}

/// A count as the database's signed integer.
pub(crate) fn integer(count: u64) -> Result<i64, StoreError> {
    i64::try_from(count).map_err(|_| StoreError::Conflict("a number is larger than the database can hold".to_owned()))
}

/// A limit as the database's signed integer; one that is larger means no limit.
pub(crate) fn limit(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

/// A span in whole milliseconds; a fraction rounds up, so that a lease never lapses early.
pub(crate) fn millis(span: Duration) -> i64 {
    i64::try_from(span.as_nanos().div_ceil(1_000_000)).unwrap_or(i64::MAX)
}

/// The value of a column.
pub(crate) fn column<'r, T>(row: &'r PgRow, name: &'static str) -> Result<T, StoreError>
where
    T: Decode<'r, Postgres> + Type<Postgres>,
{
    row.try_get(name).map_err(|_| StoreError::Corrupt(format!("the column {name} is not of the expected type")))
}

/// Text of a column.
pub(crate) fn string(row: &PgRow, name: &'static str) -> Result<String, StoreError> {
    column(row, name).map(from_text)
}

/// Text of a column that is shared by many.
pub(crate) fn shared(row: &PgRow, name: &'static str) -> Result<Arc<str>, StoreError> {
    string(row, name).map(Arc::from)
}

/// A count.
pub(crate) fn count(row: &PgRow, name: &'static str) -> Result<u64, StoreError> {
    u64::try_from(column::<i64>(row, name)?).map_err(|_| StoreError::Corrupt(format!("the column {name} is negative")))
}

/// A time from its milliseconds.
pub(crate) fn time(row: &PgRow, name: &'static str) -> Result<Timestamp, StoreError> {
    Ok(Timestamp::from_unix_millis(column(row, name)?))
}

/// A digest from its text.
pub(crate) fn digest(row: &PgRow, name: &'static str) -> Result<Digest, StoreError> {
    Digest::parse(column::<&str>(row, name)?).map_err(|_| StoreError::Corrupt("a digest is malformed".to_owned()))
}

/// A tenant from its text.
pub(crate) fn tenant(text: &str) -> Result<TenantId, StoreError> {
    TenantId::parse(text).map_err(|_| StoreError::Corrupt("a tenant is malformed".to_owned()))
}

/// A last id from its text.
pub(crate) fn ulid(text: &str) -> Result<Ulid, StoreError> {
    Ulid::parse(text).map_err(|_| StoreError::Corrupt("a last id is malformed".to_owned()))
}

/// An index row with its record; the columns of version and document are called differently in different answers.
pub(crate) fn indexed_record(
    row: &PgRow,
    version: &'static str,
    document: &'static str,
) -> Result<IndexedRecord, StoreError> {
    let key = RecordKey { kind: RecordKind::new(string(row, "kind")?), id: string(row, "id")? };
    let record = Record { key, version: count(row, version)?, document: shared(row, document)? };
    Ok(IndexedRecord { sort_key: column(row, "sort_key")?, record })
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_text_comes_back_and_holds_no_nul_in_between() {
        for value in ["", "plain é", "\0", "a\0b", "\u{1b}", "\u{1b}0", "\0\u{1b}\u{1b}0\0", "\u{1b}\u{1b}", "\\u0000"]
        {
            let held = text(value);
            assert!(!held.contains('\0'), "{value:?}");
            assert_eq!(from_text(held.into_owned()), value);
        }
    }

    #[test]
    fn different_texts_are_held_differently() {
        let values = ["\0", "\u{1b}0", "\u{1b}\u{1b}0", "0", "\u{1b}"];
        let held: std::collections::HashSet<_> = values.iter().map(|value| text(value)).collect();
        assert_eq!(held.len(), values.len());
    }

    #[test]
    fn a_prefix_ends_before_the_next_prefix() {
        assert_eq!(prefix_range(b"ab"), (b"ab".to_vec(), Some(b"ac".to_vec())));
        assert_eq!(prefix_range(b"a\xff\xff"), (b"a\xff\xff".to_vec(), Some(b"b".to_vec())));
        assert_eq!(prefix_range(b"\xff"), (b"\xff".to_vec(), None));
        assert_eq!(prefix_range(b""), (Vec::new(), None));
    }
}
