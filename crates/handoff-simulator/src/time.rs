//! Clocks: one virtual time, and how far each machine's clock is off.

use std::{
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
    time::Duration,
};

use handoff_engine::clock::Clock;
use handoff_protocol::timestamp::Timestamp;
use tokio::time::Instant;

/// The first moment of 2026, UTC.
const EPOCH: i64 = 1_767_225_600_000;

/// The clock of one machine, which can be set. Clones are the same clock.
#[derive(Clone, Debug)]
pub struct SimClock {
    began: Instant,
    off: Arc<AtomicI64>,
    /// The most that it was ever ahead.
    ahead: Arc<AtomicI64>,
}

impl SimClock {
    /// A clock that is right. Call it within a runtime whose time is virtual.
    #[must_use]
    pub fn new() -> Self {
        Self { began: Instant::now(), off: Arc::default(), ahead: Arc::default() }
    }

    /// Another machine's clock, which shows the same time now.
    #[must_use]
    pub fn another(&self) -> Self {
        let off = self.off.load(Ordering::SeqCst);
        Self { began: self.began, off: Arc::new(AtomicI64::new(off)), ahead: Arc::new(AtomicI64::new(off)) }
    }

    /// Moves the clock by milliseconds, backward as well.
    pub fn shift(&self, millis: i64) {
        let before = self.off.fetch_add(millis, Ordering::SeqCst);
        self.ahead.fetch_max(before.saturating_add(millis), Ordering::SeqCst);
    }

    /// Lets it show a time that it never showed before: one that went back is right again, and what was written by the time
    /// that it showed before it went back, a claim for example, is not in the future any more.
    pub fn catch_up(&self) {
        self.off.store(self.ahead.load(Ordering::SeqCst), Ordering::SeqCst);
    }

    /// Sets it to another clock's time.
    pub fn follow(&self, other: &Self) {
        self.off.store(other.off.load(Ordering::SeqCst), Ordering::SeqCst);
    }

    /// How many milliseconds passed, whatever the clock shows.
    #[must_use]
    pub fn millis(&self) -> u64 {
        u64::try_from(self.passed().as_millis()).unwrap_or(u64::MAX)
    }

    /// How much time passed, whatever the clock shows.
    #[must_use]
    pub fn passed(&self) -> Duration {
        self.began.elapsed()
    }
}

impl Default for SimClock {
    fn default() -> Self {
        Self::new()
    }
}

impl Clock for SimClock {
    fn now(&self) -> Timestamp {
        let passed = i64::try_from(self.passed().as_millis()).unwrap_or(i64::MAX);
        let off = self.off.load(Ordering::SeqCst);
        Timestamp::from_unix_millis(EPOCH.saturating_add(passed).saturating_add(off))
    }
}
