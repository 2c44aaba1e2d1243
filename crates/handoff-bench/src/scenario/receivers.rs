//! From an answer to its push while other receivers fail: many receivers, each on a port of its own, of which every fifth
//! refuses connections, answers 500, or never answers. The server keeps connections to fewer receivers than these, and
//! keeps its books by address, so this is the hardest for it.

use std::{cell::RefCell, collections::VecDeque, time::Instant};

use tokio::sync::mpsc::UnboundedSender;

use super::{
    Size, Source,
    flow::UNTIL_DONE,
    probe,
    pushes::{Answered, Collector, nothing_came},
    settle::settle,
};
use crate::{
    error::BenchError,
    load::{self, Bound, Names, Next},
    meter::Meter,
    outcome::Measurement,
    pace::Pace,
    receiver::{Conduct, Push, Receiver},
    tally::Tally,
    target::Target,
    wire::Terms,
};

/// Answers a second.
const RATE: u32 = 200;

/// How many answers may be under way at once.
const ANSWERING: usize = 16;

/// Every which receiver fails.
const EVERY: usize = 5;

/// How many answers are for each receiver that fails, in one round and in the other.
const ROUNDS: [usize; 2] = [1, 5];

/// A request with a callback.
struct Waiting {
    id: String,
    healthy: bool,
}

pub(super) async fn measure(source: &Source, size: &Size, tell: &mut dyn FnMut(Measurement)) -> Result<(), BenchError> {
    let (server, names, answered) = (source.pushing().await?, Names::new()?, Answered::default());
    let target = server.target();
    let (mut collector, taken) = Collector::open(target, 1, &answered).await?;
    let mut receivers = Vec::with_capacity(size.receivers);
    for place in 0..size.receivers {
        receivers.push(Receiver::open(conduct(place, &taken)).await?);
    }
    let urls: Vec<_> = receivers.iter().map(Receiver::url).collect();
    let Some(first) = urls.first() else { return Ok(()) };
    probe(target, &names, Terms::Callback(first)).await?;
    let failing = urls.len() / EVERY;
    for each in ROUNDS {
        let waiting = raise(target, &urls, each, &names).await?;
        let healthy = waiting.iter().filter(|waiting| waiting.healthy).count();
        settle(target).await;
        collector.tally = Tally::new()?;
        let meter = Meter::start(target);
        let wanted = u64::try_from(healthy).unwrap_or(u64::MAX);
        let (rate, missing) =
            futures::future::try_join(answer(target, waiting, &answered, &names), collector.collect(wanted)).await?;
        if usize::try_from(missing).is_ok_and(|missing| missing >= healthy) {
            return Err(nothing_came());
        }
        let name = match each {
            1 => format!("push, {failing} of {} receivers fail", urls.len()),
            each => format!("push, {failing} of {} fail, {each} each", urls.len()),
        };
        let pushed = meter.stop(&name, &collector.tally);
        // The pushes that failed were paid for as well, so what it cost belongs to no single one.
        let pushed = Measurement { workers: ANSWERING, tenants: 1, server_cpu_us: None, client_cpu_us: None, ..pushed };
        let pushed = pushed.with("missing", f64::from(missing)).with("answers_a_second", rate);
        tell(collector.deliveries.tell(pushed));
    }
    Ok(())
}

fn fails(place: usize) -> bool {
    place % EVERY == EVERY - 1
}

/// What the receiver in this place does.
fn conduct(place: usize, taken: &UnboundedSender<Push>) -> Conduct {
    match (place / EVERY) % 3 {
        _ if !fails(place) => Conduct::Takes(taken.clone()),
        0 => Conduct::Refuses,
        1 => Conduct::Fails,
        _ => Conduct::Hangs,
    }
}

/// The receivers in the order in which they are written to: each once, and those that fail so often, well mixed.
fn order(receivers: usize, each: usize) -> Vec<usize> {
    let round = |pass| (0..receivers).filter(move |place| fails(*place) || (place / EVERY) % each.max(1) == pass);
    (0..each).flat_map(round).collect()
}

/// Raises a request for each place in the order.
async fn raise(target: &Target, urls: &[String], each: usize, names: &Names) -> Result<VecDeque<Waiting>, BenchError> {
    let order = order(urls.len(), each);
    let places = RefCell::new(order.iter().enumerate());
    let raised = RefCell::new(Vec::with_capacity(order.len()));
    let mut raising = load::open(target, ANSWERING, 1).await?;
    load::work(target, &mut raising, Bound { operations: u64::MAX, time: UNTIL_DONE }, async |worker| {
        let next = places.borrow_mut().next();
        let Some((number, place)) = next else { return Ok(Next::Stop) };
        let Some(url) = urls.get(*place) else { return Ok(Next::Stop) };
        let id = worker.client.raise_on(&names.waiter(), names.key(), Terms::Callback(url)).await?.id;
        raised.borrow_mut().push((number, Waiting { id, healthy: !fails(*place) }));
        Ok(Next::Go)
    })
    .await?;
    let mut raised = raised.into_inner();
    raised.sort_by_key(|(number, _)| *number);
    Ok(raised.into_iter().map(|(_, waiting)| waiting).collect())
}

/// Answers all of them at the rate, and says how many a second these were.
async fn answer(
    target: &Target,
    waiting: VecDeque<Waiting>,
    answered: &Answered,
    names: &Names,
) -> Result<f64, BenchError> {
    let mut answering = load::open(target, ANSWERING, 1).await?;
    let (pace, waiting, began) = (Pace::new(RATE), RefCell::new(waiting), Instant::now());
    let bound = Bound { operations: u64::MAX, time: UNTIL_DONE };
    let (tally, _) = load::work(target, &mut answering, bound, async |worker| {
        let Some(next) = waiting.borrow_mut().pop_front() else { return Ok(Next::Stop) };
        pace.turn().await;
        if next.healthy {
            answered.send(&next.id, worker.tenant);
        }
        worker.client.answer(&next.id, names.key()).await?;
        Ok(Next::Go)
    })
    .await?;
    Ok(f64::from(u32::try_from(tally.count()).unwrap_or(u32::MAX)) / began.elapsed().as_secs_f64())
}

#[cfg(test)]
mod tests {
    use tokio::sync::mpsc::unbounded_channel;

    use super::*;

    #[test]
    fn every_fifth_receiver_fails_and_each_third_of_them_in_its_own_way() {
        let (taken, _) = unbounded_channel();
        let mut counts = [0; 4];
        for place in 0..1_000 {
            counts[match conduct(place, &taken) {
                Conduct::Takes(_) => 0,
                Conduct::Refuses => 1,
                Conduct::Fails => 2,
                Conduct::Hangs => 3,
            }] += 1;
        }
        assert_eq!(counts, [800, 67, 67, 66]);
    }

    #[test]
    fn each_healthy_receiver_is_written_to_once_and_each_other_as_often_as_wanted() {
        for each in [1, 5] {
            let order = order(1_000, each);
            assert_eq!(order.len(), 800 + 200 * each);
            for place in 0..1_000 {
                let times = order.iter().filter(|other| **other == place).count();
                assert_eq!(times, if fails(place) { each } else { 1 }, "{place}");
            }
            let most = order.chunks(20).map(|chunk| chunk.iter().filter(|place| fails(**place)).count()).max();
            assert!(most.is_some_and(|most| most <= 13), "those that fail come mixed with the others: {most:?}");
        }
    }
}
