//! From a deadline to the end of the request, while nothing else happens: at the rate at which the deadlines come, and
//! with all of them within a second.
//!
//! Both instants are the server's own, so it costs nothing to observe them: a deadline is read when a request is raised,
//! and its end from the receipt, afterwards.

use std::{
    cell::RefCell,
    time::{Duration, Instant},
};

use handoff_protocol::timestamp::Timestamp;

use super::{Size, Source, flow::UNTIL_DONE, probe, settle::settle};
use crate::{
    error::BenchError,
    load::{self, Bound, Names, Next, Worker},
    outcome::Measurement,
    pace::Pace,
    tally::Tally,
    target::Target,
    wire::{Raised, Terms},
};

/// How many are raised a second, and so how many deadlines come a second.
const RATE: u32 = 500;

/// How many raise at once.
const RAISERS: usize = 32;

/// What lies between the last raise and the first deadline, so that raising is no load beside it.
const BETWEEN: u64 = 3;

/// How long after the last deadline requests are looked at, so that looking is no load beside it either.
const AFTERWARDS: Duration = Duration::from_secs(2);

/// How often those are looked at again that have not ended, and how long in between.
const LOOKS: u32 = 60;
const BETWEEN_LOOKS: Duration = Duration::from_secs(1);

/// When the deadlines come.
#[derive(Clone, Copy, Debug)]
enum Due {
    /// At the rate at which the requests were raised.
    AtRate,
    /// All within one second.
    Together,
}

/// When a request should have ended, and when it did.
#[derive(Clone, Copy, Debug)]
struct Ended {
    due: Timestamp,
    at: Timestamp,
}

pub(super) async fn measure(source: &Source, size: &Size, tell: &mut dyn FnMut(Measurement)) -> Result<(), BenchError> {
    let count = size.expiries;
    let both =
        [(Due::AtRate, format!("expire {count}, {RATE}/s")), (Due::Together, format!("expire {count} together"))];
    for (due, name) in both {
        let (server, names) = (source.server().await?, Names::new()?);
        let target = server.target();
        if probe(target, &names, Terms::Expires(1)).await?.expires_at.is_none() {
            return Err(BenchError::Lacking("a request that was raised with `ttl` has no `expires_at`".to_owned()));
        }
        settle(target).await;
        let mut workers = load::open(target, RAISERS, 1).await?;
        let began = Instant::now();
        let (raised, last) = raise(target, &mut workers, due, count, &names).await?;
        let raised_a_second = f64::from(count) / began.elapsed().as_secs_f64();
        tokio::time::sleep_until((last + AFTERWARDS).into()).await;
        let (ended, pending) = ends(target, &mut workers, raised).await?;
        let measurement = sum_up(&name, &ended)?;
        tell(measurement.with("raised_a_second", raised_a_second).with("still_pending", f64::from(pending)));
    }
    Ok(())
}

/// Raises so many, and says when the last of them is due by this clock.
async fn raise(
    target: &Target,
    workers: &mut [Worker],
    due: Due,
    count: u32,
    names: &Names,
) -> Result<(Vec<Raised>, Instant), BenchError> {
    let (began, pace) = (Instant::now(), Pace::new(RATE));
    let (raised, last) = (RefCell::new(Vec::new()), RefCell::new(began));
    let bound = Bound { operations: u64::from(count), time: UNTIL_DONE };
    load::work(target, workers, bound, async |worker| {
        pace.turn().await;
        let seconds = seconds_to_live(due, count, began.elapsed());
        let one = worker.client.raise_on(&names.waiter(), names.key(), Terms::Expires(seconds)).await?;
        raised.borrow_mut().push(one);
        let due_at = Instant::now() + Duration::from_secs(seconds);
        let mut last = last.borrow_mut();
        *last = due_at.max(*last);
        Ok(Next::Go)
    })
    .await?;
    Ok((raised.into_inner(), last.into_inner()))
}

/// How long a request lives that is raised so long after the first.
fn seconds_to_live(due: Due, count: u32, elapsed: Duration) -> u64 {
    let whole = u64::from(count.div_ceil(RATE)).saturating_add(BETWEEN);
    match due {
        Due::AtRate => whole,
        Due::Together => whole.saturating_sub(elapsed.as_secs()).max(1),
    }
}

