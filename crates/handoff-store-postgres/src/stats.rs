//! Counters of what the writer did.

use std::sync::atomic::{AtomicU64, Ordering};

/// What the store did since it was opened.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct Stats {
    /// Physical commits, each of which waited for the disk.
    pub commits: u64,
    /// Pieces of work that those commits carried; many share one commit when callers are many.
    pub members: u64,
    /// The most that shared one commit.
    pub largest_batch: u64,
}

#[derive(Debug, Default)]
pub(crate) struct Counters {
    commits: AtomicU64,
    members: AtomicU64,
    largest_batch: AtomicU64,
}

impl Counters {
    pub(crate) fn committed(&self, members: usize) {
        let members = u64::try_from(members).unwrap_or(u64::MAX);
        self.commits.fetch_add(1, Ordering::Relaxed);
        self.members.fetch_add(members, Ordering::Relaxed);
        self.largest_batch.fetch_max(members, Ordering::Relaxed);
    }

    pub(crate) fn read(&self) -> Stats {
        Stats {
            commits: self.commits.load(Ordering::Relaxed),
            members: self.members.load(Ordering::Relaxed),
            largest_batch: self.largest_batch.load(Ordering::Relaxed),
        }
    }
}
