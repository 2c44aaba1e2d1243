//! The disk: everything that was written in the order of writing, and how much of it would survive a power cut.
//!
//! A change is in memory as soon as it is made, and durable once a sync that began after it has ended. Whoever was told of
//! a change, or read it, was made to wait for that. A power cut keeps some of what was not synced yet, from the front: what
//! is torn, and what lies behind it, is gone. Everything starts anew from what is left.

use std::sync::{Arc, Mutex};

use handoff_engine::{entropy::Entropy, store::StoreError};
use handoff_testkit::{
    MemoryStore, SeededEntropy,
    memory::{LogHook, Logged},
};

use super::observer::{Moment, Observer};
use crate::{
    scheduler::{Scheduler, lock},
    time::SimClock,
};

/// A store and its log.
pub struct Disk {
    clock: SimClock,
    entropy: Arc<dyn Entropy>,
    scheduler: Scheduler,
    log: Arc<Mutex<Log>>,
    store: Mutex<MemoryStore>,
    /// What was seen of it.
    pub observer: Arc<Mutex<Observer>>,
}

#[derive(Default)]
struct Log {
    entries: Vec<Logged>,
    synced: usize,
}

impl Disk {
    /// An empty disk.
    ///
    /// # Errors
    ///
    /// Never, for an empty log.
    pub fn new(clock: SimClock, seed: u64, scheduler: Scheduler) -> Result<Self, StoreError> {
        let (log, observer) = (Arc::<Mutex<Log>>::default(), Arc::<Mutex<Observer>>::default());
        let entropy: Arc<dyn Entropy> = Arc::new(SeededEntropy::new(seed ^ 0x5704_e5ee_d000_0000));
        let hook = hook(&log, &observer, &scheduler, &clock);
        let store = MemoryStore::recover(Arc::new(clock.clone()), Arc::clone(&entropy), hook, [])?;
        Ok(Self { clock, entropy, scheduler, log, store: Mutex::new(store), observer })
    }

    /// The store as it is now. It is another one after a power cut.
    #[must_use]
    pub fn store(&self) -> MemoryStore {
        lock(&self.store).clone()
    }

    /// The clock that the store goes by.
    #[must_use]
    pub fn clock(&self) -> &SimClock {
        &self.clock
    }

    /// How much was written.
    #[must_use]
    pub fn written(&self) -> usize {
        lock(&self.log).entries.len()
    }

    /// Whether so much of it is durable.
    #[must_use]
    pub fn is_durable(&self, written: usize) -> bool {
        lock(&self.log).synced >= written
    }

    /// A sync that began when so much was written has ended.
    pub fn synced(&self, written: usize) {
        let mut log = lock(&self.log);
        log.synced = log.synced.max(written.min(log.entries.len()));
    }

    /// Loses what was not synced, but for so many thousandths of it, and starts anew. The caller sees to it that nobody
    /// is left who saw what is lost.
    ///
    /// # Errors
    ///
    /// If what is left cannot be played again, which is a defect of the store in memory.
    pub fn power_cut(&self, thousandths: u64) -> Result<usize, StoreError> {
        let mut log = lock(&self.log);
        let unsynced = log.entries.len().saturating_sub(log.synced);
        let survive = u64::try_from(unsynced).unwrap_or(0).saturating_mul(thousandths) / 1_000;
        let keep = log.synced.saturating_add(usize::try_from(survive).unwrap_or(0));
        let lost = log.entries.len().saturating_sub(keep);
        #[cfg(feature = "planted-faults")]
        let keep = tear(&mut log.entries, keep);
        log.entries.truncate(keep);
        log.synced = keep;
        let entries = log.entries.clone();
        drop(log);
        lock(&self.observer).forget_from(keep);
        let hook = hook(&self.log, &self.observer, &self.scheduler, &self.clock);
        let store = MemoryStore::recover(Arc::new(self.clock.clone()), Arc::clone(&self.entropy), hook, &entries)?;
        *lock(&self.store) = store;
        Ok(lost)
    }
}

/// Leaves a half of the first commit that is lost, if that is planted, and says where the log ends then.
#[cfg(feature = "planted-faults")]
fn tear(entries: &mut [Logged], keep: usize) -> usize {
    if !handoff_protocol::planted::Fault::TornTailKept.is_planted() {
        return keep;
    }
    let Some(Logged::Wrote { set, .. }) = entries.get_mut(keep) else { return keep };
    set.events.clear();
    set.timers.clear();
    keep.saturating_add(1)
}

fn hook(log: &Arc<Mutex<Log>>, observer: &Arc<Mutex<Observer>>, scheduler: &Scheduler, clock: &SimClock) -> LogHook {
    let (log, observer, scheduler, clock) = (Arc::clone(log), Arc::clone(observer), scheduler.clone(), clock.clone());
    Arc::new(move |logged: Logged| {
        let mut log = lock(&log);
        let moment = Moment { step: scheduler.now(), place: log.entries.len(), millis: clock.millis() };
        lock(&observer).saw(&logged, moment);
        log.entries.push(logged);
    })
}
