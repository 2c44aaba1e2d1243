//! Answers to three kinds of requests: those that only the page shows, those with the ladder that the server chooses, and
//! those whose signals are pushed besides. They take turns on one server, so that noise hits all alike.
//!
//! A turn measures answers alone: what raising left to do is done before, and pushes are acknowledged after.

use std::time::Duration;

use super::{
    Size, Source,
    flow::{self, Pools},
    probe,
    pushes::{Answered, Collector, nothing_came},
    settle::settle,
};
use crate::{
    error::BenchError,
    load::{self, Bound, Names, Next, Worker},
    meter::{Meter, Spent},
    outcome::Measurement,
    receiver::{Conduct, Receiver},
    tally::Tally,
    target::Target,
    wire::Terms,
};

/// The longest turn: well below the two seconds after which a push is repeated that nobody acknowledged (rule H-6).
const TURN: Duration = Duration::from_secs(1);

/// The least turns of each kind.
const TURNS: u32 = 3;

/// How many kinds there are.
const KINDS: usize = 3;

/// The figure that says which share of the base a kind reaches.
pub(crate) const PERCENT: &str = "percent_of_base";

/// The figure that says what the base is.
pub(crate) const BASE: &str = "base_a_second";

/// Requests of one kind, and what answering them came to.
struct Kind<'a> {
    name: &'static str,
    terms: Terms<'a>,
    ids: Pools,
    tally: Tally,
    spent: Option<Spent>,
}

pub(super) async fn measure(source: &Source, size: &Size, tell: &mut dyn FnMut(Measurement)) -> Result<(), BenchError> {
    for tenants in &size.tenants {
        for workers in size.workers.iter().filter(|workers| *workers >= tenants) {
            one(source, size, *workers, *tenants, tell).await?;
        }
    }
    Ok(())
}

async fn one(
    source: &Source,
    size: &Size,
    workers: usize,
    tenants: usize,
    tell: &mut dyn FnMut(Measurement),
) -> Result<(), BenchError> {
    let (server, names, answered) = (source.pushing().await?, Names::new()?, Answered::default());
    let target = server.target();
    let (mut collector, taken) = Collector::open(target, tenants, &answered).await?;
    let receiver = Receiver::open(Conduct::Takes(taken)).await?;
    let url = receiver.url();
    let mut kinds: [_; KINDS] = [
        Kind::new("answer, page alone", Terms::PageAlone, tenants)?,
        Kind::new("answer, with ladder", Terms::Plain, tenants)?,
        Kind::new("answer, with callbacks", Terms::Callback(&url), tenants)?,
    ];
    for kind in &kinds {
        probe(target, &names, kind.terms).await?;
    }
    let mut callers = load::open(target, workers, tenants).await?;
    let (turn, turns) = turns(size.time);
    let (mut arriving, mut meanwhile, mut missing) = (None::<Spent>, 0_usize, 0_u32);
    for round in 0..turns {
        for place in 0..KINDS {
            // Whoever begins one round goes last in the next.
            let Some(kind) = kinds.get_mut((round + place) % KINDS) else { continue };
            fill(target, kind, turn, &names).await?;
            settle(target).await;
            let meter = Meter::start(target);
            kind.answer(target, &mut callers, turn, &names, &answered).await?;
            if kind.is_pushed() {
                meanwhile = meanwhile.saturating_add(collector.waiting());
                missing = missing.saturating_add(collector.collect(kind.tally.count()).await?);
                if u64::from(missing) >= kind.tally.count() {
                    return Err(nothing_came());
                }
                arriving = Some(arriving.map_or(meter.spent(), |before| before.and(meter.spent())));
            }
        }
    }
    collector.linger().await?;
    for measurement in shares(&kinds, size.base_answers) {
        tell(Measurement { workers, tenants, ..measurement });
    }
    if let Some(spent) = arriving {
        let pushed = spent.measurement("answer to push", &collector.tally);
        // Answering and acknowledging are part of it, so what it cost belongs to no single push.
        let pushed = Measurement { workers, tenants, server_cpu_us: None, client_cpu_us: None, ..pushed };
        let pushed = pushed
            .with("missing", f64::from(missing))
            .with("arrived_meanwhile", f64::from(u32::try_from(meanwhile).unwrap_or(u32::MAX)));
        tell(collector.deliveries.tell(pushed));
    }
    Ok(())
}

