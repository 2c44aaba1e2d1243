//! Blobs: put ahead of the transaction that keeps them, swept when none does.

use std::time::Duration;

use bytes::Bytes;
use handoff_engine::store::{BlobRef, BlobWrite, NewBlob};
use handoff_protocol::{digest::Digest, timestamp::Timestamp};
use rusqlite::{Connection, OptionalExtension as _, params};

use crate::{codec, error::Failure};

/// What a commit does with a blob.
pub(crate) fn write(connection: &Connection, tenant: &str, write: &BlobWrite, now: Timestamp) -> Result<(), Failure> {
    match write {
        BlobWrite::Store { owner, bytes } => {
            connection
                .prepare_cached(
                    "INSERT INTO blobs (tenant, owner, digest, kept, put_at, bytes) VALUES (?1, ?2, ?3, 1, ?4, ?5)
                     ON CONFLICT DO UPDATE SET kept = 1",
                )?
                .execute(params![tenant, owner, Digest::of(bytes).to_string(), now.unix_millis(), &**bytes])?;
        }
        BlobWrite::Keep(blob) => {
            let kept = connection
                .prepare_cached("UPDATE blobs SET kept = 1 WHERE tenant = ?1 AND owner = ?2 AND digest = ?3")?
                .execute(params![tenant, blob.owner, blob.digest.to_string()])?;
            if kept == 0 {
                return Err(Failure::conflict("a blob to keep is gone"));
            }
        }
        BlobWrite::Drop(blob) => {
            connection
                .prepare_cached("DELETE FROM blobs WHERE tenant = ?1 AND owner = ?2 AND digest = ?3")?
                .execute(params![tenant, blob.owner, blob.digest.to_string()])?;
        }
    }
    Ok(())
}

/// Stores bytes that nobody keeps yet. Putting them again starts their time anew.
pub(crate) fn put(connection: &Connection, blob: &NewBlob, now: Timestamp) -> Result<BlobRef, Failure> {
    let digest = Digest::of(&blob.bytes);
    connection
        .prepare_cached(
            "INSERT INTO blobs (tenant, owner, digest, kept, put_at, bytes) VALUES (?1, ?2, ?3, 0, ?4, ?5)
             ON CONFLICT DO UPDATE SET put_at = excluded.put_at WHERE kept = 0",
        )?
        .execute(params![blob.tenant.to_string(), blob.owner, digest.to_string(), now.unix_millis(), &*blob.bytes])?;
    Ok(BlobRef { owner: blob.owner.clone(), digest })
}

/// Reads the bytes of a blob.
pub(crate) fn get(connection: &Connection, tenant: &str, blob: &BlobRef) -> Result<Option<Bytes>, Failure> {
    let bytes: Option<Vec<u8>> = connection
        .prepare_cached("SELECT bytes FROM blobs WHERE tenant = ?1 AND owner = ?2 AND digest = ?3")?
        .query_row(params![tenant, blob.owner, blob.digest.to_string()], |row| row.get(0))
        .optional()?;
    Ok(bytes.map(Bytes::from))
}

/// Deletes what was put before the span and never kept.
pub(crate) fn sweep(connection: &Connection, older_than: Duration, now: Timestamp) -> Result<u64, Failure> {
    let before = now.unix_millis().saturating_sub(codec::millis(older_than));
    let swept = connection.prepare_cached("DELETE FROM blobs WHERE kept = 0 AND put_at < ?1")?.execute([before])?;
    Ok(u64::try_from(swept).unwrap_or(u64::MAX))
}
