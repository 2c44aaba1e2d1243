//! What a seed comes to: who does what, and what goes wrong when. A plan is data, so that parts of it can be left out.

use std::collections::BTreeSet;

use crate::{
    faults::{StoreFault, WorldFault},
    op::Op,
    rng::Rng,
};

/// Everything that is decided before a run begins.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Where it comes from.
    pub seed: u64,
    /// How many nodes there are.
    pub nodes: usize,
    /// What each client does, in order.
    pub clients: Vec<Vec<PlannedOp>>,
    /// What goes wrong.
    pub faults: Vec<PlannedFault>,
    /// How things are.
    pub knobs: Knobs,
}

/// One operation.
#[derive(Clone, Debug)]
pub struct PlannedOp {
    /// Its number in the plan.
    pub number: usize,
    /// What it draws its details from.
    pub seed: u64,
    /// How long its client thinks before, in milliseconds.
    pub pause: u64,
    /// What it is.
    pub op: Op,
}

/// Something that goes wrong.
#[derive(Clone, Copy, Debug)]
pub struct PlannedFault {
    /// Its number in the plan.
    pub number: usize,
    /// What, and when.
    pub what: FaultAt,
}

/// When something goes wrong.
#[derive(Clone, Copy, Debug)]
pub enum FaultAt {
    /// At a call of the store, counted over all nodes.
    StoreCall(u64, StoreFault),
    /// After so many milliseconds.
    After(u64, WorldFault),
}

/// How a world is, for as long as it is not healed.
#[derive(Clone, Debug)]
pub struct Knobs {
    /// How often workers sweep, in milliseconds.
    pub sweep: u64,
    /// How long a call of the store takes at the most, in milliseconds.
    pub store_latency: u64,
    /// How often a call between client and node goes wrong, of a thousand.
    pub network: u64,
    /// How often a channel, a provider or a sink goes wrong, of a thousand.
    pub ports: u64,
    /// How often a receiver does.
    pub receivers: u64,
    /// How often a wake is lost, late or repeated, of a thousand.
    pub wakes: u64,
    /// Whether clients are patient people or tests: the most that they think between two calls, in milliseconds.
    pub think: u64,
    /// Whether receipts are signed.
    pub signs: bool,
    /// How many kinds of waiters there are a tenant.
    pub waiters: u64,
    /// Whether the store says that it is done before what it did is durable. No plan has that: a test asks for it, to see
    /// that it is noticed.
    pub lies: bool,
}

impl Plan {
    /// The plan of a seed, of about so many operations.
    #[must_use]
    pub fn new(seed: u64, operations: u64) -> Self {
        let mut rng = Rng::of(seed, "plan");
        let calm = rng.chance(100);
        let often = |rng: &mut Rng, most: u64| if calm { 0 } else { rng.below(most) };
        let knobs = Knobs {
            sweep: rng.pick(&[100, 500, 1_000, 5_000]).copied().unwrap_or(1_000),
            store_latency: rng.pick(&[0, 1, 3, 10, 200]).copied().unwrap_or(1),
            network: often(&mut rng, 120),
            ports: often(&mut rng, 400),
            receivers: often(&mut rng, 600),
            wakes: often(&mut rng, 400),
            think: rng.pick(&[20, 200, 1_000, 3_000]).copied().unwrap_or(200),
            signs: rng.chance(700),
            waiters: rng.between(1, 8),
            lies: false,
        };
        let nodes = usize::try_from(rng.between(1, 3)).unwrap_or(1);
        let count = rng.between(1, 20);
        let each = operations.checked_div(count).unwrap_or(operations).max(1);
        let mut number = 0_usize;
        let clients = (0..count)
            .map(|_| {
                let mut ops = Vec::new();
                for _ in 0..each {
                    let Some(op) = rng.weigh(Op::WEIGHTS) else { continue };
                    ops.push(PlannedOp { number, seed: rng.draw(), pause: rng.below(knobs.think), op });
                    number = number.saturating_add(1);
                }
                ops
            })
            .collect();
        let faults = if calm { Vec::new() } else { faults(&mut rng, &knobs, nodes, each) };
        Self { seed, nodes, clients, faults, knobs }
    }

    /// Whether nothing goes wrong in it.
    #[must_use]
    pub fn is_calm(&self) -> bool {
        let Knobs { network, ports, receivers, wakes, .. } = &self.knobs;
        self.faults.is_empty() && [network, ports, receivers, wakes].iter().all(|often| **often == 0)
    }

    /// Whether so much time may pass in it that idempotency keys lapse (section 4).
    #[must_use]
    pub fn keys_lapse(&self) -> bool {
        const DAY: i64 = 24 * 60 * 60 * 1_000;
        let jumps = self.faults.iter().map(|fault| match fault.what {
            FaultAt::After(_, WorldFault::LongNight) => DAY,
            FaultAt::After(_, WorldFault::Skip(by) | WorldFault::StoreClock(by)) => by.abs(),
            _ => 0,
        });
        jumps.fold(0_i64, i64::saturating_add) >= DAY / 2
    }

    /// How many operations it has.
    #[must_use]
    pub fn operations(&self) -> usize {
        self.clients.iter().map(Vec::len).sum()
    }

    /// The same without some operations and faults.
    #[must_use]
    pub fn without(&self, operations: &BTreeSet<usize>, faults: &BTreeSet<usize>) -> Self {
        let mut plan = self.clone();
        for client in &mut plan.clients {
            client.retain(|op| !operations.contains(&op.number));
        }
        plan.clients.retain(|client| !client.is_empty());
        plan.faults.retain(|fault| !faults.contains(&fault.number));
        plan
    }
}

fn faults(rng: &mut Rng, knobs: &Knobs, nodes: usize, each: u64) -> Vec<PlannedFault> {
    let mut found = Vec::new();
    let about = each.saturating_mul(knobs.think.saturating_add(40)).clamp(2_000, 120_000);
    for _ in 0..rng.below(30) {
        let Some(fault) = rng.weigh(StoreFault::WEIGHTS) else { continue };
        found.push(FaultAt::StoreCall(rng.between(40, 2_000), fault.drawn(rng)));
    }
    for _ in 0..rng.below(14) {
        let Some(fault) = rng.weigh(WorldFault::WEIGHTS) else { continue };
        found.push(FaultAt::After(rng.below(about), fault.drawn(rng, nodes)));
    }
    found.into_iter().enumerate().map(|(number, what)| PlannedFault { number, what }).collect()
}
