//! From the moment at which an answer is sent to the moment at which the poll that waited for it has its signal: the
//! commit is part of it. Answers come at a fixed rate.

use std::{
    cell::{Cell, RefCell},
    collections::VecDeque,
    time::{Duration, Instant},
};

use futures::future::try_join_all;

use super::{Size, Source};
use crate::{
    error::BenchError,
    load::{self, Names, Worker},
    meter::Meter,
    outcome::Measurement,
    pace::Pace,
    tally::Tally,
    target::Target,
};

/// How many wait at once.
const WAITING: usize = 64;

/// How many answers may be under way at once.
const ANSWERING: usize = 16;

/// Answers a second: on a server that does nothing else, and on one that is at work.
const RATES: [(&str, u32); 2] = [("wake, 5 answers/s", 5), ("wake, 200 answers/s", 200)];

/// The same from one server to another.
const ACROSS: [(&str, u32); 2] = [("wake across, 5 answers/s", 5), ("wake across, 200 answers/s", 200)];

pub(super) async fn measure(source: &Source, size: &Size, tell: &mut dyn FnMut(Measurement)) -> Result<(), BenchError> {
    for (name, rate) in RATES {
        let server = source.server().await?;
        // At the slow rate the quantiles need longer.
        let time = if rate < 100 { size.time.saturating_mul(4) } else { size.time };
        tell(one(name, rate, server.target(), server.target(), time).await?);
    }
    Ok(())
}

/// The same with two servers over one database: answers go to one, and polls are held at the other.
pub(super) async fn across(source: &Source, size: &Size, tell: &mut dyn FnMut(Measurement)) -> Result<(), BenchError> {
    for (name, rate) in ACROSS {
        let first = source.server().await?;
        let second = source.second(&first).await?;
        let time = if rate < 100 { size.time.saturating_mul(4) } else { size.time };
        tell(one(name, rate, first.target(), second.target(), time).await?);
    }
    Ok(())
}

/// A request whose poll is held, and where to say when its answer was sent.
struct Held<'a> {
    request: String,
    sent: &'a Cell<Option<Instant>>,
}

async fn one(
    name: &str,
    rate: u32,
    target: &Target,
    polled: &Target,
    time: Duration,
) -> Result<Measurement, BenchError> {
    let names = Names::new()?;
    let mut waiting = load::open(polled, WAITING, 1).await?;
    let mut answering = load::open(target, ANSWERING, 1).await?;
    let sent: Vec<_> = (0..WAITING).map(|_| Cell::new(None)).collect();
    let (held, tally) = (RefCell::new(VecDeque::new()), RefCell::new(Tally::new()?));
    let pace = Pace::new(rate);
    let end = Instant::now() + time;
    let meter = Meter::start(target);
    let polls = try_join_all(waiting.iter_mut().zip(&sent).map(|(worker, sent)| {
        let (held, tally, names) = (&held, &tally, &names);
        wait_again_and_again(worker, sent, held, tally, names, end)
    }));
    let answers = try_join_all(answering.iter_mut().map(|worker| answer_in_turn(worker, &pace, &held, &names, end)));
    futures::future::try_join(polls, answers).await?;
    let measurement = meter.stop(name, &tally.borrow());
    Ok(Measurement { workers: WAITING, tenants: 1, ..measurement })
}

/// Raises, waits, and notes how long after the answer the signal came.
async fn wait_again_and_again<'a>(
    worker: &mut Worker,
    sent: &'a Cell<Option<Instant>>,
    held: &RefCell<VecDeque<Held<'a>>>,
    tally: &RefCell<Tally>,
    names: &Names,
    end: Instant,
) -> Result<(), BenchError> {
    while Instant::now() < end {
        let waiter = names.waiter();
        sent.set(None);
        let request = worker.client.raise(&waiter, names.key()).await?;
        held.borrow_mut().push_back(Held { request, sent });
        // Nobody answers after the end, so the last wait is no longer than what is left.
        while let Some(left) = end.checked_duration_since(Instant::now()) {
            let seconds = u32::try_from(left.as_secs().clamp(1, 30)).unwrap_or(30);
            if worker.client.poll(&waiter, seconds).await?.is_empty() {
                continue;
            }
            if let Some(sent) = sent.get() {
                tally.borrow_mut().record(sent.elapsed());
            }
            break;
        }
    }
    Ok(())
}

/// Answers whatever has waited longest, one at each tick.
async fn answer_in_turn(
    worker: &mut Worker,
    pace: &Pace,
    held: &RefCell<VecDeque<Held<'_>>>,
    names: &Names,
    end: Instant,
) -> Result<(), BenchError> {
    loop {
        pace.turn().await;
        if Instant::now() >= end {
            return Ok(());
        }
        let Some(next) = held.borrow_mut().pop_front() else { continue };
        next.sent.set(Some(Instant::now()));
        worker.client.answer(&next.request, names.key()).await?;
    }
}
