//! Who may send now: a few to each destination, and those that are slow apart from those that are not.
//!
//! A destination begins with a little, has more with each success, and is down to one after a failure. Whether it is
//! *slow* is another matter: there is a lane for destinations that answer promptly, with whatever they answer, and one for
//! those that do not. A send begins in the lane of what its destination did last, a destination that is not known among
//! the prompt; one that has not ended after a moment makes its destination slow and moves over. So receivers that hang,
//! however many, and known to hang or not, keep nobody waiting for longer than that moment, and one that merely failed is
//! not behind them.

use std::{
    collections::HashMap,
    pin::pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use handoff_protocol::digest::Digest;
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    time::Instant,
};

/// How many sends run at once to destinations that answer promptly, or were never tried.
const PROMPT: usize = 192;
/// How many run at once to destinations that do not.
const SLOW: usize = 384;
/// How long an answer may take to be prompt.
const MOMENT: Duration = Duration::from_millis(500);
/// How many run at once to a destination that was never tried.
const AT_FIRST: usize = 1;
/// How many run at once to one destination at the most.
const AT_MOST: usize = 8;
/// How many wait for one destination, and for how long, before they are put off. Together with the time of a send, the
/// patience is well below the lease of a claim.
const TRUSTED: Queue = Queue { most: 4_096, patience: Duration::from_secs(12) };
/// The same for a destination that failed: its queue hardly moves, so waiting in it is in vain.
const DOUBTFUL: Queue = Queue { most: 64, patience: Duration::from_secs(2) };
/// How many destinations are remembered.
const REMEMBERED: usize = 10_000;

/// A queue before a destination.
#[derive(Clone, Copy, Debug)]
struct Queue {
    most: usize,
    patience: Duration,
}

/// The places of all destinations.
#[derive(Debug)]
pub(super) struct Places {
    prompt: Arc<Semaphore>,
    slow: Arc<Semaphore>,
    destinations: Mutex<HashMap<Digest, Destination>>,
}

#[derive(Debug)]
struct Destination {
    gate: Arc<Semaphore>,
    /// How many may run. INVARIANT: the gate has this many permits and `surplus` more.
    limit: usize,
    /// Permits to withdraw when they come back.
    surplus: usize,
    /// Whether it took nothing when it was last tried.
    failed: bool,
    /// Whether it did not answer promptly when it was last tried, or does not now.
    slow: bool,
    /// How many wait or run.
    present: usize,
}

/// Somebody who waits or sends; dropping it gives the place back.
#[derive(Debug)]
struct Presence {
    places: Arc<Places>,
    destination: Digest,
}

/// A place to send from.
#[derive(Debug)]
pub(super) struct Place {
    gate: Option<OwnedSemaphorePermit>,
    lane: OwnedSemaphorePermit,
    is_in_slow_lane: bool,
    began: Instant,
    presence: Presence,
}

impl Default for Places {
    fn default() -> Self {
        Self {
            prompt: Arc::new(Semaphore::new(PROMPT)),
            slow: Arc::new(Semaphore::new(SLOW)),
            destinations: Mutex::new(HashMap::new()),
        }
    }
}

impl Places {
    /// Waits a little for a place to send to a destination; none if there is none in that time.
    pub(super) async fn take(self: &Arc<Self>, destination: Digest) -> Option<Place> {
        let (presence, gate, patience) = self.enter(destination)?;
        let taken = async {
            let gate = gate.acquire_owned().await.ok()?;
            // Judged now: it may have become slow while this one waited.
            let is_slow = self.is_slow(destination);
            let lane = Arc::clone(if is_slow { &self.slow } else { &self.prompt });
            Some((gate, lane.acquire_owned().await.ok()?, is_slow))
        };
        let (gate, lane, is_in_slow_lane) = tokio::time::timeout(patience, taken).await.ok()??;
        Some(Place { gate: Some(gate), lane, is_in_slow_lane, began: Instant::now(), presence })
    }

    fn enter(self: &Arc<Self>, destination: Digest) -> Option<(Presence, Arc<Semaphore>, Duration)> {
        let mut destinations = self.lock();
        if destinations.len() >= REMEMBERED {
            destinations.retain(|_, known| known.present > 0);
        }
        let known = destinations.entry(destination).or_insert_with(Destination::unknown);
        let queue = if known.failed { DOUBTFUL } else { TRUSTED };
        if known.present >= known.limit.saturating_add(queue.most) {
            return None;
        }
        known.present = known.present.saturating_add(1);
        let gate = Arc::clone(&known.gate);
        drop(destinations);
        Some((Presence { places: Arc::clone(self), destination }, gate, queue.patience))
    }

