//! The outbound executor: what timers send to the world, so that a slow receiver slows nobody else.
//!
//! The sweep hands over whatever does I/O and goes on. Each send is a task of its own that waits a little for a place
//! (see `places`) and is put off when it gets none. The claim of its timer stays exclusive meanwhile: patience and the
//! time of one send together are well within the lease.

mod places;

use std::{
    future::Future,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use handoff_protocol::digest::Digest;
use tokio::sync::watch;

use self::places::Places;
use crate::{engine::Engine, spawn::Spawn};

/// How many sends may wait or run at once before further ones are put off unseen.
const MOST_TASKS: usize = 16_384;

/// What one send came to.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Sent {
    /// The receiver took it.
    Well,
    /// The receiver did not take it.
    Badly,
    /// There was nothing to send any more.
    Nothing,
}

/// What the outbound executor of this engine did since it was built.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct OutboundStats {
    /// Sends that got a place.
    pub started: u64,
    /// Sends that the receiver took.
    pub succeeded: u64,
    /// Sends that it did not take.
    pub failed: u64,
    /// Sends that got no place in time and were put off.
    pub postponed: u64,
    /// Callback endpoints that were disabled (rule H-8).
    pub endpoints_disabled: u64,
}

/// Runs sends as tasks.
pub(crate) struct Outbound {
    spawner: Arc<dyn Spawn>,
    places: Arc<Places>,
    tasks: watch::Sender<usize>,
    closed: watch::Sender<bool>,
    started: AtomicU64,
    succeeded: AtomicU64,
    failed: AtomicU64,
    postponed: AtomicU64,
    endpoints_disabled: AtomicU64,
}

/// Counts a task for as long as it lives, however it ends.
struct Task(Arc<Outbound>);

impl Drop for Task {
    fn drop(&mut self) {
        self.0.tasks.send_modify(|tasks| *tasks = tasks.saturating_sub(1));
    }
}

impl Outbound {
    /// An executor whose sends are tasks of this runtime.
    pub(crate) fn new(spawner: Arc<dyn Spawn>) -> Self {
        Self {
            spawner,
            places: Arc::new(Places::default()),
            tasks: watch::Sender::new(0),
            closed: watch::Sender::new(false),
            started: AtomicU64::new(0),
            succeeded: AtomicU64::new(0),
            failed: AtomicU64::new(0),
            postponed: AtomicU64::new(0),
            endpoints_disabled: AtomicU64::new(0),
        }
    }

    /// Sends to a destination as soon as it has a place; runs `put_off` instead when it has none in time. Once the
    /// executor is closed neither runs, and the claim of the timer lapses.
    pub(crate) fn start<S, P>(self: &Arc<Self>, destination: Digest, send: S, put_off: P)
    where
        S: Future<Output = Sent> + Send + 'static,
        P: Future<Output = ()> + Send + 'static,
    {
        if *self.closed.borrow() {
            return;
        }
        let mut crowded = false;
        self.tasks.send_modify(|tasks| {
            crowded = *tasks >= MOST_TASKS;
            *tasks = tasks.saturating_add(1);
        });
        let task = Task(Arc::clone(self));
        self.spawner.spawn(Box::pin(async move {
            let outbound = &task.0;
            let mut closed = outbound.closed.subscribe();
            let place = async { if crowded { None } else { outbound.places.take(destination).await } };
            let place = tokio::select! {
                biased;
                _ = closed.wait_for(|closed| *closed) => return,
                place = place => place,
            };
            let Some(mut place) = place else {
                outbound.postponed.fetch_add(1, Ordering::Relaxed);
                put_off.await;
                return;
            };
            outbound.started.fetch_add(1, Ordering::Relaxed);
            match place.run(send).await {
                Sent::Well => {
                    outbound.succeeded.fetch_add(1, Ordering::Relaxed);
                    place.went_well();
                }
                Sent::Badly => {
                    outbound.failed.fetch_add(1, Ordering::Relaxed);
                    place.went_badly();
                }
                Sent::Nothing => drop(place),
            }
        }));
    }

    /// Counts an endpoint that was disabled.
    pub(crate) fn endpoint_disabled(&self) {
        self.endpoints_disabled.fetch_add(1, Ordering::Relaxed);
    }

    async fn idle(&self) {
        // The sender lives as long as this does.
        let _ = self.tasks.subscribe().wait_for(|tasks| *tasks == 0).await;
    }
}

impl Engine {
    /// What the outbound executor did, for whoever watches it.
    #[must_use]
    pub fn outbound_stats(&self) -> OutboundStats {
        let outbound = &self.inner.outbound;
        OutboundStats {
            started: outbound.started.load(Ordering::Relaxed),
            succeeded: outbound.succeeded.load(Ordering::Relaxed),
            failed: outbound.failed.load(Ordering::Relaxed),
            postponed: outbound.postponed.load(Ordering::Relaxed),
            endpoints_disabled: outbound.endpoints_disabled.load(Ordering::Relaxed),
        }
    }

    /// Waits until nothing is being sent and nothing waits to be. Tests call it after
    /// [`run_due_timers`](Engine::run_due_timers). Safe to drop at any point.
    pub async fn outbound_idle(&self) {
        self.inner.outbound.idle().await;
    }

