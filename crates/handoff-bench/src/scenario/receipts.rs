//! Growing to many receipts in one tenant: whether answers stay as fast, pages over the chain, its head, and the time
//! that it takes to verify all of it.

use std::time::Instant;

use super::{
    Size, Source,
    flow::{self, UNTIL_DONE},
    megabytes,
    pending::{self, List},
    verify,
};
use crate::{
    error::BenchError,
    load::{self, Bound, Names, Next},
    meter::Meter,
    outcome::Measurement,
    process,
    tally::Tally,
};

/// In how many parts the store grows; each is measured, so that a slowdown shows.
const PARTS: u64 = 10;

/// How many callers let it grow.
const GROWERS: usize = 64;

pub(super) async fn measure(source: &Source, size: &Size, tell: &mut dyn FnMut(Measurement)) -> Result<(), BenchError> {
    let (server, names) = (source.server().await?, Names::new()?);
    let target = server.target();
    let mut workers = load::open(target, GROWERS, 1).await?;
    let part = size.receipts / PARTS;
    for number in 1..=PARTS {
        let bound = Bound { operations: part, time: UNTIL_DONE };
        let raised = flow::fill_pending(target, 1, bound, &names).await?;
        let name = format!("answer, to {} receipts", part.saturating_mul(number));
        let grown = load::drive(&name, target, &mut workers, bound, async |worker| {
            let id = raised.first().and_then(|ids| ids.borrow_mut().pop());
            let Some(id) = id else { return Ok(Next::Stop) };
            worker.client.answer(&id, names.key()).await?;
            Ok(Next::Go)
        })
        .await?;
        let used = process::memory(target.process).unwrap_or_default();
        let grown = grown.with("memory_mb", megabytes(used));
        let stored = server.spawned.as_ref().map_or(0, crate::spawn::Spawned::stored);
        tell(grown.with("stored_mb", megabytes(stored)));
    }
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
