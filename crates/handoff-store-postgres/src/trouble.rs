//! Why writes are refused by a database that can be reached: said in one line when that begins, and in one when it is over.

use std::sync::atomic::{AtomicBool, Ordering};

/// Whether it was said that writes are refused.
#[derive(Debug, Default)]
pub(crate) struct Trouble(AtomicBool);

impl Trouble {
    /// A write was refused: a full disk, a database that may only be read, a lock that somebody holds.
    pub(crate) fn tell(&self, reason: &str) {
        if !self.0.swap(true, Ordering::Relaxed) {
            tracing::error!(reason, "the database can be reached and refuses a write");
        }
    }

    /// A write was kept.
    pub(crate) fn over(&self) {
        if self.0.load(Ordering::Relaxed) && self.0.swap(false, Ordering::Relaxed) {
            tracing::info!("the database keeps what is written again");
        }
    }
}
