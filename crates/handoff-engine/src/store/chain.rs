//! Chain entries: append-only, each continuing the one before.

use std::sync::Arc;

use handoff_protocol::digest::Digest;

use super::ChainName;

/// An entry to append. The store refuses one that does not continue the chain's head.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ChainAppend {
    /// The chain.
    pub chain: ChainName,
    /// The head's height plus one; 1 for the first.
    pub height: u64,
    /// The head's digest; for the first entry whatever the domain starts its chains with.
    pub previous: Digest,
    /// The entry's own digest.
    pub digest: Digest,
    /// What was sealed, kept byte for byte.
    pub body: Arc<str>,
    /// What was attested over the digest, a detached signature for example; outside the digest.
    pub attestation: Option<Arc<str>>,
}

/// An entry as stored.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ChainEntry {
    /// 1 for the first, without gaps.
    pub height: u64,
    /// The digest of the entry before.
    pub previous: Digest,
    /// The entry's own digest.
    pub digest: Digest,
    /// What was sealed; `None` once erased.
    pub body: Option<Arc<str>>,
    /// What was attested over the digest.
    pub attestation: Option<Arc<str>>,
}

/// The last entry of a chain.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct ChainHead {
    /// Its height, which is the number of entries.
    pub height: u64,
    /// Its digest.
    pub digest: Digest,
}

/// Which entries to read: at most `limit` from a height upward.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct HeightRange {
    /// The lowest height wanted.
    pub from: u64,
    /// How many at the most.
    pub limit: usize,
}

impl HeightRange {
    /// Exactly one entry.
    #[must_use]
    pub const fn at(height: u64) -> Self {
        Self { from: height, limit: 1 }
    }
}

/// The deletion of one body. The entry and its digests stay; a row says when and why.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Erasure {
    /// The chain.
    pub chain: ChainName,
    /// The entry.
    pub height: u64,
    /// Why, in words for an auditor.
    pub reason: String,
}
