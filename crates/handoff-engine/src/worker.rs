//! The timer worker: what happens by itself when its time comes.
//!
//! Every wait in the product is a timer row. Any number of workers on any number of nodes may run over one store: a
//! claim is exclusive, and the commit that acts settles it.

use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use handoff_protocol::json::{from_json, read_str};

use crate::{
    decision::TimerAction,
    engine::Engine,
    store::{ClaimedTimer, StoreError},
};

/// How long a claim holds: far longer than any action takes.
const LEASE: Duration = Duration::from_secs(30);

/// How many timers one claim takes.
const BATCH: usize = 64;

/// What one sweep did.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Swept {
    /// Timers that were claimed and acted on.
    pub acted: usize,
    /// Timers whose action failed; they come back when their claim lapses.
    pub failed: usize,
}

/// What the sweeps of this engine did since it was built.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct SweepStats {
    /// Timers that were acted on.
    pub acted: u64,
    /// Timers whose action failed, once for each try.
    pub failed: u64,
    /// How late the latest timer of the last sweep that found any was when it was claimed.
    pub lag: Duration,
}

/// [`SweepStats`] as they are counted.
#[derive(Debug, Default)]
pub(crate) struct SweepCounters {
    acted: AtomicU64,
    failed: AtomicU64,
    lag_millis: AtomicU64,
}

impl SweepCounters {
    fn acted(&self, well: bool) {
        let counter = if well { &self.acted } else { &self.failed };
        counter.fetch_add(1, Ordering::Relaxed);
    }

    fn lagged(&self, lag: Duration) {
        self.lag_millis.store(u64::try_from(lag.as_millis()).unwrap_or(u64::MAX), Ordering::Relaxed);
    }
}

impl Engine {
    /// What the sweeps of this engine did, for whoever watches it.
    #[must_use]
    pub fn sweep_stats(&self) -> SweepStats {
        let counters = &self.inner.sweeps;
        SweepStats {
            acted: counters.acted.load(Ordering::Relaxed),
            failed: counters.failed.load(Ordering::Relaxed),
            lag: Duration::from_millis(counters.lag_millis.load(Ordering::Relaxed)),
        }
    }

    /// Acts on every timer that is due now, and answers when none is left. Tests call it under a virtual clock.
    ///
    /// One timer that fails does not stop the others.
    ///
    /// # Errors
    ///
    /// If the store cannot be asked for timers.
    pub async fn run_due_timers(&self) -> Result<Swept, StoreError> {
        self.write_signs_of_life().await;
        let mut swept = Swept::default();
        let mut lag = Duration::ZERO;
        loop {
            let claimed = self.inner.store.claim_timers(BATCH, LEASE).await?;
            if claimed.timers.is_empty() {
                return Ok(swept);
            }
            lag = claimed.timers.iter().map(|timer| claimed.now.since(timer.due)).fold(lag, Duration::max);
            self.inner.sweeps.lagged(lag);
            for timer in claimed.timers {
                let well = self.act(&timer).await;
                self.inner.sweeps.acted(well);
                if well {
                    swept.acted = swept.acted.saturating_add(1);
                } else {
                    swept.failed = swept.failed.saturating_add(1);
                }
            }
        }
    }

    /// Sweeps until the returned future is dropped: at every `interval`, and at once after a sweep that found work.
    pub async fn run_timers(&self, interval: Duration) {
        let mut ticks = tokio::time::interval(interval);
        ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        let mut healthy = true;
        loop {
            ticks.tick().await;
            match self.run_due_timers().await {
                Ok(_) => healthy = true,
                // One line for an outage, not one for each sweep of it.
                Err(error) if healthy => {
                    healthy = false;
                    tracing::error!(%error, "timers cannot be claimed; trying again");
                }
                Err(_) => {}
            }
        }
    }

    async fn act(&self, timer: &ClaimedTimer) -> bool {
        let action = read_str(&timer.action)
            .map_err(|error| error.to_string())
            .and_then(|json| from_json::<TimerAction>(json).map_err(|error| error.to_string()));
        let outcome = match action {
            Ok(TimerAction::Expire { request }) => {
                self.expire(timer.tenant, request, timer.key.clone(), timer.epoch).await
            }
            Ok(TimerAction::Lapse { request }) => {
                self.lapse(timer.tenant, request, timer.key.clone(), timer.epoch).await
            }
            Ok(TimerAction::LapseLease { waiter }) => {
                self.lapse_lease(timer.tenant, waiter, timer.key.clone(), timer.epoch).await
            }
            Ok(TimerAction::LapseSession { session }) => {
                self.lapse_session(timer.tenant, session, timer.key.clone(), timer.epoch).await
            }
            Ok(TimerAction::CloseSession { session }) => {
                self.close_session(timer.tenant, session, timer.key.clone(), timer.epoch).await
            }
            Ok(TimerAction::PurgeReplays) => self.purge_replays(timer.tenant, timer.key.clone(), timer.epoch).await,
            Err(reason) => {
                tracing::error!(key = %timer.key, reason, "a timer says nothing that this version understands");
                return false;
            }
        };
        if let Err(error) = &outcome {
            tracing::warn!(key = %timer.key, %error, "a timer could not act; it comes back when its claim lapses");
        }
        outcome.is_ok()
    }
}
