//! The timer worker: what happens by itself when its time comes.
//!
//! Every wait in the product is a timer row. Any number of workers on any number of nodes may run over one store: a
//! claim is exclusive, and the commit that acts settles it.

use std::{
    panic::AssertUnwindSafe,
    sync::atomic::{AtomicBool, AtomicU64, Ordering},
    time::Duration,
};

use futures::{FutureExt as _, StreamExt as _, stream::FuturesUnordered};
use tokio::{sync::Notify, time::Instant};

use crate::{
    decision::{self, TimerAction},
    engine::Engine,
    store::{ClaimedTimer, StoreError},
};

/// How long a claim holds: far longer than any action takes.
const LEASE: Duration = Duration::from_secs(30);

/// How many timers act at once: a store that commits in groups carries them in few commits.
const AT_ONCE: usize = 64;

/// How often signs of life are looked through during a sweep.
const SIGNS: Duration = Duration::from_secs(1);

/// How long a sweep that a commit asked for waits for more of them.
const GATHER: Duration = Duration::from_millis(5);

/// What one sweep did.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Swept {
    /// Timers that were claimed and acted on. What sends to the world counts when it is handed to the
    /// [outbound executor](crate::outbound), which counts what comes of it.
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

/// Tells the worker of a commit that left something to do at once, and when to do nothing more.
#[derive(Debug, Default)]
pub(crate) struct DueNow {
    soon: Notify,
    stopped: AtomicBool,
}

impl DueNow {
    /// Something is due. It is not lost while the worker is busy.
    pub(crate) fn tell(&self) {
        self.soon.notify_one();
    }

    fn stop(&self) {
        self.stopped.store(true, Ordering::SeqCst);
        self.soon.notify_one();
    }

    fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::SeqCst)
    }
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
    /// Timers act side by side, and one that fails does not stop the others. What sends to the world is handed over and
    /// not waited for: [`outbound_idle`](Engine::outbound_idle) does that.
    ///
    /// # Errors
    ///
    /// If the store cannot be asked for timers.
    pub async fn run_due_timers(&self) -> Result<Swept, StoreError> {
        let mut signs_written = None;
        let mut swept = Swept::default();
        let mut lag = Duration::ZERO;
        let mut acting = FuturesUnordered::new();
        loop {
            // A sweep goes on for as long as something is due, and signs of life are due as well.
            if signs_written.is_none_or(|at: Instant| at.elapsed() >= SIGNS) {
                self.write_signs_of_life().await;
                signs_written = Some(Instant::now());
            }
            let room = if self.inner.due_now.is_stopped() { 0 } else { AT_ONCE.saturating_sub(acting.len()) };
            let claimed = self.inner.store.claim_timers(room, LEASE).await;
            let timers = match claimed {
                Ok(claimed) => {
                    lag = claimed.timers.iter().map(|timer| claimed.now.since(timer.due)).fold(lag, Duration::max);
                    claimed.timers
                }
                // What acts already is not left half way.
                Err(error) => {
                    while let Some(well) = acting.next().await {
                        self.count(&mut swept, well);
                    }
                    return Err(error);
                }
            };
            let found = !timers.is_empty();
            if found {
                self.inner.sweeps.lagged(lag);
            } else if acting.is_empty() {
                return Ok(swept);
            }
            acting.extend(timers.into_iter().map(|timer| self.act(timer)));
            // More is claimed while the slower half still acts; once nothing is due, all of it ends first.
            let still = if found { AT_ONCE / 2 } else { 0 };
            while acting.len() > still
                && let Some(well) = acting.next().await
            {
                self.count(&mut swept, well);
            }
        }
    }

    /// Ends [`run_timers`](Self::run_timers): no timer is claimed from now on, and what acts already is not left half way,
    /// so that nothing has to wait for a claim to lapse. For a server that stops; there is no way back.
    pub fn stop_timers(&self) {
        self.inner.due_now.stop();
    }

    /// Sweeps until [`stop_timers`](Self::stop_timers) or until the returned future is dropped: at every `interval`, and soon after a commit that left something to
    /// do at once.
    pub async fn run_timers(&self, interval: Duration) {
        let mut ticks = tokio::time::interval(interval);
        ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        let mut healthy = true;
        while !self.inner.due_now.is_stopped() {
            tokio::select! {
                // Both come to a sweep, so whichever comes first may go first: always the same one, for whoever replays.
                biased;
                _ = ticks.tick() => {}
                () = self.inner.due_now.soon.notified() => tokio::time::sleep(GATHER).await,
            }
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

    fn count(&self, swept: &mut Swept, well: bool) {
        self.inner.sweeps.acted(well);
        let counter = if well { &mut swept.acted } else { &mut swept.failed };
        *counter = counter.saturating_add(1);
    }

    /// Acts on one timer, and tells whether that went well. A panic is a defect that stops this timer alone.
    async fn act(&self, timer: ClaimedTimer) -> bool {
        let key = timer.key.clone();
        AssertUnwindSafe(self.act_on(timer)).catch_unwind().await.unwrap_or_else(|_| {
            tracing::error!(%key, "a timer panicked; it comes back when its claim lapses");
            false
        })
    }

    async fn act_on(&self, timer: ClaimedTimer) -> bool {
        let action = decision::read_action(&timer.action);
        let ClaimedTimer { tenant, key, epoch, .. } = timer.clone();
        if let Ok(action) = action
            && let Some(destination) = action.destination()
        {
            self.hand_over(timer, action, destination);
            return true;
        }
        let outcome = match action {
            Ok(TimerAction::Expire { request }) => self.expire(tenant, request, key, epoch).await,
            Ok(TimerAction::Lapse { request }) => self.lapse(tenant, request, key, epoch).await,
            Ok(TimerAction::LapseLease { waiter }) => self.lapse_lease(tenant, waiter, key, epoch).await,
            Ok(TimerAction::LapseSession { session }) => self.lapse_session(tenant, session, key, epoch).await,
            // Sent, and so handed over above.
            Ok(TimerAction::CloseSession { .. }) => return true,
            Ok(TimerAction::PurgeReplays) => self.purge_replays(tenant, key, epoch).await,
            Ok(TimerAction::WakePushes { endpoint }) => self.wake_pushes(tenant, endpoint, key, epoch).await,
            Ok(TimerAction::Tend { request }) => self.tend(tenant, request, key, epoch).await,
            // Whatever sends was handed over above.
            Ok(TimerAction::Push { .. } | TimerAction::SendDelivery { .. } | TimerAction::TellChange { .. }) => Ok(()),
            Err(error) => {
                tracing::error!(key = %timer.key, %error, "a timer says nothing that this version understands");
                return false;
            }
        };
        // A failure is told where it happened; what is left is a race that the other side won.
        if let Err(error) = &outcome {
            tracing::debug!(key = %timer.key, %error, "a timer could not act; it comes back when its claim lapses");
        }
        outcome.is_ok()
    }
}
