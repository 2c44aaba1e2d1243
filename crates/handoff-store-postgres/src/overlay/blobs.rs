//! Blobs, as a batch leaves them.

use bytes::Bytes;
use handoff_engine::store::{BlobRef, BlobWrite};
use handoff_protocol::digest::Digest;

use super::{Refusal, Tracking};
use crate::tracked::Tracked;

/// What a batch does with one blob.
#[derive(Clone, Debug, Default)]
pub(crate) struct BlobChange {
    /// The content to store and keep.
    pub(crate) stored: Option<Bytes>,
    /// Whether it must be there already.
    pub(crate) kept: bool,
    /// Whether it goes in the end.
    pub(crate) dropped: bool,
}

/// The blobs that a batch changed, by owner and digest.
#[derive(Debug, Default)]
pub(crate) struct Blobs(Tracked<(String, Digest), BlobChange>);

impl Blobs {
    /// Every change, in the order of owner and digest.
    pub(crate) fn changes(&self) -> impl Iterator<Item = (&(String, Digest), &BlobChange)> {
        self.0.rows().iter()
    }

    pub(super) fn write(&mut self, write: BlobWrite) -> Result<(), Refusal> {
        match write {
            BlobWrite::Store { owner, bytes } => {
                let place = (owner, Digest::of(&bytes));
                let change = self.change(&place);
                self.0.put(place, BlobChange { stored: Some(bytes), dropped: false, ..change });
            }
            BlobWrite::Keep(BlobRef { owner, digest }) => {
                let place = (owner, digest);
                let change = self.change(&place);
                if change.dropped {
                    return Err(Refusal::conflict("a blob to keep is gone"));
                }
                if change.stored.is_none() {
                    self.0.put(place, BlobChange { kept: true, ..change });
                }
            }
            BlobWrite::Drop(BlobRef { owner, digest }) => {
                let place = (owner, digest);
                let change = self.change(&place);
                self.0.put(place, BlobChange { stored: None, dropped: true, ..change });
            }
        }
        Ok(())
    }

    fn change(&self, place: &(String, Digest)) -> BlobChange {
        self.0.get(place).cloned().unwrap_or_default()
    }

    pub(super) fn each(&mut self, tracking: Tracking) {
        tracking.on(&mut self.0);
    }
}
