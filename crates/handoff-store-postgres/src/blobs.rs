//! Blobs: put ahead of the transaction that keeps them, swept when none does.

use std::time::Duration;

use bytes::Bytes;
use handoff_engine::store::{BlobRef, NewBlob, StoreError};
use handoff_protocol::{digest::Digest, id::TenantId, timestamp::Timestamp};

use crate::{codec, link::Link};

/// Stores bytes that nobody keeps yet.
pub(crate) async fn put(link: &Link, blob: NewBlob, now: Option<Timestamp>) -> Result<BlobRef, StoreError> {
    let NewBlob { tenant, owner, bytes } = blob;
    let digest = Digest::of(&bytes);
    let question = || {
        sqlx::query("SELECT handoff_put_blob($1, $2, $3, $4, $5)")
            .bind(tenant.to_string())
            .bind(codec::text(&owner).into_owned())
            .bind(digest.to_string())
            .bind(&*bytes)
            .bind(now.map(Timestamp::unix_millis))
    };
    link.ask(question).await?;
    Ok(BlobRef { owner, digest })
}

/// Reads the bytes of a blob.
pub(crate) async fn get(link: &Link, tenant: &TenantId, blob: &BlobRef) -> Result<Option<Bytes>, StoreError> {
    let question = || {
        sqlx::query("SELECT bytes FROM handoff_blob($1, $2, $3)")
            .bind(tenant.to_string())
            .bind(codec::text(&blob.owner).into_owned())
            .bind(blob.digest.to_string())
    };
    let rows = link.ask(question).await?;
    rows.first().map(|row| codec::column::<Vec<u8>>(row, "bytes").map(Bytes::from)).transpose()
}

/// Deletes what was put before the span and never kept.
pub(crate) async fn sweep(link: &Link, older_than: Duration, now: Option<Timestamp>) -> Result<u64, StoreError> {
    let question = || {
        sqlx::query("SELECT handoff_sweep($1, $2) AS swept")
            .bind(codec::millis(older_than))
            .bind(now.map(Timestamp::unix_millis))
    };
    let rows = link.ask(question).await?;
    rows.first().map_or(Ok(0), |row| codec::count(row, "swept"))
}
