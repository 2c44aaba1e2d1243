//! One physical transaction for many members of one tenant, and what happens when it fails.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    time::{Duration, Instant},
};

use handoff_engine::store::{Moment, Reads, StoreError};
use handoff_protocol::{id::TenantId, timestamp::Timestamp};
use sqlx::{Acquire as _, PgConnection, Postgres, Transaction, postgres::PgRow};

use crate::{
    codec,
    error::{Failure, commit_was_refused},
    flush,
    link::{self, ATTEMPTS, Link, Question},
    load,
    member::{Member, Moments, panic_text},
    options::PostgresOptions,
    overlay::{Overlay, Union},
    stats::Counters,
};

/// How long steps may run one after the other before other tasks of this thread get their turn.
const TURN: Duration = Duration::from_millis(2);

/// What a batch is run with.
#[derive(Clone, Copy)]
pub(crate) struct Desk<'a> {
    pub(crate) link: &'a Link,
    pub(crate) options: &'a PostgresOptions,
    pub(crate) counters: &'a Counters,
}

/// A physical transaction that is not known to be durable.
enum Broken {
    /// Nothing of it is there.
    Undone(Failure),
    /// Its answer was lost: nobody knows.
    Unknown(String),
}

impl From<Failure> for Broken {
    fn from(failure: Failure) -> Self {
        Self::Undone(failure)
    }
}

/// Runs the members under one commit. When that does not fit they run singly, so that one cannot spoil the others.
///
/// Afterwards every member knows its outcome, and none may be answered before: a refusal may rest on rows of a member
/// before it. Answers when the head was last moved for somebody who may wait.
pub(crate) async fn run(desk: Desk<'_>, tenant: TenantId, members: &mut [Member]) -> i64 {
    let broken = match attempt(desk, tenant, members).await {
        Ok(moved_at) => return moved_at,
        Err(broken) => broken,
    };
    let mut last_moved = 0;
    match broken {
        Broken::Undone(Failure::Misfit(error)) => {
            if let [member] = members {
                member.fail(error);
                return last_moved;
            }
            for member in members {
                match attempt(desk, tenant, std::slice::from_mut(member)).await {
                    Ok(moved_at) => last_moved = moved_at.max(last_moved),
                    Err(alone) => member.fail(alone.into()),
                }
            }
        }
        Broken::Undone(failure) => {
            let text = failure.to_string();
            members.iter_mut().for_each(|member| member.fail(StoreError::Unavailable(text.clone())));
        }
        Broken::Unknown(text) => members.iter_mut().for_each(|member| member.fail(StoreError::Unknown(text.clone()))),
    }
    last_moved
}

impl From<Broken> for StoreError {
    fn from(broken: Broken) -> Self {
        match broken {
            Broken::Undone(failure) => failure.into(),
            Broken::Unknown(text) => Self::Unknown(text),
        }
    }
}

/// Tries again what came second, and what lost its connection before anything was committed.
async fn attempt(desk: Desk<'_>, tenant: TenantId, members: &mut [Member]) -> Result<i64, Broken> {
    let mut attempts = ATTEMPTS;
    loop {
        attempts = attempts.saturating_sub(1);
        members.iter_mut().for_each(Member::reset);
        match once(desk, tenant, members).await {
            Err(Broken::Undone(Failure::Lost(reason))) => {
                desk.link.lost().await?;
                if attempts == 0 {
                    return Err(Failure::Lost(reason).into());
                }
            }
            Err(Broken::Undone(Failure::Raced(_))) if attempts > 0 => {}
            Err(Broken::Unknown(reason)) => {
                // What the connection was lost of concerns the others as well.
                let _ = desk.link.lost().await;
                return Err(Broken::Unknown(reason));
            }
            other => return other,
        }
    }
}

async fn once(desk: Desk<'_>, tenant: TenantId, members: &mut [Member]) -> Result<i64, Broken> {
    let mut connection = desk.link.connection().await?;
    let done = transact(desk, &mut connection, tenant, members).await;
    if matches!(done, Err(Broken::Unknown(_) | Broken::Undone(Failure::Lost(_)))) {
        link::discard(connection);
    }
    done
}

