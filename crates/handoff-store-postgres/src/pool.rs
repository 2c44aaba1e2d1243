//! Connections that are kept open between calls.
//!
//! The pool that comes with sqlx asks each connection that is given back whether it still lives, and nothing turns that off:
//! one more round trip for every call, of which a read is one. Here a connection is trusted after a call that went well, and
//! closed after any other. The one that was given back last is handed out first, so that few are warm rather than all tepid.

use std::{
    ops::{Deref, DerefMut},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use sqlx::{ConnectOptions as _, PgConnection, postgres::PgConnectOptions};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::{
    error::{Failure, no_connection_left},
    gate::Gate,
    link::within,
};

/// How long a connection is used at the most, so that a database that moved is found in the end.
const LIFETIME: Duration = Duration::from_secs(1800);

/// How long a connection may lie unused: what stands in between forgets those that say nothing.
const IDLE: Duration = Duration::from_secs(600);

/// How soon a connection is looked for again while the database has none left.
const AGAIN: Duration = Duration::from_millis(20);

/// Connections, and how many there may be. Clones share them.
#[derive(Clone, Debug)]
pub(crate) struct Pool(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    address: PgConnectOptions,
    gate: Gate,
    room: Arc<Semaphore>,
    idle: Mutex<Vec<Kept>>,
    acquire_within: Duration,
}

#[derive(Debug)]
struct Kept {
    connection: PgConnection,
    opened: Instant,
    used: Instant,
}

/// A connection that is in use. It is closed when this is dropped, unless it is given back.
#[derive(Debug)]
pub(crate) struct Lease {
    kept: Kept,
    pool: Arc<Inner>,
    _place: OwnedSemaphorePermit,
}

impl Pool {
    /// Connects to nothing yet.
    pub(crate) fn new(address: PgConnectOptions, gate: Gate, connections: u32, acquire_within: Duration) -> Self {
        let room = usize::try_from(connections.max(1)).unwrap_or(1);
        let room = Arc::new(Semaphore::new(room));
        Self(Arc::new(Inner { address, gate, room, idle: Mutex::default(), acquire_within }))
    }

    /// A connection that lies ready, or a new one.
    pub(crate) async fn take(&self) -> Result<Lease, Failure> {
        let in_use = || Failure::Unable("every connection to the database is in use".to_owned());
        let room = Arc::clone(&self.0.room).acquire_owned();
        let place = tokio::time::timeout(self.0.acquire_within, room).await.map_err(|_| in_use())?;
        let place = place.map_err(|_| Failure::Unable("the store is closing".to_owned()))?;
        let until = Instant::now() + self.0.acquire_within;
        let kept = loop {
            if let Some(kept) = self.0.ready() {
                break kept;
            }
            let connecting = async { Ok(self.0.address.connect().await) };
            match within(self.0.acquire_within, connecting).await? {
                Ok(connection) => break Kept { connection, opened: Instant::now(), used: Instant::now() },
                // The database has given away all that it has, some of them to us: one of ours comes back soon.
                Err(error) if no_connection_left(&error) && Instant::now() < until => tokio::time::sleep(AGAIN).await,
                Err(error) => return Err(error.into()),
            }
        };
        Ok(Lease { kept, pool: Arc::clone(&self.0), _place: place })
    }
}

impl Inner {
    /// The connection that was used last, of those that can still be used.
    fn ready(&self) -> Option<Kept> {
        let mut idle = self.idle();
        idle.retain(|kept| {
            let age = kept.opened.elapsed();
            kept.used.elapsed() < IDLE && age < LIFETIME && !self.gate.outdates(age)
        });
        idle.pop()
    }

    fn idle(&self) -> MutexGuard<'_, Vec<Kept>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Lease {
    /// Lets others use the connection: the last call on it went well, and it is in no transaction.
    pub(crate) fn give_back(self) {
        let Self { mut kept, pool, _place } = self;
        kept.used = Instant::now();
        pool.idle().push(kept);
    }
}

impl Deref for Lease {
    type Target = PgConnection;

    fn deref(&self) -> &PgConnection {
        &self.kept.connection
    }
}

impl DerefMut for Lease {
    fn deref_mut(&mut self) -> &mut PgConnection {
        &mut self.kept.connection
    }
}
