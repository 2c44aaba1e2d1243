//! The hub: one listener on the store's wakes, any number of callers waiting on topics.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
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
