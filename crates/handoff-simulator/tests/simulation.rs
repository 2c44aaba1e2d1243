//! The simulator itself: a seed is always the same, what is sound is found sound, and what is not is found.
#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

use handoff_simulator::{
    faults::StoreFault,
    plan::{FaultAt, Plan, PlannedFault},
    run::play,
    shrink::shrink,
};

#[test]
fn a_seed_comes_to_the_same_trace_each_time() {
    for seed in [3, 11] {
        let plan = Plan::new(seed, 60);
        let (one, same) = (play(&plan, true), play(&plan, true));
        assert!(one.trace.lines().count() > 100);
        assert!(one.trace == same.trace, "seed {seed} differs from itself");
    }
    assert!(play(&Plan::new(3, 60), true).trace != play(&Plan::new(4, 60), true).trace);
}

#[test]
fn some_seeds_leave_nothing_that_must_not_be() {
    for seed in 0..12 {
        let outcome = play(&Plan::new(seed, 60), false);
        assert_eq!(outcome.violations, Vec::<String>::new(), "seed {seed}");
        assert!(outcome.steps > 500, "seed {seed} does something");
    }
}

/// The plan of a seed whose store tells of commits that are not durable, with power cuts.
fn with_a_store_that_lies(seed: u64) -> Plan {
    let mut plan = Plan::new(seed, 60);
    plan.knobs.lies = true;
    plan.faults = (1..6)
        .map(|number| PlannedFault {
            number,
            what: FaultAt::StoreCall(u64::try_from(number).unwrap() * 60, StoreFault::PowerCut(0)),
        })
        .collect();
    plan
}

#[test]
fn a_store_that_says_done_before_it_is_durable_is_noticed() {
    let noticed = (0..10).filter(|seed| !play(&with_a_store_that_lies(*seed), false).violations.is_empty()).count();
    assert!(noticed >= 5, "{noticed} of ten");
}

#[test]
fn a_plan_that_fails_is_made_small_and_fails_still() {
    let plan = (0..20).map(with_a_store_that_lies).find(|plan| !play(plan, false).violations.is_empty()).unwrap();
    let without = shrink(&plan, 60);
    let small = plan.without(&without.operations, &without.faults);
    assert!(small.operations() < plan.operations() / 2, "{} of {}", small.operations(), plan.operations());
    assert!(!play(&small, false).violations.is_empty());
}
