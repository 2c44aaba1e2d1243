//! Growing to many receipts in one tenant: whether answers stay as fast, pages over the chain, its head, and the time
//! that it takes to verify all of it.

use std::time::Instant;

use super::{
    Size, Source,
    flow::{self, UNTIL_DONE},
    megabytes,
    pending::{self, List},
    settle::settle,
    verify,
};
use crate::{
    error::BenchError,
    load::{self, Bound, Names, Next, Worker},
    meter::Meter,
    outcome::Measurement,
    process,
    tally::Tally,
    target::Target,
};

/// In how many parts the store grows; each is measured, so that a slowdown shows.
const PARTS: u64 = 10;

/// How many callers let it grow.
const GROWERS: usize = 64;

/// How many receipts are few.
const FEW: u64 = 1_000;

/// How many answers are compared, with few receipts and with all.
const COMPARED: u64 = 8_000;

pub(super) async fn measure(source: &Source, size: &Size, tell: &mut dyn FnMut(Measurement)) -> Result<(), BenchError> {
    let (server, names) = (source.server().await?, Names::new()?);
    let target = server.target();
    let mut workers = load::open(target, GROWERS, 1).await?;
    grow("fill", FEW, target, &mut workers, &names).await?;
    let few = grow(&format!("answer, from {FEW} receipts"), COMPARED, target, &mut workers, &names).await?;
    let before = few.per_second();
    tell(few);
    let part = size.receipts / PARTS;
    for number in 1..=PARTS {
        let there = if number == 1 { FEW.saturating_add(COMPARED) } else { 0 };
        let name = format!("answer, to {} receipts", part.saturating_mul(number));
        let grown = grow(&name, part.saturating_sub(there), target, &mut workers, &names).await?;
        let used = process::memory(target.process).unwrap_or_default();
        let grown = grown.with("memory_mb", megabytes(used));
        let stored = server.spawned.as_ref().map_or(0, crate::spawn::Spawned::stored);
        tell(grown.with("stored_mb", megabytes(stored)));
    }
    let name = format!("answer, from {} receipts", size.receipts);
    let many = grow(&name, COMPARED, target, &mut workers, &names).await?;
    let slower = (1.0 - many.per_second() / before.max(f64::MIN_POSITIVE)) * 100.0;
    tell(many.with("slower_percent", slower));
    let Some(worker) = workers.first_mut() else { return Ok(()) };
    let name = |what: &str| format!("{what} at {} receipts", size.receipts);
    let (mut tally, meter) = (Tally::new()?, Meter::start(target));
    for _ in 0..200 {
        let began = Instant::now();
        let height = worker.client.chain_head().await?;
        tally.record(began.elapsed());
        if height < part.saturating_mul(PARTS) {
            return Err(BenchError::Nonsense(format!("the chain has {height} receipts; some are missing")));
        }
    }
    let head = meter.stop(&name("chain head"), &tally);
    tell(Measurement { workers: 1, tenants: 1, ..head });
    tell(pending::repeat(&name("first page"), target, worker, List::Receipts).await?);
    tell(pending::walk(&name("any page"), target, worker, List::Receipts).await?);
    if let Some(spawned) = &server.spawned {
        verify::measure(spawned, worker, size.receipts, tell).await?;
    }
    Ok(())
}

/// Raises so many, and measures how they are answered.
async fn grow(
    name: &str,
    receipts: u64,
    target: &Target,
    workers: &mut [Worker],
    names: &Names,
) -> Result<Measurement, BenchError> {
    let bound = Bound { operations: receipts, time: UNTIL_DONE };
    let raised = flow::fill_pending(target, 1, bound, names).await?;
    // What raising left to do is no part of answering.
    settle(target).await;
    load::drive(name, target, workers, bound, async |worker| {
        let id = raised.first().and_then(|ids| ids.borrow_mut().pop());
        let Some(id) = id else { return Ok(Next::Stop) };
        worker.client.answer(&id, names.key()).await?;
        Ok(Next::Go)
    })
    .await
}
