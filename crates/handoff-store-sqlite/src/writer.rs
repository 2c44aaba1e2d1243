//! The writer: one thread that owns the only connection that writes.

use std::{
    sync::{
        Arc,
        mpsc::{Receiver, RecvTimeoutError},
    },
    time::{Duration, Instant},
};

use rusqlite::Connection;

use crate::{
    batch,
    member::Member,
    options::SqliteOptions,
    stats::Counters,
    wakes::{Foreign, Wakes},
};

/// What the writer's thread owns.
pub(crate) struct Writer {
    pub(crate) connection: Connection,
    pub(crate) options: SqliteOptions,
    pub(crate) counters: Arc<Counters>,
    pub(crate) wakes: Wakes,
    pub(crate) foreign: Foreign,
    /// Whether the log may hold content that was deleted.
    pub(crate) traces: bool,
}

impl Writer {
    /// Works until nobody can hand in work any more and all that was handed in is done.
    pub(crate) fn work(mut self, queue: &Receiver<Box<dyn Member>>) {
        let mut members = Vec::new();
        let mut look_at = Instant::now() + self.options.poll_foreign;
        loop {
            match queue.recv_timeout(look_at.saturating_duration_since(Instant::now())) {
                Ok(member) => {
                    members.push(member);
                    members.extend(queue.try_iter().take(self.options.batch.saturating_sub(1)));
                    self.commit(&mut members);
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
            if Instant::now() >= look_at {
                self.look_for_foreign_commits();
                self.clear_traces();
                look_at = Instant::now() + self.options.poll_foreign;
            }
        }
    }

    fn commit(&mut self, members: &mut Vec<Box<dyn Member>>) {
        batch::run(&self.connection, &self.options, &self.counters, members);
        self.wakes.touched(members.iter_mut().filter_map(|member| member.wakes()));
        self.traces |= members.iter().any(|member| member.erases());
        members.drain(..).for_each(Member::answer);
    }

    fn look_for_foreign_commits(&mut self) {
        match self.foreign.committed(&self.connection) {
            Ok(true) => self.wakes.missed(),
            Ok(false) => {}
            // Waking for nothing is harmless, not waking is not.
            Err(error) => {
                tracing::warn!(%error, "the store could not look for commits of other processes");
                self.wakes.missed();
            }
        }
    }
    /// Moves the log into the database and cuts it off, so that deleted content does not linger in it. While somebody
    /// reads an older state that cannot be done, and is tried again at the next look.
    fn clear_traces(&mut self) {
        if !self.traces {
            return;
        }
        let cleared = self.connection.busy_timeout(Duration::ZERO).and_then(|()| {
            self.connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get::<_, i64>(0))
        });
        self.traces = !matches!(cleared, Ok(0));
        if let Err(error) = self.connection.busy_timeout(self.options.busy_timeout) {
            tracing::warn!(%error, "the store could not set how long it waits for others");
        }
    }
}
