//! The digest over a bundle, taken while its receipts pass.

use sha2::{Digest as _, Sha256};

use crate::digest::Digest;
use crate::json::{Json, NotCanonical, canonical_members};

/// A digest in the making: over the canonical text of a bundle without the digest itself.
///
/// In canonical text the receipts stand last, so what is before them is covered first, and no more than one of them is
/// at hand at a time.
pub(super) struct Covered {
    hash: Sha256,
    empty: bool,
}

impl Covered {
    /// Begins with every member but the receipts and the digest.
    pub(super) fn begin(members: Vec<(&str, &Json)>) -> Result<Self, NotCanonical> {
        let mut text = canonical_members(members)?;
        text.pop();
        text.push_str(",\"receipts\":[");
        let mut hash = Sha256::new();
        hash.update(text);
        Ok(Self { hash, empty: true })
    }

    /// Covers the next receipt with its signature, by their canonical text.
    pub(super) fn entry(&mut self, canonical: &str) {
        if !std::mem::replace(&mut self.empty, false) {
            self.hash.update(",");
        }
        self.hash.update(canonical);
    }

    /// Gives the digest over all of it.
    pub(super) fn finish(mut self) -> Digest {
        self.hash.update("]}");
        Digest::from_bytes(self.hash.finalize().into())
    }
}

/// The digest over a whole document at once: its canonical text without the digest itself.
pub(crate) fn digest_of(document: &Json) -> Result<Digest, NotCanonical> {
    let mut text = String::new();
    let itself = match document.as_object() {
        Some(members) => members.write_canonical_around("digest", &mut text)?,
        None => {
            document.write_canonical(&mut text)?;
            None
        }
    };
    if let Some(itself) = itself {
        text.replace_range(itself, "");
    }
    Ok(Digest::of(text))
}
