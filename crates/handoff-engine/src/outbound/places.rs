//! Who may send now: so many in all, so many to one destination, and few to one that failed.
//!
//! A destination begins with a little, has more with each success, and is down to one after a failure. One that failed
//! shares a lane of its own with the others that did, until it succeeds: receivers that hang, however many, take no
//! place from those that do not.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use handoff_protocol::digest::Digest;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// How many sends run at once, to destinations that did not fail when last tried.
const IN_ALL: usize = 512;
/// How many run at once to destinations that did.
const TO_DOUBTFUL: usize = 64;
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
    trusted: Arc<Semaphore>,
    doubtful: Arc<Semaphore>,
    destinations: Mutex<HashMap<Digest, Destination>>,
}

#[derive(Debug)]
struct Destination {
    gate: Arc<Semaphore>,
    /// How many may run. INVARIANT: the gate has this many permits and `surplus` more.
    limit: usize,
    /// Permits to withdraw when they come back.
    surplus: usize,
    failed: bool,
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
    _lane: OwnedSemaphorePermit,
    presence: Presence,
}

impl Default for Places {
    fn default() -> Self {
        Self {
            trusted: Arc::new(Semaphore::new(IN_ALL)),
            doubtful: Arc::new(Semaphore::new(TO_DOUBTFUL)),
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
            // Judged now: it may have failed while this one waited.
            let lane = Arc::clone(if self.failed(destination) { &self.doubtful } else { &self.trusted });
            Some((gate, lane.acquire_owned().await.ok()?))
        };
        let (gate, lane) = tokio::time::timeout(patience, taken).await.ok()??;
        Some(Place { gate: Some(gate), _lane: lane, presence })
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

    fn failed(&self, destination: Digest) -> bool {
        self.lock().get(&destination).is_some_and(|known| known.failed)
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Digest, Destination>> {
        self.destinations.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Destination {
    fn unknown() -> Self {
        Self { gate: Arc::new(Semaphore::new(AT_FIRST)), limit: AT_FIRST, surplus: 0, failed: false, present: 0 }
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
    /// The receiver took it.
    pub(super) fn went_well(self) {
        self.judge(Destination::widen);
    }

    /// The receiver did not take it.
    pub(super) fn went_badly(self) {
        self.judge(Destination::narrow);
    }

    fn judge(self, verdict: fn(&mut Destination)) {
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
        assert_eq!(places.trusted.available_permits(), IN_ALL);
    }
}
