//! The hub: one listener on the store's wakes, any number of callers waiting on topics.

use std::{
    collections::HashMap,
    sync::{Arc, PoisonError},
};

use futures::{
    StreamExt as _,
    future::{AbortHandle, abortable},
};
use handoff_protocol::id::TenantId;
use tokio::{sync::watch, time::Instant};

use crate::{
    spawn::Spawn,
    store::{Topic, Wake, WakeStream},
    sync::{Mutex, MutexGuard},
};

/// Passes the store's wakes on to whoever waits.
#[derive(Clone, Default)]
pub(crate) struct Hub {
    topics: Arc<Mutex<Topics>>,
    closed: watch::Sender<bool>,
}

type Topics = HashMap<(TenantId, Topic), watch::Sender<()>>;

/// A caller's wait on one topic. Subscribe, then read, then wait: a commit in between is not missed.
pub(crate) struct Subscription {
    hub: Hub,
    key: (TenantId, Topic),
    receiver: watch::Receiver<()>,
    closed: watch::Receiver<bool>,
}

impl Hub {
    /// Listens until the store is gone, or until the handle says so. The task ends with the stream.
    pub(crate) fn listen(&self, mut wakes: WakeStream, spawner: &dyn Spawn) -> AbortHandle {
        let hub = self.clone();
        let (listening, handle) = abortable(async move {
            while let Some(wake) = wakes.next().await {
                hub.pass_on(wake);
            }
        });
        spawner.spawn(Box::pin(async move {
            // Either end is as good.
            let _ = listening.await;
        }));
        handle
    }

    /// Waits on a topic from now on.
    pub(crate) fn subscribe(&self, tenant: TenantId, topic: Topic) -> Subscription {
        let key = (tenant, topic);
        let receiver = self.lock().entry(key.clone()).or_insert_with(|| watch::channel(()).0).subscribe();
        Subscription { hub: self.clone(), key, receiver, closed: self.closed.subscribe() }
    }

    /// Ends every wait, those to come included.
    pub(crate) fn close(&self) {
        self.closed.send_replace(true);
    }

    fn pass_on(&self, wake: Wake) {
        #[cfg(feature = "planted-faults")]
        if handoff_protocol::planted::Fault::WakesLost.is_planted() {
            return;
        }
        let topics = self.lock();
        match wake {
            Wake::Touched { tenant, topic } => {
                if let Some(sender) = topics.get(&(tenant, topic)) {
                    sender.send_replace(());
                }
            }
            Wake::Missed => topics.values().for_each(|sender| {
                sender.send_replace(());
            }),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Topics> {
        self.topics.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Subscription {
    /// Waits for the next wake and tells whether there was one before the deadline. Safe to drop at any point.
    pub(crate) async fn changed_before(&mut self, deadline: Instant) -> bool {
        tokio::select! {
            // A wake that came before the end is still worth a look.
            biased;
            // The sender lives in the hub for as long as this subscription does.
            Ok(()) = self.receiver.changed() => true,
            _ = self.closed.wait_for(|closed| *closed) => false,
            () = tokio::time::sleep_until(deadline) => false,
        }
    }
}

impl Subscription {
    /// Whether every wait has ended for good.
    pub(crate) fn is_closed(&self) -> bool {
        *self.closed.borrow()
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        let mut topics = self.hub.lock();
        // This subscription's own receiver still counts.
        let is_last = topics.get(&self.key).is_some_and(|sender| sender.receiver_count() <= 1);
        #[cfg(feature = "planted-faults")]
        let is_last = is_last || handoff_protocol::planted::Fault::LastListenerTakesAll.is_planted();
        if is_last {
            topics.remove(&self.key);
        }
    }
}

/// Every order of threads that commit, begin to wait, and stop.
#[cfg(all(test, feature = "shuttle"))]
mod shuttled {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use shuttle::{check_pct, check_random, thread};

    use super::*;

    const TOPIC: Topic = Topic::from_static("topic");

    fn wake() -> Wake {
        Wake::Touched { tenant: TenantId::System, topic: TOPIC }
    }

    /// Plays at random, and with few switches in places that are hard to come by.
    fn play(test: impl Fn() + Clone + Send + Sync + 'static) {
        check_random(test.clone(), 3_000);
        check_pct(test, 3_000, 3);
    }

    #[test]
    fn a_commit_after_a_look_is_never_missed() {
        play(|| {
            let hub = Hub::default();
            let commits = Arc::new(shuttle::sync::atomic::AtomicUsize::new(0));
            let waiters: Vec<_> = (0..2)
                .map(|_| {
                    let (hub, commits) = (hub.clone(), Arc::clone(&commits));
                    thread::spawn(move || {
                        let subscription = hub.subscribe(TenantId::System, TOPIC);
                        let seen = commits.load(Ordering::SeqCst);
                        (subscription, seen)
                    })
                })
                .collect();
            let store = {
                let (hub, commits) = (hub.clone(), Arc::clone(&commits));
                thread::spawn(move || {
                    for _ in 0..2 {
                        commits.fetch_add(1, Ordering::SeqCst);
                        hub.pass_on(wake());
                    }
                })
            };
            let waiters: Vec<_> = waiters.into_iter().map(|waiter| waiter.join().unwrap()).collect();
            store.join().unwrap();
            for (subscription, seen) in waiters {
                let woken = subscription.receiver.has_changed().unwrap();
                assert!(woken || seen == 2, "a waiter that saw {seen} of 2 commits sleeps");
            }
            assert!(hub.lock().is_empty(), "nothing is left of those who wait no more");
        });
    }

    #[test]
    fn whoever_stops_waiting_takes_no_wake_from_others() {
        play(|| {
            let hub = Hub::default();
            let first = hub.subscribe(TenantId::System, TOPIC);
            let leaver = thread::spawn(move || drop(first));
            let (others, woken) = (hub.clone(), Arc::new(AtomicUsize::new(0)));
            let count = Arc::clone(&woken);
            let comer = thread::spawn(move || {
                let second = others.subscribe(TenantId::System, TOPIC);
                others.pass_on(wake());
                count.fetch_add(usize::from(second.receiver.has_changed().unwrap()), Ordering::SeqCst);
                second
            });
            leaver.join().unwrap();
            let second = comer.join().unwrap();
            assert_eq!(woken.load(Ordering::SeqCst), 1);
            assert_eq!(hub.lock().len(), 1);
            drop(second);
            assert!(hub.lock().is_empty());
        });
    }

    #[test]
    fn a_hub_that_closes_closes_for_those_who_come_meanwhile() {
        play(|| {
            let hub = Hub::default();
            let (closing, coming) = (hub.clone(), hub.clone());
            let closer = thread::spawn(move || closing.close());
            let comer = thread::spawn(move || coming.subscribe(TenantId::System, TOPIC));
            closer.join().unwrap();
            let subscription = comer.join().unwrap();
            assert!(subscription.is_closed() && hub.subscribe(TenantId::System, TOPIC).is_closed());
        });
    }
}
