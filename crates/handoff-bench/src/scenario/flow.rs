//! Raising, answering, and the whole life of a request, at so many callers in so many tenants.

use std::{cell::RefCell, time::Duration};

use super::{Scenario, Size, Source, settle::settle};
use crate::{
    error::BenchError,
    load::{self, Bound, Names, Next, Worker},
    outcome::Measurement,
    target::Target,
    wire::Terms,
};

/// How many callers fill a store.
const FILLERS: usize = 64;

/// The most that is raised beforehand for each second of answering.
pub(super) const ANSWERS_A_SECOND: u64 = 8_000;

/// No bound of its own.
pub(super) const UNTIL_DONE: Duration = Duration::from_secs(3600);

pub(super) async fn measure(
    scenario: Scenario,
    source: &Source,
    size: &Size,
    tell: &mut dyn FnMut(Measurement),
) -> Result<(), BenchError> {
    for tenants in &size.tenants {
        for workers in &size.workers {
            // A caller each is the least that puts load on every tenant.
            if workers < tenants {
                continue;
            }
            tell(one(scenario, source, size, *workers, *tenants).await?);
        }
    }
    Ok(())
}

async fn one(
    scenario: Scenario,
    source: &Source,
    size: &Size,
    workers: usize,
    tenants: usize,
) -> Result<Measurement, BenchError> {
    let (server, names) = (source.server().await?, Names::new()?);
    let target = server.target();
    let mut callers = load::open(target, workers, tenants).await?;
    let bound = Bound { operations: u64::MAX, time: size.time };
    match scenario {
        Scenario::Raise => {
            load::drive("raise", target, &mut callers, bound, async |worker| raise(worker, &names).await).await
        }
        Scenario::Answer => {
            let most = ANSWERS_A_SECOND.saturating_mul(size.time.as_secs().max(1));
            // As many as can be answered in the time, found by raising for twice as long.
            let fill = Bound { operations: most, time: size.time.saturating_mul(2) };
            let raised = fill_pending(target, tenants, fill, &names).await?;
            // What raising left to do is no part of answering.
            settle(target).await;
            load::drive("answer", target, &mut callers, bound, async |worker| {
                let id = raised.get(worker.tenant).and_then(|ids| ids.borrow_mut().pop());
                let Some(id) = id else { return Ok(Next::Stop) };
                worker.client.answer(&id, names.key()).await?;
                Ok(Next::Go)
            })
            .await
        }
        _ => load::drive("cycle", target, &mut callers, bound, async |worker| cycle(worker, &names).await).await,
    }
}

async fn raise(worker: &mut Worker, names: &Names) -> Result<Next, BenchError> {
    worker.client.raise(&names.waiter(), names.key()).await?;
    Ok(Next::Go)
}

/// Raise, answer, poll, acknowledge, redeem.
pub(super) async fn cycle(worker: &mut Worker, names: &Names) -> Result<Next, BenchError> {
    let waiter = names.waiter();
    let request = worker.client.raise(&waiter, names.key()).await?;
    let authorization = worker.client.answer(&request, names.key()).await?;
    let signals = worker.client.poll(&waiter, 30).await?;
    let signal = signals.first().ok_or_else(|| BenchError::Nonsense("an answer sent no signal".to_owned()))?;
    worker.client.acknowledge(signal).await?;
    worker.client.redeem(&authorization).await?;
    Ok(Next::Go)
}

/// Raises as much as the bound says, and gives the ids by tenant.
pub(super) async fn fill_pending(
    target: &Target,
    tenants: usize,
    bound: Bound,
    names: &Names,
) -> Result<Pools, BenchError> {
    let ids = pools(tenants);
    fill_on(target, &ids, Terms::Plain, bound, names).await?;
    Ok(ids)
}

/// The ids of requests that wait for an answer, by tenant.
pub(super) type Pools = Vec<RefCell<Vec<String>>>;

/// Nothing that waits yet.
pub(super) fn pools(tenants: usize) -> Pools {
    (0..tenants).map(|_| RefCell::new(Vec::new())).collect()
}

/// Raises as much as the bound says on these terms, and adds the ids to those of their tenants.
pub(super) async fn fill_on(
    target: &Target,
    ids: &Pools,
    terms: Terms<'_>,
    bound: Bound,
    names: &Names,
) -> Result<(), BenchError> {
    let mut fillers = load::open(target, FILLERS, ids.len()).await?;
    load::drive("fill", target, &mut fillers, bound, async |worker| {
        let id = worker.client.raise_on(&names.waiter(), names.key(), terms).await?.id;
        if let Some(ids) = ids.get(worker.tenant) {
            ids.borrow_mut().push(id);
        }
        Ok(Next::Go)
    })
    .await?;
    Ok(())
}