    fn is_slow(&self, destination: Digest) -> bool {
        self.lock().get(&destination).is_some_and(|known| known.slow)
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Digest, Destination>> {
        self.destinations.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Destination {
    fn unknown() -> Self {
        Self {
            gate: Arc::new(Semaphore::new(AT_FIRST)),
            limit: AT_FIRST,
            surplus: 0,
            failed: false,
            slow: false,
            present: 0,
        }
    }

    /// One more may run.
    fn widen(&mut self) {
        self.failed = false;
        if self.limit < AT_MOST {
            self.limit = self.limit.saturating_add(1);
            match self.surplus.checked_sub(1) {
                Some(less) => self.surplus = less,
                None => self.gate.add_permits(1),
            }
        }
    }

    /// Only one may run.
    fn narrow(&mut self) {
        self.failed = true;
        let less = self.limit.saturating_sub(1);
        let withdrawn = self.gate.forget_permits(less);
        self.surplus = self.surplus.saturating_add(less.saturating_sub(withdrawn));
        self.limit = 1;
    }
}

impl Place {
    /// Sends from this place, and leaves the prompt lane once that takes too long.
    pub(super) async fn run<S: Future>(&mut self, send: S) -> S::Output {
        self.began = Instant::now();
        let mut send = pin!(send);
        tokio::select! {
            biased;
            sent = &mut send => return sent,
            () = tokio::time::sleep(MOMENT) => {}
        }
        self.judge(|known| known.slow = true);
        if !self.is_in_slow_lane {
            let slow = Arc::clone(&self.presence.places.slow);
            tokio::select! {
                biased;
                sent = &mut send => return sent,
                Ok(place) = slow.acquire_owned() => {
                    self.lane = place;
                    self.is_in_slow_lane = true;
                }
            }
        }
        send.await
    }

    /// The receiver took it.
    pub(super) fn went_well(self) {
        self.ended(Destination::widen);
    }

    /// The receiver did not take it.
    pub(super) fn went_badly(self) {
        self.ended(Destination::narrow);
    }

    fn ended(self, verdict: fn(&mut Destination)) {
        let slow = self.began.elapsed() >= MOMENT;
        self.judge(|known| {
            known.slow = slow;
            verdict(known);
        });
    }

    fn judge(&self, verdict: impl FnOnce(&mut Destination)) {
        if let Some(known) = self.presence.places.lock().get_mut(&self.presence.destination) {
            verdict(known);
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut destinations = self.presence.places.lock();
        if let Some(known) = destinations.get_mut(&self.presence.destination)
            && let Some(less) = known.surplus.checked_sub(1)
            && let Some(permit) = self.gate.take()
        {
            known.surplus = less;
            permit.forget();
        }
    }
}

impl Drop for Presence {
    fn drop(&mut self) {
        if let Some(known) = self.places.lock().get_mut(&self.destination) {
            known.present = known.present.saturating_sub(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn taken(places: &Arc<Places>, how_many: usize) -> Vec<Place> {
        let mut taken = Vec::new();
        for _ in 0..how_many {
            taken.extend(places.take(Digest::of("somewhere")).await);
        }
        taken
    }

    #[tokio::test(start_paused = true)]
    async fn a_destination_has_more_places_with_each_success_and_one_after_a_failure() {
        let places = Arc::new(Places::default());
        let mut held = taken(&places, 3).await;
        assert_eq!(held.len(), AT_FIRST);
        for _ in 0..20 {
            held.pop().unwrap().went_well();
            held.extend(taken(&places, 1).await);
        }
        drop(held);
        let mut held = taken(&places, 20).await;
        assert_eq!(held.len(), AT_MOST);
        held.pop().unwrap().went_badly();
        held.pop().unwrap().went_badly();
        assert_eq!(taken(&places, 1).await.len(), 0, "six run still");
        drop(held);
        let mut held = taken(&places, 3).await;
        assert_eq!(held.len(), 1);
        held.pop().unwrap().went_well();
        let held = taken(&places, 3).await;
        assert_eq!(held.len(), 2);
    }

    #[tokio::test(start_paused = true)]
    async fn nothing_is_left_of_one_that_gave_up_waiting() {
        let places = Arc::new(Places::default());
        let held = taken(&places, 5).await;
        assert_eq!(places.lock().values().map(|known| known.present).collect::<Vec<_>>(), [held.len()]);
        drop(held);
        assert_eq!(places.lock().values().map(|known| known.present).collect::<Vec<_>>(), [0]);
        assert_eq!(places.prompt.available_permits(), PROMPT);
    }
}
