//! One physical transaction: it locks a tenant's head, decides what its members come to, writes that, and ends.
//!
//! While others wait, the end of one transaction begins the next with the same statement, on the same connection: the next
//! batch has its lock one round trip sooner.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    time::{Duration, Instant},
};

use handoff_engine::store::{Moment, Reads, StoreError};
use handoff_protocol::{id::TenantId, timestamp::Timestamp};
use sqlx::postgres::PgRow;

use crate::{
    batch::{Broken, Desk},
    codec,
    error::{Failure, commit_was_refused},
    flush,
    link::Question,
    load,
    member::{Member, Moments, panic_text},
    options::PostgresOptions,
    overlay::{Overlay, Union},
    pool::Lease,
};

/// How long steps may run one after the other before other tasks of this thread get their turn.
const TURN: Duration = Duration::from_millis(2);

/// An open transaction that is to hold the tenant's lock. It is taken back when this is dropped.
pub(crate) struct Physical<'a> {
    desk: Desk<'a>,
    tenant: TenantId,
    lease: Lease,
}

impl<'a> Physical<'a> {
    /// Begins, unless the end of the one before did.
    pub(crate) async fn begin(desk: Desk<'a>, tenant: TenantId, begun: Option<Lease>) -> Result<Self, Failure> {
        let lease = match begun {
            Some(lease) => lease,
            None => {
                let mut lease = desk.link.connection().await?;
                desk.link.answered(sqlx::raw_sql(desk.link.begin()).execute(&mut *lease)).await?;
                lease
            }
        };
        Ok(Self { desk, tenant, lease })
    }

    /// Decides and writes; answers when the head was moved for somebody who may wait, or nothing where nothing is written.
    pub(crate) async fn run(&mut self, members: &mut [Member]) -> Result<Option<i64>, Failure> {
        let overlay = self.decide(members).await?;
        if !overlay.is_changed() {
            return Ok(None);
        }
        self.write(&overlay).await.map(Some)
    }

    /// Makes it durable.
    pub(crate) async fn commit(mut self, begun: &mut Option<Lease>) -> Result<(), Broken> {
        let go_on = self.goes_on();
        let link = self.desk.link;
        let commit = sqlx::raw_sql(if go_on { "COMMIT AND CHAIN" } else { "COMMIT" }).execute(&mut *self.lease);
        let answered = tokio::select! {
            answered = tokio::time::timeout(link.answer_within(), commit) => answered.ok(),
            _ = link.gate().shut() => None,
        };
        match answered {
            Some(Ok(_)) => {
                self.leave(go_on, begun);
                Ok(())
            }
            Some(Err(error)) if commit_was_refused(&error) => Err(Failure::from(error).into()),
            Some(Err(error)) => Err(Broken::Unknown(Failure::from(error).to_string())),
            None => Err(Broken::Unknown("the database did not answer the commit".to_owned())),
        }
    }

    /// Takes it back. Nothing depends on how that goes: a connection on which it fails is closed.
    pub(crate) async fn roll_back(mut self, begun: &mut Option<Lease>) {
        let go_on = self.goes_on();
        let undo = sqlx::raw_sql(if go_on { "ROLLBACK AND CHAIN" } else { "ROLLBACK" }).execute(&mut *self.lease);
        if self.desk.link.answered(undo).await.is_ok() {
            self.leave(go_on, begun);
        }
    }

    /// Whether the next batch begins with the end of this one. Behind a pooler each says anew what limits it.
    fn goes_on(&self) -> bool {
        !self.desk.link.pooled() && (self.desk.more)()
    }

    fn leave(self, begun_again: bool, begun: &mut Option<Lease>) {
        if begun_again {
            *begun = Some(self.lease);
        } else {
            self.lease.give_back();
        }
    }

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
        self.desk.link.answered(question.fetch_all(&mut *self.lease)).await
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
