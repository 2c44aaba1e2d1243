//! Blobs: large or erasable content that hangs beside a record.

use bytes::Bytes;
use handoff_protocol::{digest::Digest, id::TenantId};

/// Bytes to store ahead of the transaction that will keep them.
#[derive(Clone, Debug)]
pub struct NewBlob {
    /// Whose they are.
    pub tenant: TenantId,
    /// What they belong to, a record's id for example; equal bytes of two owners are two blobs.
    pub owner: String,
    /// The content.
    pub bytes: Bytes,
}

/// Names one blob of a tenant.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct BlobRef {
    /// What it belongs to.
    pub owner: String,
    /// SHA-256 of its content.
    pub digest: Digest,
}

/// What a transaction does with a blob.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum BlobWrite {
    /// Stores and keeps small content in the commit itself.
    Store {
        /// What it belongs to.
        owner: String,
        /// The content.
        bytes: Bytes,
    },
    /// Keeps a blob that was put before; the write fails with [`StoreError::Conflict`](super::StoreError::Conflict) if
    /// it has been swept.
    Keep(BlobRef),
    /// Deletes a blob if it is there.
    Drop(BlobRef),
}