/// When each request ended, and how many never did.
async fn ends(target: &Target, workers: &mut [Worker], raised: Vec<Raised>) -> Result<(Vec<Ended>, u32), BenchError> {
    let (ended, mut left) = (RefCell::new(Vec::with_capacity(raised.len())), raised);
    for look in 0..LOOKS {
        if look > 0 {
            tokio::time::sleep(BETWEEN_LOOKS).await;
        }
        let (looking, pending) = (RefCell::new(left), RefCell::new(Vec::new()));
        let bound = Bound { operations: u64::MAX, time: UNTIL_DONE };
        load::work(target, workers, bound, async |worker| {
            let Some(request) = looking.borrow_mut().pop() else { return Ok(Next::Stop) };
            let standing = worker.client.look(&request.id).await?;
            match (standing.state.as_str(), standing.receipt, request.expires_at) {
                ("pending", ..) => pending.borrow_mut().push(request),
                ("expired", Some(receipt), Some(due)) => ended.borrow_mut().push(Ended { due, at: receipt.decided_at }),
                ("expired", ..) => {
                    return Err(BenchError::Lacking("a request that expired has no receipt that says when".to_owned()));
                }
                _ => return Err(BenchError::Nonsense("a request did not expire and is not pending".to_owned())),
            }
            Ok(Next::Go)
        })
        .await?;
        left = pending.into_inner();
        if left.is_empty() {
            break;
        }
    }
    Ok((ended.into_inner(), u32::try_from(left.len()).unwrap_or(u32::MAX)))
}

/// How late all of them were, and how many ended a second from the first end to the last.
fn sum_up(name: &str, ended: &[Ended]) -> Result<Measurement, BenchError> {
    let mut lags = Tally::new()?;
    for one in ended {
        if one.at < one.due {
            return Err(BenchError::Nonsense("a request expired before its deadline".to_owned()));
        }
        lags.record(one.at.since(one.due));
    }
    let between = |of: fn(&Ended) -> Timestamp| {
        let (first, last) = (ended.iter().map(of).min(), ended.iter().map(of).max());
        first.zip(last).map_or(Duration::ZERO, |(first, last)| last.since(first))
    };
    let due_within = between(|one| one.due).as_secs_f64() * 1000.0;
    let measurement = Measurement {
        name: name.to_owned(),
        workers: RAISERS,
        tenants: 1,
        operations: lags.count(),
        seconds: between(|one| one.at).as_secs_f64(),
        p50_ms: lags.quantile(0.5),
        p99_ms: lags.quantile(0.99),
        max_ms: lags.longest(),
        ..Measurement::default()
    };
    Ok(measurement.with("due_within_ms", due_within))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ended(due: i64, at: i64) -> Ended {
        Ended { due: Timestamp::from_unix_millis(due), at: Timestamp::from_unix_millis(at) }
    }

    #[test]
    fn requests_raised_one_after_another_are_due_at_the_rate_or_together() {
        for (elapsed, apart, together) in [(0, 13, 13), (999, 13, 13), (1_000, 13, 12), (9_999, 13, 4), (60_000, 13, 1)]
        {
            let elapsed = Duration::from_millis(elapsed);
            assert_eq!(seconds_to_live(Due::AtRate, 5_000, elapsed), apart);
            assert_eq!(seconds_to_live(Due::Together, 5_000, elapsed), together, "{elapsed:?}");
        }
    }

    #[test]
    fn the_lag_is_from_each_deadline_to_its_own_end_and_the_rate_from_the_first_end_to_the_last() {
        let measurement = sum_up("expire", &[ended(1_000, 1_040), ended(1_500, 3_040), ended(1_200, 1_220)]).unwrap();
        assert_eq!((measurement.operations, measurement.seconds), (3, 2.0));
        assert_eq!((measurement.p50_ms.round(), measurement.max_ms.round()), (40.0, 1_540.0));
        assert_eq!(measurement.figures["due_within_ms"], 500.0);
    }

    #[test]
    fn an_end_before_its_deadline_ends_the_run() {
        assert!(matches!(sum_up("expire", &[ended(1_000, 999)]), Err(BenchError::Nonsense(_))));
    }
}
