//! The writer: one thread that owns the only connection that writes.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use rusqlite::Connection;

use crate::{
    batch,
    member::Member,
    options::SqliteOptions,
    stats::Counters,
    sync::{Receiver, RecvTimeoutError},
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

/// Every order of threads that hand in work, of the one that does it, and of whoever closes the store.
#[cfg(all(test, feature = "shuttle"))]
mod shuttled {
    use futures::{FutureExt as _, StreamExt as _};
    use handoff_engine::store::{StoreError, Topic, Wake};
    use handoff_protocol::id::TenantId;
    use shuttle::{
        Config, Runner,
        scheduler::{PctScheduler, RandomScheduler},
        thread,
    };

    use super::*;
    use crate::{
        member::{Finished, Outcome, member},
        sync::channel,
    };

    const CALLERS: u8 = 3;

    fn writer(wakes: &Wakes, counters: &Arc<Counters>) -> Writer {
        let connection = Connection::open_in_memory().unwrap();
        connection.execute_batch("CREATE TABLE done (caller INTEGER, number INTEGER)").unwrap();
        let foreign = Foreign::new(&connection).unwrap();
        let options = SqliteOptions { batch: 2, ..SqliteOptions::default() };
        Writer { connection, options, counters: Arc::clone(counters), wakes: wakes.clone(), foreign, traces: false }
    }

    fn refused_of(caller: u8, number: u8) -> bool {
        caller == 0 && number == 1
    }

    /// Each caller hands in two pieces of work, the second of which is refused for one of them, and waits for both.
    fn hand_in() {
        let (wakes, counters) = (Wakes::new(), Arc::new(Counters::default()));
        let mut heard = wakes.subscribe();
        let (queue, members) = channel();
        let working = writer(&wakes, &counters);
        let writer = thread::spawn(move || working.work(&members));
        let callers: Vec<_> = (0..CALLERS)
            .map(|caller| {
                let (queue, mut mine) = (queue.clone(), wakes.subscribe());
                thread::spawn(move || {
                    (0..2_u8)
                        .map(|number| {
                            let (member, answer) = member(move |connection: &Connection, _: &SqliteOptions| {
                                let placed: i64 =
                                    connection.query_row("SELECT count(*) FROM done", [], |row| row.get(0))?;
                                connection.execute("INSERT INTO done VALUES (?1, ?2)", [caller, number])?;
                                let refused = refused_of(caller, number);
                                let outcome = if refused { Outcome::Refused } else { Outcome::Done };
                                let topic = Topic::new(format!("{caller} {number}"));
                                let wakes = (!refused).then(|| (TenantId::System, vec![topic]));
                                Ok(Finished { outcome, value: placed, wakes, erases: false })
                            });
                            queue.send(member).unwrap();
                            let placed = shuttle::future::block_on(answer).unwrap().unwrap();
                            let mut told = std::iter::from_fn(|| mine.next().now_or_never().flatten());
                            let topic = Topic::new(format!("{caller} {number}"));
                            let wake = Wake::Touched { tenant: TenantId::System, topic };
                            assert!(
                                refused_of(caller, number) || told.any(|told| told == wake),
                                "answered before its wake"
                            );
                            placed
                        })
                        .collect::<Vec<i64>>()
                })
            })
            .collect();
        drop(queue);
        let mut placed: Vec<Vec<i64>> = callers.into_iter().map(|caller| caller.join().unwrap()).collect();
        writer.join().unwrap();
        assert!(placed.iter().all(|two| two[0] < two[1]), "a caller's work is done in its order: {placed:?}");
        // What was refused left nothing: whoever came after it found the same.
        placed[0].truncate(1);
        let mut places = placed.concat();
        places.sort_unstable();
        assert_eq!(places, [0, 1, 2, 3, 4], "each ran once, over what the ones before left");
        let stats = counters.read();
        assert!(stats.largest_batch <= 2 && stats.commits <= stats.members, "{stats:?}");
        let mut topics = 0;
        while let Some(Some(wake)) = heard.next().now_or_never() {
            assert!(matches!(wake, Wake::Touched { .. }), "{wake:?}");
            topics += 1;
        }
        assert_eq!(topics, 5, "each commit wakes, and nothing else does");
    }

    /// A store that closes while somebody hands in work: it is done and answered, or was never taken.
    fn close() {
        let (wakes, counters) = (Wakes::new(), Arc::new(Counters::default()));
        let (queue, members) = channel();
        let working = writer(&wakes, &counters);
        let writer = thread::spawn(move || working.work(&members));
        let (member, answer) = member(|connection: &Connection, _: &SqliteOptions| {
            connection.execute("INSERT INTO done VALUES (1, 1)", [])?;
            Ok(Finished { outcome: Outcome::Done, value: (), wakes: None, erases: false })
        });
        let caller = thread::spawn(move || queue.send(member).is_ok());
        assert!(caller.join().unwrap(), "the writer takes work until nobody can hand any in");
        let answered: Result<(), StoreError> = shuttle::future::block_on(answer).unwrap();
        answered.unwrap();
        writer.join().unwrap();
        assert_eq!(counters.read().commits, 1);
    }

    fn play(test: fn()) {
        // SQLite needs more of a stack than shuttle gives.
        let config = || {
            let mut config = Config::new();
            config.stack_size = 0x20_0000;
            config
        };
        Runner::new(RandomScheduler::new(1_000), config()).run(test);
        Runner::new(PctScheduler::new(3, 1_000), config()).run(test);
    }

    #[test]
    fn what_is_handed_in_is_done_once_and_answered_after_its_wake() {
        play(hand_in);
    }

    #[test]
    fn a_writer_that_nobody_can_reach_any_more_ends_with_nothing_undone() {
        play(close);
    }
}
