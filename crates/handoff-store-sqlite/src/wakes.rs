//! Wakes: what commits touched, of this store and of others on the same file.

use std::collections::HashSet;

use futures::StreamExt as _;
use handoff_engine::store::{Topic, Wake, WakeStream};
use handoff_protocol::id::TenantId;
use rusqlite::Connection;
use tokio::sync::broadcast;
use tokio_stream::wrappers::BroadcastStream;

/// How many wakes a subscriber may lag behind before it is told that it missed some.
const BUFFER: usize = 4096;

/// Where wakes are sent; the streams end when the last of these is gone.
#[derive(Clone, Debug)]
pub(crate) struct Wakes(broadcast::Sender<Wake>);

impl Wakes {
    pub(crate) fn new() -> Self {
        Self(broadcast::Sender::new(BUFFER))
    }

    pub(crate) fn subscribe(&self) -> WakeStream {
        Box::pin(BroadcastStream::new(self.0.subscribe()).map(|wake| wake.unwrap_or(Wake::Missed)))
    }

    /// Sends each topic of a batch once, in the order of the commits.
    pub(crate) fn touched(&self, topics: impl Iterator<Item = (TenantId, Vec<Topic>)>) {
        if self.0.receiver_count() == 0 {
            return;
        }
        let mut sent = HashSet::new();
        for (tenant, topics) in topics {
            for topic in topics {
                if sent.insert((tenant, topic.clone())) {
                    self.send(Wake::Touched { tenant, topic });
                }
            }
        }
    }

    pub(crate) fn missed(&self) {
        self.send(Wake::Missed);
    }

    fn send(&self, wake: Wake) {
        // An error means that nobody is subscribed.
        let _ = self.0.send(wake);
    }
}

/// Notices commits that were not made on the connection that asks.
#[derive(Debug)]
pub(crate) struct Foreign {
    seen: i64,
}

impl Foreign {
    pub(crate) fn new(connection: &Connection) -> rusqlite::Result<Self> {
        Ok(Self { seen: data_version(connection)? })
    }

    /// Whether others committed since the last call.
    pub(crate) fn committed(&mut self, connection: &Connection) -> rusqlite::Result<bool> {
        let version = data_version(connection)?;
        Ok(std::mem::replace(&mut self.seen, version) != version)
    }
}

fn data_version(connection: &Connection) -> rusqlite::Result<i64> {
    connection.prepare_cached("PRAGMA data_version")?.query_row([], |row| row.get(0))
}
