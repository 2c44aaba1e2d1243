//! A clock that moves only when a test says so.

use std::{
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
    time::Duration,
};

use handoff_engine::clock::Clock;
use handoff_protocol::timestamp::Timestamp;

/// A clock that stands still until it is moved. Clones share one time.
///
/// ```
/// use std::time::Duration;
///
/// use handoff_engine::clock::Clock as _;
/// use handoff_protocol::timestamp::Timestamp;
/// use handoff_testkit::VirtualClock;
///
/// let clock = VirtualClock::new(Timestamp::from_unix_millis(1_000));
/// let seen_by_the_store = clock.clone();
/// clock.advance(Duration::from_secs(2));
/// assert_eq!(seen_by_the_store.now(), Timestamp::from_unix_millis(3_000));
/// ```
#[derive(Clone, Debug)]
pub struct VirtualClock(Arc<AtomicI64>);

impl VirtualClock {
    /// A clock that shows `start`.
    #[must_use]
    pub fn new(start: Timestamp) -> Self {
        Self(Arc::new(AtomicI64::new(start.unix_millis())))
    }

    /// Moves the time forward, by whole milliseconds.
    pub fn advance(&self, by: Duration) {
        let by = i64::try_from(by.as_millis()).unwrap_or(i64::MAX);
        self.0.update(Ordering::SeqCst, Ordering::SeqCst, |now| now.saturating_add(by));
    }

    /// Sets the time, backward as well: machines' clocks do that too.
    pub fn set(&self, now: Timestamp) {
        self.0.store(now.unix_millis(), Ordering::SeqCst);
    }
}

impl Default for VirtualClock {
    /// The first moment of 2026, UTC.
    fn default() -> Self {
        Self::new(Timestamp::from_unix_millis(1_767_225_600_000))
    }
}

impl Clock for VirtualClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_unix_millis(self.0.load(Ordering::SeqCst))
    }
}
