//! Raising beside polls that are held and find nothing.

use std::{cell::RefCell, time::Duration};

use tokio::task::JoinSet;

use super::{Size, Source, flow::UNTIL_DONE, kilobytes, settle::settle};
use crate::{
    error::BenchError,
    load::{self, Bound, Names, Next, Worker},
    outcome::Measurement,
    process,
    target::Target,
    wire::Client,
};

/// How many raise meanwhile.
const RAISERS: usize = 32;

/// The longest that a poll may be held (rule X-6).
const WAIT: u32 = 30;

/// How long the last polls may take to arrive and to be held.
const ARRIVAL: Duration = Duration::from_secs(3);

pub(super) async fn measure(source: &Source, size: &Size, tell: &mut dyn FnMut(Measurement)) -> Result<(), BenchError> {
    for polls in &size.polls {
        let (server, names) = (source.server().await?, Names::new()?);
        let target = server.target();
        let mut raisers = load::open(target, RAISERS, 1).await?;
        // Raised first, so that both measurements meet a store of the same kind.
        let waiters = raise_for(target, *polls, &names).await?;
        // What raising left to do would be paid for by whoever raises next.
        settle(target).await;
        let alone = raise("raise beside no poll", target, &mut raisers, size.time, &names).await?;
        settle(target).await;
        let before = process::memory(target.process);
        let mut held = hold(target, waiters).await?;
        // Time to arrive and to be held; a poll that ends now found something, and should not have.
        if let Ok(Some(ended)) = tokio::time::timeout(ARRIVAL, held.join_next()).await {
            return Err(early(ended));
        }
        let after = process::memory(target.process);
        let name = format!("raise beside {polls} polls");
        let time = size.time.min(Duration::from_secs(u64::from(WAIT) / 3));
        let beside = tokio::select! {
            beside = raise(&name, target, &mut raisers, time, &names) => beside?,
            Some(ended) = held.join_next() => return Err(early(ended)),
        };
        held.shutdown().await;
        settle(target).await;
        // A store that grew is slower by itself, so what is compared with lies on both sides.
        let again = raise("raise beside no poll", target, &mut raisers, size.time, &names).await?;
        let without = f64::midpoint(alone.per_second(), again.per_second());
        let slower = 100.0 * (1.0 - beside.per_second() / without);
        let grown = after.zip(before).map_or(0, |(after, before)| after.saturating_sub(before));
        let count = u32::try_from(*polls).unwrap_or(u32::MAX);
        tell(alone);
        tell(
            beside
                .with("slower_percent", slower)
                .with("kb_a_poll", kilobytes(grown) / f64::from(count))
                .with("memory_mb", kilobytes(after.unwrap_or_default()) / 1024.0),
        );
    }
    Ok(())
}

async fn raise(
    name: &str,
    target: &Target,
    raisers: &mut [Worker],
    time: Duration,
    names: &Names,
) -> Result<Measurement, BenchError> {
    let bound = Bound { operations: u64::MAX, time };
    load::drive(name, target, raisers, bound, async |worker| {
        worker.client.raise(&names.waiter(), names.key()).await?;
        Ok(Next::Go)
    })
    .await
}

/// So many waiters, each with a request that nobody answers.
async fn raise_for(target: &Target, count: usize, names: &Names) -> Result<Vec<String>, BenchError> {
    let mut fillers = load::open(target, RAISERS, 1).await?;
    let waiters = RefCell::new(Vec::with_capacity(count));
    let operations = u64::try_from(count).unwrap_or(u64::MAX);
    load::drive("fill", target, &mut fillers, Bound { operations, time: UNTIL_DONE }, async |worker| {
        let waiter = names.waiter();
        worker.client.raise(&waiter, names.key()).await?;
        waiters.borrow_mut().push(waiter);
        Ok(Next::Go)
    })
    .await?;
    Ok(waiters.into_inner())
}

/// How many connect at once, and how long they are given to be accepted: a server's queue of new connections that
/// overflows makes the next one wait for a second.
const AT_ONCE: usize = 256;
const ACCEPTED: Duration = Duration::from_millis(100);

/// A poll for each waiter, on a connection of its own.
async fn hold(target: &Target, waiters: Vec<String>) -> Result<JoinSet<Poll>, BenchError> {
    let mut held = JoinSet::new();
    let [tenant, ..] = target.tenants(1)? else { return Ok(held) };
    for (place, waiter) in waiters.into_iter().enumerate() {
        if place % AT_ONCE == AT_ONCE - 1 {
            tokio::time::sleep(ACCEPTED).await;
        }
        let mut client = Client::open(target, tenant).await?;
        held.spawn(async move { client.poll(&waiter, WAIT).await.map(drop) });
    }
    Ok(held)
}

/// What a poll that was held came to.
type Poll = Result<(), BenchError>;

fn early(ended: Result<Poll, tokio::task::JoinError>) -> BenchError {
    match ended {
        Ok(Err(error)) => error,
        _ => BenchError::Nonsense("a poll that should be held was answered".to_owned()),
    }
}