    /// Sends nothing more, and waits up to `grace` for what is on its way. What is left comes back when the claims of its
    /// timers lapse, at this node or another. There is no way back: for a server that stops.
    pub async fn stop_sending(&self, grace: Duration) {
        let outbound = &self.inner.outbound;
        outbound.closed.send_replace(true);
        if tokio::time::timeout(grace, outbound.idle()).await.is_err() {
            tracing::warn!("some sends did not end in time; they will be repeated");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spawn::TokioSpawn;

    const SOON: Duration = Duration::from_secs(2);

    fn destination(name: u32) -> Digest {
        Digest::of(name.to_be_bytes())
    }

    fn counts(outbound: &Outbound) -> [u64; 4] {
        [&outbound.started, &outbound.succeeded, &outbound.failed, &outbound.postponed]
            .map(|count| count.load(Ordering::Relaxed))
    }

    #[tokio::test(start_paused = true)]
    async fn receivers_that_hang_keep_nobody_else_waiting() {
        let outbound = Arc::new(Outbound::new(Arc::new(TokioSpawn)));
        for hanging in 0..200 {
            for _ in 0..20 {
                let hang = async {
                    tokio::time::sleep(Duration::from_secs(10)).await;
                    Sent::Badly
                };
                outbound.start(destination(hanging), hang, async {});
            }
        }
        tokio::time::sleep(Duration::from_secs(1)).await;
        let began = tokio::time::Instant::now();
        let (sender, mut received) = tokio::sync::mpsc::unbounded_channel();
        for healthy in 1_000..1_800 {
            let sender = sender.clone();
            let send = async move {
                tokio::time::sleep(Duration::from_millis(20)).await;
                sender.send(began.elapsed()).unwrap();
                Sent::Well
            };
            outbound.start(destination(healthy), send, async {});
        }
        let mut slowest = Duration::ZERO;
        for _ in 0..800 {
            slowest = slowest.max(received.recv().await.unwrap());
        }
        assert!(slowest < Duration::from_secs(1), "{slowest:?}");
        outbound.idle().await;
        let [started, succeeded, failed, postponed] = counts(&outbound);
        assert_eq!((succeeded, started, started + postponed), (800, 800 + failed, 4_800));
        assert!(postponed > 3_000, "most of what is for the hanging is put off: {postponed}");
    }

    /// How long it takes until something is sent to a destination that answers after a while.
    async fn sent_after(outbound: &Arc<Outbound>, name: u32, sent: Sent) -> Duration {
        let began = tokio::time::Instant::now();
        let (sender, received) = tokio::sync::oneshot::channel();
        let send = async move {
            tokio::time::sleep(Duration::from_millis(20)).await;
            sender.send(began.elapsed()).unwrap();
            sent
        };
        outbound.start(destination(name), send, async {});
        received.await.unwrap()
    }

    #[tokio::test(start_paused = true)]
    async fn whoever_failed_promptly_is_not_behind_those_that_hang() {
        let outbound = Arc::new(Outbound::new(Arc::new(TokioSpawn)));
        for _ in 0..2 {
            for hanging in 0..150 {
                let hang = async {
                    tokio::time::sleep(Duration::from_secs(10)).await;
                    Sent::Badly
                };
                outbound.start(destination(hanging), hang, async {});
            }
            tokio::time::sleep(Duration::from_secs(1)).await;
            for sent in [Sent::Badly, Sent::Badly, Sent::Well] {
                let took = sent_after(&outbound, 1_000, sent).await;
                assert!(took < Duration::from_millis(100), "{took:?}");
            }
            outbound.idle().await;
        }
    }

    #[tokio::test(start_paused = true)]
    async fn more_receivers_that_hang_than_there_are_places_keep_others_waiting_for_a_moment() {
        let outbound = Arc::new(Outbound::new(Arc::new(TokioSpawn)));
        for hanging in 0..400 {
            let hang = async {
                tokio::time::sleep(Duration::from_secs(10)).await;
                Sent::Badly
            };
            outbound.start(destination(hanging), hang, async {});
        }
        let mut slowest = Duration::ZERO;
        for healthy in 1_000..1_100 {
            slowest = slowest.max(sent_after(&outbound, healthy, Sent::Well).await);
        }
        assert!(slowest < Duration::from_millis(1_500), "{slowest:?}");
        // Once they are known to hang, it is not even that.
        outbound.idle().await;
        for hanging in 0..400 {
            let hang = async {
                tokio::time::sleep(Duration::from_secs(10)).await;
                Sent::Badly
            };
            outbound.start(destination(hanging), hang, async {});
        }
        let took = sent_after(&outbound, 1_000, Sent::Well).await;
        assert!(took < Duration::from_millis(100), "{took:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn a_burst_to_one_healthy_receiver_is_sent_and_not_put_off() {
        let outbound = Arc::new(Outbound::new(Arc::new(TokioSpawn)));
        for _ in 0..500 {
            let send = async {
                tokio::time::sleep(Duration::from_millis(5)).await;
                Sent::Well
            };
            outbound.start(destination(1), send, async {});
        }
        let began = tokio::time::Instant::now();
        outbound.idle().await;
        assert_eq!(counts(&outbound), [500, 500, 0, 0]);
        assert!(began.elapsed() < SOON, "{:?}", began.elapsed());
    }

    #[tokio::test(start_paused = true)]
    async fn once_closed_what_is_on_its_way_ends_and_the_rest_neither_sends_nor_is_put_off() {
        let outbound = Arc::new(Outbound::new(Arc::new(TokioSpawn)));
        for _ in 0..10 {
            let send = async {
                tokio::time::sleep(Duration::from_secs(1)).await;
                Sent::Well
            };
            let put_off = async { panic!("nothing is put off by a server that stops") };
            outbound.start(destination(1), send, put_off);
        }
        tokio::time::sleep(Duration::from_millis(1)).await;
        outbound.closed.send_replace(true);
        outbound.start(destination(2), async { Sent::Well }, async {});
        outbound.idle().await;
        let [started, succeeded, _, _] = counts(&outbound);
        assert_eq!(started, succeeded);
        assert!(started < 10, "{started}");
    }
}
