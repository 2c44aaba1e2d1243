//! A caller's transaction on its way through a batch.

use std::{
    any::Any,
    panic::{AssertUnwindSafe, catch_unwind},
};

use handoff_engine::store::{Loaded, Moment, Reads, Step, StoreError, Topic, Transacted, Transaction, WriteSet};
use handoff_protocol::timestamp::Timestamp;
use tokio::sync::oneshot;

use crate::overlay::{Overlay, Refusal};

/// How often a step runs before it counts as one that never has enough.
const MAX_RUNS: usize = 16;

/// A transaction, and who waits for it. It may run several times; only the last run is answered.
pub(crate) struct Member {
    transaction: Transaction,
    reads: Reads,
    runs: usize,
    outcome: Option<Result<Done, StoreError>>,
    reply: oneshot::Sender<Result<Transacted, StoreError>>,
}

/// What a transaction came to.
struct Done {
    transacted: Transacted,
    topics: Vec<Topic>,
}

/// Draws the moment of a run.
pub(crate) trait Moments {
    /// The store's time and fresh entropy.
    fn draw(&self) -> Result<Moment, StoreError>;
}

impl Member {
    /// A member, and where its caller waits.
    pub(crate) fn new(transaction: Transaction) -> (Self, oneshot::Receiver<Result<Transacted, StoreError>>) {
        let (reply, answer) = oneshot::channel();
        let reads = transaction.reads.clone();
        (Self { transaction, reads, runs: 0, outcome: None, reply }, answer)
    }

    /// Begins again from the start.
    pub(crate) fn reset(&mut self) {
        self.reads.clone_from(&self.transaction.reads);
        self.runs = 0;
        self.outcome = None;
    }

    /// What its step wants loaded.
    pub(crate) const fn reads(&self) -> &Reads {
        &self.reads
    }

    /// Runs the step over what the batch has come to, and takes in what it returns; or says what has to be read first.
    pub(crate) fn run(&mut self, overlay: &mut Overlay, moments: &(impl Moments + ?Sized)) -> Result<(), Reads> {
        loop {
            let loaded = overlay.give(&self.reads)?;
            if self.runs == MAX_RUNS {
                self.fail(StoreError::TooManyReads);
                return Ok(());
            }
            self.runs = self.runs.saturating_add(1);
            match self.step(&loaded, moments) {
                Ok((Step::Need(more), _)) => self.want(more),
                Ok((Step::Reject, _)) => {
                    self.outcome = Some(Ok(Done { transacted: Transacted::Rejected, topics: Vec::new() }));
                    return Ok(());
                }
                Ok((Step::Commit(set), now)) => match self.commit(*set, now, overlay) {
                    None => return Ok(()),
                    Some(missing) => self.want(missing),
                },
                Err(error) => {
                    self.fail(error);
                    return Ok(());
                }
            }
        }
    }

    /// Whatever panics is this member's fault alone, and the others go on.
    fn step(&self, loaded: &Loaded, moments: &(impl Moments + ?Sized)) -> Result<(Step, Timestamp), StoreError> {
        let run = || {
            let moment = moments.draw()?;
            let now = moment.now;
            Ok(((self.transaction.step)(loaded, &moment), now))
        };
        catch_unwind(AssertUnwindSafe(run))
            .unwrap_or_else(|panic| Err(StoreError::StepPanicked(panic_text(panic.as_ref()))))
    }

    fn commit(&mut self, set: WriteSet, now: Timestamp, overlay: &mut Overlay) -> Option<Reads> {
        let outcome = match overlay.apply(set, now) {
            Ok((sequence, topics)) => Ok(Done { transacted: Transacted::Committed { sequence }, topics }),
            Err(Refusal::Missing(missing)) => return Some(missing),
            Err(Refusal::Misfit(error)) => Err(error),
        };
        self.outcome = Some(outcome);
        None
    }

    fn want(&mut self, more: Reads) {
        self.reads.records.extend(more.records);
        self.reads.indexes.extend(more.indexes);
        self.reads.chains.extend(more.chains);
    }

    /// Replaces the outcome of the last run: its writes could not be made durable.
    pub(crate) fn fail(&mut self, error: StoreError) {
        self.outcome = Some(Err(error));
    }

    /// What to wake once the outcome is durable.
    pub(crate) fn topics(&mut self) -> Vec<Topic> {
        match &mut self.outcome {
            Some(Ok(done)) => std::mem::take(&mut done.topics),
            _ => Vec::new(),
        }
    }

    /// Answers the caller.
    pub(crate) fn answer(self) {
        let undone = || Err(StoreError::Unavailable("the work was not done".to_owned()));
        let answer = self.outcome.unwrap_or_else(undone).map(|done| done.transacted);
        // An error means that the caller went away; the commit stands without it.
        let _ = self.reply.send(answer);
    }
}

/// What a panic said, as far as it is text.
pub(crate) fn panic_text(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("without a message").to_owned()
}
