//! Wakes: what commits touched, of this node and of others.
//!
//! Waiters of this node are woken directly. Other nodes are told by a notification after the commit, on a connection of its
//! own: inside the transaction it would make every commit of the database wait for every other.

mod catch_up;
mod listener;
mod notice;
mod notifier;

use std::{
    collections::{HashMap, HashSet},
    hash::{BuildHasher as _, Hasher as _, RandomState},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use futures::StreamExt as _;
use handoff_engine::store::{Topic, Wake, WakeStream};
use handoff_protocol::id::TenantId;
use tokio::sync::{Notify, broadcast};
use tokio_stream::wrappers::BroadcastStream;

use self::notice::Told;
pub(crate) use self::{
    catch_up::catch_up,
    listener::{Hearing, listen},
    notifier::notify,
};

/// How many wakes a subscriber may lag behind before it is told that it missed some.
const BUFFER: usize = 4096;

/// How many wakes may wait to be told to other nodes before these are told only that they missed some.
const BACKLOG: usize = 10_000;

/// The channel that nodes of one database share.
const CHANNEL: &str = "handoff_wakes";

/// Where wakes are sent; the streams end when the last of these is gone.
#[derive(Clone, Debug)]
pub(crate) struct Wakes(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    /// What this node is called among the others.
    node: String,
    here: broadcast::Sender<Wake>,
    /// What other nodes are to be told.
    pending: Mutex<Pending>,
    something: Notify,
    /// Of each tenant, the last move of its head that was told, by the database's time.
    heard: Mutex<HashMap<TenantId, i64>>,
}

#[derive(Debug, Default)]
struct Pending {
    touched: HashSet<(TenantId, Topic)>,
    /// When the heads of these tenants were last moved.
    moved: HashMap<TenantId, i64>,
    /// Whether some were dropped, or may have been told to nobody.
    missed: bool,
}

impl Wakes {
    pub(crate) fn new() -> Self {
        // Keys of a hasher are random in each process, which is all that is asked of a name.
        let node = format!("{:016x}", RandomState::new().build_hasher().finish());
        Self(Arc::new(Inner {
            node,
            here: broadcast::Sender::new(BUFFER),
            pending: Mutex::default(),
            something: Notify::new(),
            heard: Mutex::default(),
        }))
    }

    pub(crate) fn subscribe(&self) -> WakeStream {
        Box::pin(BroadcastStream::new(self.0.here.subscribe()).map(|wake| wake.unwrap_or(Wake::Missed)))
    }

    /// A commit of this node touched these: wakes waiters here, and lets other nodes be told. Each topic once.
    pub(crate) fn touched(&self, tenant: TenantId, moved_at: i64, topics: Vec<Topic>) {
        if topics.is_empty() {
            return;
        }
        self.heard(tenant, moved_at);
        let topics: HashSet<Topic> = topics.into_iter().collect();
        for topic in &topics {
            self.send(Wake::Touched { tenant, topic: topic.clone() });
        }
        let mut pending = self.pending();
        if pending.touched.len().saturating_add(topics.len()) > BACKLOG {
            pending.touched.clear();
            pending.missed = true;
        } else {
            pending.moved.insert(tenant, moved_at);
            pending.touched.extend(topics.into_iter().map(|topic| (tenant, topic)));
        }
        drop(pending);
        self.0.something.notify_one();
    }

    /// Every waiter of this node looks again.
    pub(crate) fn missed(&self) {
        self.send(Wake::Missed);
    }

    /// Another node committed.
    fn told_by_others(&self, told: Told) {
        for (tenant, moved_at) in told.moved {
            self.heard(tenant, moved_at);
        }
        told.wakes.into_iter().for_each(|wake| self.send(wake));
    }

    fn send(&self, wake: Wake) {
        // An error means that nobody is subscribed.
        let _ = self.0.here.send(wake);
    }

    /// Every other node is to look again: one may not have been told something.
    fn owe_a_look(&self) {
        self.pending().missed = true;
        self.0.something.notify_one();
    }

    fn pending(&self) -> MutexGuard<'_, Pending> {
        self.0.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn heard(&self, tenant: TenantId, moved_at: i64) {
        let mut heard = self.heard_of();
        let last = heard.entry(tenant).or_default();
        *last = moved_at.max(*last);
    }

    fn heard_of(&self) -> MutexGuard<'_, HashMap<TenantId, i64>> {
        self.0.heard.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
