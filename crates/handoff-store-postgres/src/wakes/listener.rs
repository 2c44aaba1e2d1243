//! Hears what other nodes committed.

use std::{
    collections::HashMap,
    time::{Duration, Instant},
};

use sqlx::postgres::{PgConnectOptions, PgListener, PgPoolOptions};
use tokio::time::{MissedTickBehavior, interval, sleep, timeout};

use super::{
    CHANNEL, Wakes,
    notice::{self, Notice},
};
use crate::gate::Gate;

/// How often a node speaks to itself.
const BEAT: Duration = Duration::from_secs(1);

/// How soon a connection that was lost is made again.
const RETRY: Duration = Duration::from_millis(250);

/// How a listener is kept.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hearing {
    /// How long a node's word to itself may take to come back.
    pub(crate) within: Duration,
    /// How often every waiter looks again while nothing can be heard.
    pub(crate) look_again: Duration,
}

/// Hears for as long as the store is there.
///
/// Whenever the connection is lost or made again every waiter looks again, since nobody knows what went unheard. It counts
/// as lost when it ends, and when a word that this node sends to itself over it does not come back: a connection that was
/// dropped in silence, or one that a pooler gave to somebody else, hears nothing and says nothing.
///
/// The words of other nodes to themselves are heard as well. A node that says nothing any more may have died between a commit
/// and its notification, so every waiter looks again once.
///
/// A database that falls silent is noticed here first, since nothing else speaks every second; so the gate looks, and calls
/// need not each find out for themselves.
pub(crate) async fn listen(wakes: Wakes, gate: Gate, address: PgConnectOptions, hearing: Hearing) {
    let mut ear = Ear { wakes, gate, hearing, told: false, others: HashMap::new() };
    let mut looked = Instant::now();
    loop {
        let reason = match timeout(hearing.within, open(&address)).await {
            Ok(Ok(mut listener)) => {
                ear.wakes.missed();
                let reason = ear.hear(&mut listener).await;
                ear.wakes.missed();
                looked = Instant::now();
                reason
            }
            Ok(Err(_)) => "there is no connection",
            Err(_) => "the database does not answer",
        };
        ear.tell_lost(reason);
        if looked.elapsed() >= hearing.look_again {
            ear.wakes.missed();
            looked = Instant::now();
        }
        sleep(RETRY).await;
    }
}

async fn open(address: &PgConnectOptions) -> sqlx::Result<PgListener> {
    // A listener wants a pool; this one has room for nothing else.
    let pool = PgPoolOptions::new().max_connections(1).test_before_acquire(false).connect_lazy_with(address.clone());
    let mut listener = PgListener::connect_with(&pool).await?;
    listener.ignore_pool_close_event(true);
    listener.eager_reconnect(false);
    // A node's word to itself need not survive a crash of the server.
    sqlx::query("SET synchronous_commit = off").execute(&mut listener).await?;
    listener.listen(CHANNEL).await?;
    Ok(listener)
}

struct Ear {
    wakes: Wakes,
    gate: Gate,
    hearing: Hearing,
    /// Whether it was said that nothing is heard.
    told: bool,
    /// When each other node was heard last.
    others: HashMap<String, Instant>,
}

impl Ear {
    /// Hears until the connection counts as lost, and says why it does.
    async fn hear(&mut self, listener: &mut PgListener) -> &'static str {
        let mut ticks = interval(self.beat());
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let (mut number, mut sent) = (0_u64, None::<Instant>);
        self.others.clear();
        loop {
            tokio::select! {
                heard = listener.try_recv() => match heard {
                    Ok(Some(notification)) => match notice::read(&self.wakes.0.node, notification.payload()) {
                        Notice::Told(told) => {
                            self.heard_of(notice::sender(notification.payload()));
                            self.wakes.told_by_others(told);
                        }
                        Notice::Own => {}
                        Notice::Beat(beat) if beat == number => {
                            sent = None;
                            self.tell_back();
                        }
                        Notice::Beat(_) => {}
                    },
                    Ok(None) => return "the connection ended",
                    Err(_) => return "the connection broke",
                },
                _ = ticks.tick() => {
                    self.look_for_the_dead();
                    match sent {
                        Some(sent) if sent.elapsed() > self.hearing.within => {
                            return "a notification to this node itself did not come back; a pooler may stand in between";
                        }
                        Some(_) => {}
                        None => {
                            number = number.wrapping_add(1);
                            let word = notice::beat(&self.wakes.0.node, number);
                            let say = sqlx::query("SELECT pg_notify($1, $2)").bind(CHANNEL).bind(word);
                            match timeout(self.hearing.within, say.execute(&mut *listener)).await {
                                Ok(Ok(_)) => sent = Some(Instant::now()),
                                Ok(Err(_)) => return "the connection broke",
                                Err(_) => return "the connection says nothing any more",
                            }
                        }
                    }
                }
            }
        }
    }

    /// How often nodes speak to themselves: more often where less patience was asked for.
    fn beat(&self) -> Duration {
        BEAT.min(self.hearing.within)
    }

    fn heard_of(&mut self, node: &str) {
        match self.others.get_mut(node) {
            Some(last) => *last = Instant::now(),
            None => drop(self.others.insert(node.to_owned(), Instant::now())),
        }
    }

    /// Lets every waiter look again where another node fell silent.
    fn look_for_the_dead(&mut self) {
        let known = self.others.len();
        // A node that lives is heard once a beat, now and then a little late.
        let within = self.hearing.within.max(self.beat() * 2);
        self.others.retain(|_, last| last.elapsed() <= within);
        if self.others.len() < known {
            tracing::debug!("another node fell silent; every waiter looks again");
            self.wakes.missed();
        }
    }

    fn tell_lost(&mut self, reason: &str) {
        if !self.told {
            self.gate.doubt();
            let every = self.hearing.look_again;
            tracing::warn!("notifications of other nodes are not heard: {reason}; waiters look again every {every:?}");
            self.told = true;
        }
    }

    fn tell_back(&mut self) {
        if self.told {
            tracing::info!("notifications of other nodes are heard again");
            self.told = false;
        }
    }
}
