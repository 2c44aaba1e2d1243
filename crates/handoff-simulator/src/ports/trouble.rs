//! Whether a port does what it should now.

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use crate::{rng::Rng, scheduler::lock};

/// The trouble of a world. Clones share it.
#[derive(Clone)]
pub struct Trouble {
    shared: Arc<Shared>,
}

struct Shared {
    troubled: AtomicBool,
    /// Whether what is done takes a while.
    slow: bool,
    rng: Mutex<Rng>,
    ports: u64,
    receivers: u64,
    counted: Mutex<BTreeMap<&'static str, u64>>,
}

/// How a port behaves at a call.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Behavior {
    /// As it should.
    Well,
    /// It fails, and did nothing.
    Fails,
    /// It does what it should and says that it failed.
    DoesAndFails,
    /// It never answers.
    Hangs,
    /// It refuses for good.
    Refuses,
}

impl Trouble {
    /// None yet.
    #[must_use]
    pub fn new(seed: u64, ports: u64, receivers: u64) -> Self {
        Self::with(seed, ports, receivers, true)
    }

    /// None at all, not even the time that things take.
    #[must_use]
    pub fn none() -> Self {
        Self::with(0, 0, 0, false)
    }

    fn with(seed: u64, ports: u64, receivers: u64, slow: bool) -> Self {
        let shared = Shared {
            troubled: AtomicBool::new(false),
            slow,
            rng: Mutex::new(Rng::of(seed, "ports")),
            ports,
            receivers,
            counted: Mutex::default(),
        };
        Self { shared: Arc::new(shared) }
    }

    pub(super) fn set(&self, troubled: bool) {
        self.shared.troubled.store(troubled, Ordering::SeqCst);
    }

    /// Whether things go wrong at all now.
    #[must_use]
    pub fn is_on(&self) -> bool {
        self.shared.troubled.load(Ordering::SeqCst)
    }

    /// How a channel, a provider or a sink behaves at a call.
    pub(super) async fn port(&self, failed: &'static str, hung: &'static str) -> Behavior {
        self.behave(self.shared.ports, failed, hung).await
    }

    /// How a receiver behaves.
    pub(super) async fn receiver(&self, failed: &'static str, hung: &'static str) -> Behavior {
        self.behave(self.shared.receivers, failed, hung).await
    }

    async fn behave(&self, times: u64, failed: &'static str, hung: &'static str) -> Behavior {
        let (behavior, wait) = {
            let mut rng = lock(&self.shared.rng);
            let wait = rng.pick(&[0, 0, 1, 20, 400]).copied().unwrap_or(0);
            if !self.is_on() || !rng.chance(times) {
                (Behavior::Well, wait)
            } else {
                let kinds =
                    [(4, Behavior::Fails), (3, Behavior::DoesAndFails), (2, Behavior::Hangs), (1, Behavior::Refuses)];
                (rng.weigh(&kinds).unwrap_or(Behavior::Fails), wait)
            }
        };
        match behavior {
            Behavior::Well => {}
            Behavior::Hangs => self.count(hung),
            Behavior::Fails | Behavior::DoesAndFails | Behavior::Refuses => self.count(failed),
        }
        if behavior == Behavior::Hangs {
            // Longer than whoever asks will wait.
            tokio::time::sleep(Duration::from_secs(60)).await;
        } else if wait > 0 && self.shared.slow {
            tokio::time::sleep(Duration::from_millis(wait)).await;
        }
        behavior
    }

    pub(super) fn count(&self, name: &'static str) {
        let mut counted = lock(&self.shared.counted);
        let times = counted.entry(name).or_default();
        *times = times.saturating_add(1);
    }

    pub(super) fn counted(&self) -> BTreeMap<&'static str, u64> {
        lock(&self.shared.counted).clone()
    }
}
