//! Operations at a fixed rate, whatever the server does, so a server that stalls is seen to stall.

use std::time::Duration;

use tokio::{
    sync::Mutex,
    time::{Interval, MissedTickBehavior},
};

/// Turns that come so many a second, for however many callers.
pub(crate) struct Pace {
    turns: Mutex<Interval>,
}

impl Pace {
    /// So many turns a second, the first at once. Turns that nobody took in time are made up for.
    pub(crate) fn new(a_second: u32) -> Self {
        let mut turns = tokio::time::interval(Duration::from_secs(1) / a_second.max(1));
        turns.set_missed_tick_behavior(MissedTickBehavior::Burst);
        Self { turns: Mutex::new(turns) }
    }

    /// Waits for a turn.
    pub(crate) async fn turn(&self) {
        self.turns.lock().await.tick().await;
    }
}