/// How long a turn is, and how many turns each kind gets, so that each is answered for this long.
fn turns(time: Duration) -> (Duration, usize) {
    let turns = u32::try_from(time.as_millis().div_ceil(TURN.as_millis())).unwrap_or(u32::MAX).max(TURNS);
    (time / turns, usize::try_from(turns).unwrap_or(usize::MAX))
}

/// Raises what can be answered in a turn, beside what was left over; for twice as long as the turn at the most.
async fn fill(target: &Target, kind: &Kind<'_>, turn: Duration, names: &Names) -> Result<(), BenchError> {
    let most = u64::try_from(turn.as_millis()).unwrap_or(u64::MAX).saturating_mul(flow::ANSWERS_A_SECOND) / 1000;
    let waiting = kind.ids.iter().map(|ids| ids.borrow().len()).sum::<usize>();
    let operations = most.max(1).saturating_sub(u64::try_from(waiting).unwrap_or(u64::MAX));
    flow::fill_on(target, &kind.ids, kind.terms, Bound { operations, time: turn.saturating_mul(2) }, names).await
}

/// Each kind, with its share of a base: of that which was given, or else of the first kind.
fn shares(kinds: &[Kind<'_>], given: Option<f64>) -> Vec<Measurement> {
    let measured: Vec<_> = kinds.iter().filter_map(Kind::measurement).collect();
    let base = given.or_else(|| measured.first().map(Measurement::per_second)).filter(|base| *base > 0.0);
    let share = |measurement: Measurement| match base {
        Some(base) => {
            let percent = 100.0 * measurement.per_second() / base;
            measurement.with(PERCENT, percent).with(BASE, base)
        }
        None => measurement,
    };
    measured.into_iter().map(share).collect()
}

impl<'a> Kind<'a> {
    fn new(name: &'static str, terms: Terms<'a>, tenants: usize) -> Result<Self, BenchError> {
        Ok(Self { name, terms, ids: flow::pools(tenants), tally: Tally::new()?, spent: None })
    }

    fn is_pushed(&self) -> bool {
        matches!(self.terms, Terms::Callback(_))
    }

    /// Answers for one turn.
    async fn answer(
        &mut self,
        target: &Target,
        callers: &mut [Worker],
        turn: Duration,
        names: &Names,
        answered: &Answered,
    ) -> Result<(), BenchError> {
        let (ids, pushed) = (&self.ids, self.is_pushed());
        let bound = Bound { operations: u64::MAX, time: turn };
        let (tally, spent) = load::work(target, callers, bound, async |worker| {
            let id = ids.get(worker.tenant).and_then(|ids| ids.borrow_mut().pop());
            let Some(id) = id else { return Ok(Next::Stop) };
            if pushed {
                answered.send(&id, worker.tenant);
            }
            worker.client.answer(&id, names.key()).await?;
            Ok(Next::Go)
        })
        .await?;
        self.tally.add(&tally)?;
        self.spent = Some(self.spent.map_or(spent, |before| before.and(spent)));
        Ok(())
    }

    fn measurement(&self) -> Option<Measurement> {
        Some(self.spent?.measurement(self.name, &self.tally))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::meter::Meter;

    #[test]
    fn turns_are_short_and_several_and_make_up_the_time() {
        for (millis, turn, count) in [(5_000, 1_000.0, 5), (900, 300.0, 3), (7_500, 937.5, 8), (0, 0.0, 3)] {
            let (each, turns) = turns(Duration::from_millis(millis));
            assert_eq!((each.as_secs_f64() * 1000.0, turns), (turn, count), "{millis}");
        }
    }

    #[test]
    fn shares_are_of_the_page_alone_unless_a_base_is_given() {
        let spent = Meter::alone().spent();
        let kind = |name, answers: u64| {
            let mut kind = Kind::new(name, Terms::Plain, 1).unwrap();
            for _ in 0..answers {
                kind.tally.record(Duration::from_millis(1));
            }
            kind.spent = Some(spent);
            kind
        };
        let kinds = [kind("page", 1_000), kind("ladder", 700)];
        let percent = |given, at: usize| shares(&kinds, given)[at].figures[PERCENT].round();
        assert_eq!([percent(None, 0), percent(None, 1)], [100.0, 70.0]);
        let page = shares(&kinds, None)[0].per_second();
        assert_eq!([percent(Some(page * 2.0), 0), percent(Some(page * 2.0), 1)], [50.0, 35.0]);
    }
}
