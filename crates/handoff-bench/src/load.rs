//! Callers that work side by side, each on a connection of its own, one operation after another.
//!
//! All of them share one thread. That is enough to saturate a server on the same machine, and two threads would only
//! take the processor from it.

use std::{
    cell::{Cell, RefCell},
    time::{Duration, Instant},
};

use futures::future::try_join_all;

use crate::{
    error::BenchError,
    meter::{Meter, Spent},
    outcome::Measurement,
    tally::Tally,
    target::Target,
    wire::Client,
};

/// How much is to be done; whatever comes first ends it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bound {
    pub(crate) operations: u64,
    pub(crate) time: Duration,
}

/// A caller during its work.
pub(crate) struct Worker {
    pub(crate) client: Client,
    /// Which of the tenants it works in.
    pub(crate) tenant: usize,
}

/// Whether a caller goes on.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Next {
    /// The operation counts.
    Go,
    /// There was nothing left to do; it does not count.
    Stop,
}

/// Names that no other run used, for waiters and keys.
#[derive(Debug)]
pub(crate) struct Names {
    run: String,
    count: Cell<u64>,
}

impl Names {
    pub(crate) fn new() -> Result<Self, BenchError> {
        let mut bytes = [0_u8; 5];
        getrandom::fill(&mut bytes).map_err(|error| BenchError::Nonsense(error.to_string()))?;
        Ok(Self { run: bytes.iter().map(|byte| format!("{byte:02X}")).collect(), count: Cell::new(0) })
    }

    /// A waiter's name; it needs no escape anywhere.
    pub(crate) fn waiter(&self) -> String {
        format!("bench.{}.{}", self.run, self.next())
    }

    /// An idempotency key, as long as those of the published clients.
    pub(crate) fn key(&self) -> String {
        format!("{}{:016}", self.run, self.next())
    }

    fn next(&self) -> u64 {
        let next = self.count.get().wrapping_add(1);
        self.count.set(next);
        next
    }
}

/// Opens so many callers, spread over so many tenants.
pub(crate) async fn open(target: &Target, workers: usize, tenants: usize) -> Result<Vec<Worker>, BenchError> {
    let chosen = target.tenants(tenants)?;
    let mut opened = Vec::with_capacity(workers);
    for (tenant, credentials) in chosen.iter().enumerate().cycle().take(workers) {
        opened.push(Worker { client: Client::open(target, credentials).await?, tenant });
    }
    Ok(opened)
}

/// Lets the callers work until the bound, and measures each operation and what all of them cost.
pub(crate) async fn drive(
    name: &str,
    target: &Target,
    workers: &mut [Worker],
    bound: Bound,
    operation: impl AsyncFn(&mut Worker) -> Result<Next, BenchError>,
) -> Result<Measurement, BenchError> {
    let (count, tenants) = (workers.len(), tenants_of(workers));
    let (tally, spent) = work(target, workers, bound, operation).await?;
    Ok(Measurement { workers: count, tenants, ..spent.measurement(name, &tally) })
}

/// Lets the callers work as [`drive`] does, for a measurement that is made of several stretches.
pub(crate) async fn work(
    target: &Target,
    workers: &mut [Worker],
    bound: Bound,
    operation: impl AsyncFn(&mut Worker) -> Result<Next, BenchError>,
) -> Result<(Tally, Spent), BenchError> {
    let (left, total) = (Cell::new(bound.operations), RefCell::new(Tally::new()?));
    let meter = Meter::start(target);
    let end = Instant::now() + bound.time;
    let (left, total, operation) = (&left, &total, &operation);
    try_join_all(workers.iter_mut().map(|worker| async move {
        let mut tally = Tally::new()?;
        while let Some(less) = left.get().checked_sub(1) {
            let began = Instant::now();
            if began >= end {
                break;
            }
            left.set(less);
            if operation(worker).await? == Next::Stop {
                break;
            }
            tally.record(began.elapsed());
        }
        total.borrow_mut().add(&tally)
    }))
    .await?;
    Ok((total.borrow().clone(), meter.spent()))
}

/// In how many tenants these work.
fn tenants_of(workers: &[Worker]) -> usize {
    workers.iter().map(|worker| worker.tenant + 1).max().unwrap_or_default()
}
