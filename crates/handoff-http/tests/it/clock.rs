//! A clock that tells when it is read, and that can be made to panic.

use std::sync::atomic::{AtomicBool, Ordering};

use handoff_engine::clock::Clock;
use handoff_protocol::timestamp::Timestamp;
use handoff_testkit::VirtualClock;
use tokio::sync::watch;

/// The engine reads its clock once while it authenticates a call, so a count of the reads tells how many calls came in.
pub(crate) struct WatchedClock {
    time: VirtualClock,
    reads: watch::Sender<u64>,
    trips: AtomicBool,
}

impl WatchedClock {
    pub(crate) fn new(time: VirtualClock) -> Self {
        Self { time, reads: watch::Sender::new(0), trips: AtomicBool::new(false) }
    }

    /// Makes the next reading panic.
    pub(crate) fn trip(&self) {
        self.trips.store(true, Ordering::SeqCst);
    }

    /// Follows the number of reads.
    pub(crate) fn reads(&self) -> watch::Receiver<u64> {
        let mut reads = self.reads.subscribe();
        reads.mark_unchanged();
        reads
    }
}

impl Clock for WatchedClock {
    fn now(&self) -> Timestamp {
        assert!(!self.trips.swap(false, Ordering::SeqCst), "a planted panic");
        self.reads.send_modify(|reads| *reads += 1);
        self.time.now()
    }
}
