//! Documents: what the engine keeps as records, each with its kind, its id and its index rows in one place.

use std::sync::Arc;

use handoff_protocol::json::{from_text, to_text};
use serde::{Serialize, de::DeserializeOwned};

use crate::store::{IndexRow, Record, RecordKey, RecordKind, RecordWrite, StoreError};

/// A kind of record. The index rows are a function of the document alone, so that index and documents cannot drift.
pub(crate) trait Document: Serialize + DeserializeOwned {
    /// The kind.
    const KIND: RecordKind;

    /// The id within the kind.
    fn id(&self) -> String;

    /// The rows of every index that this document stands in.
    fn index(&self) -> Vec<IndexRow>;

    /// The record's key.
    fn key(&self) -> RecordKey {
        RecordKey::new(Self::KIND, self.id())
    }
}

/// A document as it was read, with the version to write over.
#[derive(Clone, Debug)]
pub(crate) struct Kept<D> {
    /// The version read.
    pub(crate) version: u64,
    /// The document.
    pub(crate) document: D,
}

/// Reads a record as a document.
pub(crate) fn read<D: Document>(record: &Record) -> Result<Kept<D>, StoreError> {
    let document = from_text(&record.document)
        .map_err(|error| StoreError::Corrupt(format!("record {:?}: {error}", record.key)))?;
    Ok(Kept { version: record.version, document })
}

/// Writes a document over what was read, or as a new record.
pub(crate) fn write<D: Document>(before: Option<&Kept<D>>, after: &D) -> Result<RecordWrite, StoreError> {
    let old = before.map(|kept| kept.document.index()).unwrap_or_default();
    let new = after.index();
    let text = to_text(after).map_err(|error| StoreError::Conflict(format!("a document has no JSON form: {error}")))?;
    Ok(RecordWrite::Put {
        key: after.key(),
        seen: before.map(|kept| kept.version),
        document: Arc::from(text),
        unindex: old.iter().filter(|row| !new.contains(row)).cloned().collect(),
        index: new.into_iter().filter(|row| !old.contains(row)).collect(),
    })
}

/// Writes a document over a record that cannot be read as one, and takes it from the rows by which it was found.
pub(crate) fn overwrite<D: Document>(
    version: u64,
    unindex: Vec<IndexRow>,
    after: &D,
) -> Result<RecordWrite, StoreError> {
    let text = to_text(after).map_err(|error| StoreError::Conflict(format!("a document has no JSON form: {error}")))?;
    Ok(RecordWrite::Put {
        key: after.key(),
        seen: Some(version),
        document: Arc::from(text),
        unindex,
        index: after.index(),
    })
}

/// Deletes what was read.
pub(crate) fn delete<D: Document>(before: &Kept<D>) -> RecordWrite {
    RecordWrite::Delete { key: before.document.key(), seen: before.version, unindex: before.document.index() }
}
