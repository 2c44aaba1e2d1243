//! What callers hand to the writer: a piece of work that shares a physical transaction with others.

use std::{
    any::Any,
    fmt,
    panic::{AssertUnwindSafe, catch_unwind},
};

use handoff_engine::store::{StoreError, Topic};
use handoff_protocol::id::TenantId;
use rusqlite::Connection;
use tokio::sync::oneshot;

use crate::{error::Failure, options::SqliteOptions};

/// A member of a batch. It may run several times; only the last run is answered.
pub(crate) trait Member: Send {
    /// Does the work inside an open transaction and keeps the outcome to answer it later.
    ///
    /// [`Outcome::Refused`] asks for all of its writes to be taken back.
    fn run(&mut self, connection: &Connection, options: &SqliteOptions) -> Result<Outcome, rusqlite::Error>;

    /// Replaces the outcome of the last run: its writes could not be made durable.
    fn fail(&mut self, error: StoreError);

    /// What to wake once the outcome is durable.
    fn wakes(&mut self) -> Option<(TenantId, Vec<Topic>)>;

    /// Whether content was deleted that must not stay behind in the log.
    fn erases(&self) -> bool;

    /// Answers the caller.
    fn answer(self: Box<Self>);
}

impl fmt::Debug for dyn Member {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Member")
    }
}

/// How a run of a member ended.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Outcome {
    /// Its writes, if it made any, are to stay.
    Done,
    /// Nothing that it wrote is to stay.
    Refused,
}

/// What a piece of work came to.
pub(crate) struct Finished<T> {
    pub(crate) outcome: Outcome,
    pub(crate) value: T,
    pub(crate) wakes: Option<(TenantId, Vec<Topic>)>,
    pub(crate) erases: bool,
}

/// Makes a member of a closure, and says where its caller waits.
pub(crate) fn member<T, F>(work: F) -> (Box<dyn Member>, oneshot::Receiver<Result<T, StoreError>>)
where
    T: Send + 'static,
    F: FnMut(&Connection, &SqliteOptions) -> Result<Finished<T>, Failure> + Send + 'static,
{
    let (reply, answer) = oneshot::channel();
    (Box::new(Work { work, last: None, reply }), answer)
}

struct Work<T, F> {
    work: F,
    last: Option<Result<Finished<T>, StoreError>>,
    reply: oneshot::Sender<Result<T, StoreError>>,
}

impl<T, F> Member for Work<T, F>
where
    T: Send,
    F: FnMut(&Connection, &SqliteOptions) -> Result<Finished<T>, Failure> + Send,
{
    fn run(&mut self, connection: &Connection, options: &SqliteOptions) -> Result<Outcome, rusqlite::Error> {
        // A step, a label's hook, a clock: whatever panics is this member's fault alone, and the thread goes on.
        let ran = catch_unwind(AssertUnwindSafe(|| (self.work)(connection, options)))
            .unwrap_or_else(|panic| Err(Failure::Member(StoreError::StepPanicked(panic_text(panic.as_ref())))));
        match ran {
            Ok(finished) => {
                let outcome = finished.outcome;
                self.last = Some(Ok(finished));
                Ok(outcome)
            }
            Err(Failure::Member(error)) => {
                self.fail(error);
                Ok(Outcome::Refused)
            }
            Err(Failure::Physical(error)) => Err(error),
        }
    }

    fn fail(&mut self, error: StoreError) {
        self.last = Some(Err(error));
    }

    fn wakes(&mut self) -> Option<(TenantId, Vec<Topic>)> {
        self.last.as_mut()?.as_mut().ok()?.wakes.take()
    }

    fn erases(&self) -> bool {
        matches!(&self.last, Some(Ok(finished)) if finished.erases)
    }

    fn answer(self: Box<Self>) {
        let answer = self
            .last
            .unwrap_or_else(|| Err(StoreError::Unavailable("the work was not done".to_owned())))
            .map(|finished| finished.value);
        // An error means that the caller went away; the commit stands without it.
        let _ = self.reply.send(answer);
    }
}

/// What a panic said, as far as it is text.
fn panic_text(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("without a message").to_owned()
}
