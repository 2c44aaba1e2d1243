//! Everything as one sorted map from text keys to JSON values, and batches of changes to it.
//!
//! A key is its parts with NUL between them. The one part that may itself hold anything comes last, so no two things
//! share a key; bytes are written in hexadecimal and numbers with leading zeros, so keys sort as they must.

use std::{
    collections::{BTreeMap, btree_map::Range},
    fmt::{Display, Write as _},
};

use bytes::Bytes;
use handoff_engine::store::{BlobRef, ChainName, IndexName, RecordKey, Sequence, StoreError, TenantHead, TimerKey};
use handoff_protocol::{
    id::{TenantId, Ulid},
    timestamp::Timestamp,
};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::Value;

/// New values by key; `None` removes the row.
pub(crate) type Changes = BTreeMap<String, Option<Value>>;

/// The map.
#[derive(Default)]
pub(crate) struct Rows(BTreeMap<String, Value>);

impl Rows {
    pub(crate) fn change(&mut self, changes: Changes) {
        for (key, value) in changes {
            match value {
                Some(value) => self.0.insert(key, value),
                None => self.0.remove(&key),
            };
        }
    }

    pub(crate) fn get<T: DeserializeOwned>(&self, key: &str) -> Result<Option<T>, StoreError> {
        self.0.get(key).map(read).transpose()
    }

    /// The rows from a key on.
    pub(crate) fn from(&self, key: String) -> Range<'_, String, Value> {
        self.0.range(key..)
    }

    /// The rows whose keys begin so, each with the rest of its key.
    pub(crate) fn under<'a>(&'a self, prefix: &'a str) -> impl Iterator<Item = (&'a str, &'a Value)> {
        self.from(prefix.to_owned()).map_while(move |(key, value)| Some((key.strip_prefix(prefix)?, value)))
    }

    pub(crate) fn head(&self, tenant: TenantId) -> Result<TenantHead, StoreError> {
        let (sequence, last_id) = self.get::<(Sequence, String)>(&head_key(tenant))?.unwrap_or_default();
        let last_id = if last_id.is_empty() { Ok(Ulid::MIN) } else { Ulid::parse(&last_id) };
        Ok(TenantHead { sequence, last_id: last_id.map_err(corrupt)? })
    }
}

/// A timer's row; its claim is an epoch and when the lease lapses.
#[derive(Deserialize, Serialize)]
pub(crate) struct Timer {
    pub(crate) due: Timestamp,
    pub(crate) action: String,
    pub(crate) claim: Option<(u64, Timestamp)>,
}

impl Timer {
    pub(crate) fn claimable_from(&self) -> Timestamp {
        self.claim.map_or(self.due, |(_, until)| until)
    }
}

/// A blob's row.
#[derive(Deserialize, Serialize)]
pub(crate) struct Blob {
    hex: String,
    pub(crate) put_at: Timestamp,
    pub(crate) kept: bool,
}

impl Blob {
    pub(crate) fn new(bytes: &Bytes, put_at: Timestamp, kept: bool) -> Self {
        Self { hex: to_hex(bytes), put_at, kept }
    }

    pub(crate) fn bytes(&self) -> Result<Bytes, StoreError> {
        from_hex(&self.hex).map(Bytes::from)
    }
}

/// Changes over the rows that are durable; reads see them, the rows do not yet.
pub(crate) struct Batch<'a> {
    rows: &'a Rows,
    changes: Changes,
    failed: Option<StoreError>,
}

impl<'a> Batch<'a> {
    pub(crate) fn over(rows: &'a Rows) -> Self {
        Self { rows, changes: Changes::new(), failed: None }
    }

    pub(crate) fn get<T: DeserializeOwned>(&self, key: &str) -> Result<Option<T>, StoreError> {
        match self.changes.get(key) {
            Some(changed) => changed.as_ref().map(read).transpose(),
            None => self.rows.get(key),
        }
    }

    /// Sets a row. What cannot be written as JSON fails the batch as a whole.
    pub(crate) fn put(&mut self, key: String, value: impl Serialize) {
        match serde_json::to_value(value) {
            Ok(value) => {
                self.changes.insert(key, Some(value));
            }
            Err(error) => self.failed = Some(corrupt(error)),
        }
    }

    pub(crate) fn remove(&mut self, key: String) {
        self.changes.insert(key, None);
    }

    pub(crate) fn head(&self, tenant: TenantId) -> Result<TenantHead, StoreError> {
        self.rows.head(tenant)
    }

    pub(crate) fn next_epoch(&mut self) -> Result<u64, StoreError> {
        let epoch = self.get::<u64>("epoch")?.unwrap_or(0).saturating_add(1);
        self.put("epoch".to_owned(), epoch);
        Ok(epoch)
    }

    pub(crate) fn into_changes(self) -> Result<Changes, StoreError> {
        self.failed.map_or(Ok(self.changes), Err)
    }
}

// Keys.

pub(crate) fn head_key(tenant: TenantId) -> String {
    format!("head\0{tenant}")
}

pub(crate) fn record_key(tenant: TenantId, key: &RecordKey) -> String {
    format!("record\0{tenant}\0{}\0{}", key.kind, key.id)
}

/// Followed by the sort key in hexadecimal.
pub(crate) fn index_prefix(tenant: TenantId, index: &IndexName) -> String {
    format!("index\0{tenant}\0{index}\0")
}

/// Followed by the height.
pub(crate) fn chain_prefix(tenant: TenantId, chain: &ChainName) -> String {
    format!("chain\0{tenant}\0{chain}\0")
}

pub(crate) fn chain_head_key(tenant: TenantId, chain: &ChainName) -> String {
    format!("chain-head\0{tenant}\0{chain}")
}

/// Followed by the sequence.
pub(crate) fn event_prefix(tenant: TenantId) -> String {
    format!("event\0{tenant}\0")
}

/// A number so that text order is its order.
pub(crate) fn ordered(number: u64) -> impl Display {
    format!("{number:020}")
}

/// Followed by the tenant and the timer's own key.
pub(crate) const TIMERS: &str = "timer\0";

pub(crate) fn timer_key(tenant: TenantId, key: &TimerKey) -> String {
    format!("{TIMERS}{tenant}\0{key}")
}

pub(crate) const BLOBS: &str = "blob\0";

pub(crate) fn blob_key(tenant: TenantId, blob: &BlobRef) -> String {
    format!("{BLOBS}{tenant}\0{}\0{}", blob.digest, blob.owner)
}

// Values.

pub(crate) fn read<T: DeserializeOwned>(value: &Value) -> Result<T, StoreError> {
    T::deserialize(value).map_err(corrupt)
}

pub(crate) fn corrupt(error: impl Display) -> StoreError {
    StoreError::Corrupt(error.to_string())
}

pub(crate) fn to_hex(bytes: &[u8]) -> String {
    let mut hex = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        // Writing to a string cannot fail.
        let _ = write!(hex, "{byte:02x}");
    }
    hex
}

pub(crate) fn from_hex(hex: &str) -> Result<Vec<u8>, StoreError> {
    let digit = |digit: &u8| char::from(*digit).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let bytes: Option<_> = hex
        .as_bytes()
        .chunks(2)
        .map(|pair| match pair {
            [high, low] => Some(digit(high)? << 4 | digit(low)?),
            _ => None,
        })
        .collect();
    bytes.ok_or_else(|| corrupt("bytes are not in hexadecimal"))
}