async fn transact(
    desk: Desk<'_>,
    connection: &mut PgConnection,
    tenant: TenantId,
    members: &mut [Member],
) -> Result<i64, Broken> {
    let answer_within = desk.link.answer_within();
    let transaction = link::within(answer_within, connection.begin()).await?;
    let mut physical = Physical { desk, tenant, transaction };
    let overlay = physical.decide(&mut *members).await?;
    if !overlay.is_changed() {
        let transaction = physical.transaction;
        // Nothing depends on it: a connection that fails here fails the next one who takes it.
        let _ = link::within(answer_within, transaction.rollback()).await;
        return Ok(0);
    }
    let moved_at = physical.write(&overlay).await?;
    let commit = tokio::time::timeout(answer_within, physical.transaction.commit()).await;
    match commit {
        Ok(Ok(())) => {
            desk.counters.committed(members.len());
            Ok(moved_at)
        }
        Ok(Err(error)) if commit_was_refused(&error) => Err(Failure::from(error).into()),
        Ok(Err(error)) => Err(Broken::Unknown(Failure::from(error).to_string())),
        Err(_) => Err(Broken::Unknown("the database did not answer the commit".to_owned())),
    }
}

/// An open transaction that is to hold the tenant's lock.
struct Physical<'a, 'c> {
    desk: Desk<'a>,
    tenant: TenantId,
    transaction: Transaction<'c, Postgres>,
}

impl Physical<'_, '_> {
    /// Locks the head, then runs every step over what the ones before it came to. A step that needs more waits for the end
    /// of the round, so that one round trip fetches what all of them need.
    async fn decide(&mut self, members: &mut [Member]) -> Result<Overlay, Failure> {
        let mut union = Union::default();
        members.iter().for_each(|member| union.add(member.reads().clone()));
        let reads = union.reads();
        let rows = self.fetch(load::question(&self.tenant, true, &reads)).await?;
        let (head, now) = load::head(&rows)?;
        let clock = Clock { options: self.desk.options, now, read: Instant::now() };
        let mut overlay = Overlay::new(self.tenant, head);
        load::note(&mut overlay, &reads, &rows)?;

        let mut waiting: Vec<&mut Member> = members.iter_mut().collect();
        let mut turn = Instant::now();
        loop {
            let mut union = Union::default();
            let mut again = Vec::new();
            for member in waiting {
                if let Err(missing) = member.run(&mut overlay, &clock) {
                    union.add(missing);
                    again.push(member);
                }
                if turn.elapsed() > TURN {
                    tokio::task::yield_now().await;
                    turn = Instant::now();
                }
            }
            if again.is_empty() {
                return Ok(overlay);
            }
            waiting = again;
            let reads = union.reads();
            self.read(&mut overlay, &reads).await?;
        }
    }

    async fn read(&mut self, overlay: &mut Overlay, reads: &Reads) -> Result<(), Failure> {
        let rows = self.fetch(load::question(&self.tenant, false, reads)).await?;
        Ok(load::note(overlay, reads, &rows)?)
    }

    /// Writes what the batch came to, and answers when the head was moved for somebody who may wait.
    async fn write(&mut self, overlay: &Overlay) -> Result<i64, Failure> {
        // The times of rows are those of their steps; this one is for blobs and erasures alone.
        let now = overlay.now().unix_millis();
        let hook = self.desk.options.on_label.as_ref().filter(|_| !overlay.labels.is_empty());
        let Some(hook) = hook else {
            let all = flush::all(&self.tenant, now, overlay)?;
            return moved_at(&self.fetch(all).await?);
        };
        self.fetch(flush::state(&self.tenant, now, overlay)?).await?;
        let called = catch_unwind(AssertUnwindSafe(|| overlay.labels.iter().for_each(|label| hook(label))));
        if let Err(panic) = called {
            // With several members this takes all of it back, and each runs again alone.
            return Err(Failure::Misfit(StoreError::StepPanicked(panic_text(panic.as_ref()))));
        }
        moved_at(&self.fetch(flush::rest(&self.tenant, overlay)?).await?)
    }

    async fn fetch(&mut self, question: Question<'_>) -> Result<Vec<PgRow>, Failure> {
        let question = question.persistent(!self.desk.link.pooled());
        link::within(self.desk.link.answer_within(), question.fetch_all(&mut *self.transaction)).await
    }
}

fn moved_at(rows: &[PgRow]) -> Result<i64, Failure> {
    rows.first().map_or(Ok(0), |row| Ok(codec::column(row, "moved_at")?))
}

/// The store's time from the database's at one moment on, and fresh entropy.
struct Clock<'a> {
    options: &'a PostgresOptions,
    now: Timestamp,
    read: Instant,
}

impl Moments for Clock<'_> {
    fn draw(&self) -> Result<Moment, StoreError> {
        let seed = self.options.entropy.seed().map_err(|error| StoreError::Unavailable(error.to_string()))?;
        let now = match &self.options.clock {
            Some(clock) => clock.now(),
            None => self.now.saturating_add(self.read.elapsed()),
        };
        Ok(Moment { now, seed })
    }
}
