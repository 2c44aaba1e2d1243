//! A plan that fails made small: operations and faults are left out for as long as it fails without them.

use std::collections::BTreeSet;

use crate::{plan::Plan, run::play};

/// What can be left out of a plan that fails all the same.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Without {
    /// Operations, by number.
    pub operations: BTreeSet<usize>,
    /// Faults, by number.
    pub faults: BTreeSet<usize>,
}

/// Leaves out as much as possible within so many runs, so that what fails is still of the same kind.
#[must_use]
pub fn shrink(plan: &Plan, most_runs: u32) -> Without {
    let kind = |violations: &[String]| violations.first().map(|first| kind_of(first));
    let wanted = kind(&play(plan, false).violations);
    let mut without = Without::default();
    let mut runs = most_runs;
    let mut fails = |without: &Without| {
        if runs == 0 {
            return false;
        }
        runs = runs.saturating_sub(1);
        let outcome = play(&plan.without(&without.operations, &without.faults), false);
        outcome.violations.iter().map(|violation| kind_of(violation)).any(|kind| Some(kind) == wanted)
    };
    let faults: Vec<usize> = plan.faults.iter().map(|fault| fault.number).collect();
    let operations: Vec<usize> = plan.clients.iter().flatten().map(|op| op.number).collect();
    halve(&operations, &mut without, &mut fails, |without, some| without.operations.extend(some));
    halve(&faults, &mut without, &mut fails, |without, some| without.faults.extend(some));
    halve(&operations, &mut without, &mut fails, |without, some| without.operations.extend(some));
    without
}

/// Tries to leave out halves, then quarters, and so on down to single ones.
fn halve(
    all: &[usize],
    without: &mut Without,
    fails: &mut impl FnMut(&Without) -> bool,
    leave_out: impl Fn(&mut Without, &[usize]),
) {
    let mut size = all.len();
    while size > 0 {
        for some in all.chunks(size) {
            let mut candidate = without.clone();
            leave_out(&mut candidate, some);
            if candidate != *without && fails(&candidate) {
                *without = candidate;
            }
        }
        size /= 2;
    }
}

/// What kind of violation it is: without its ids and numbers.
fn kind_of(violation: &str) -> String {
    violation.split([' ', ':']).filter(|word| word.chars().all(char::is_alphabetic)).collect::<Vec<_>>().join(" ")
}
