//! Crash points: every story, once for every call of the store that it makes and every way in which that call can go wrong.
//! Afterwards all is healed, finished and checked as after any run.

use std::sync::{
    Mutex,
    atomic::{AtomicUsize, Ordering},
};

use crate::{
    faults::StoreFault,
    plan::{FaultAt, PlannedFault},
    run::play,
    scheduler::lock,
    script::{SCRIPTS, Script},
};

/// The ways in which a call goes wrong.
pub const WAYS: [StoreFault; 8] = [
    StoreFault::Unavailable,
    StoreFault::LostNotWritten,
    StoreFault::LostWritten,
    StoreFault::CrashBefore,
    StoreFault::CrashUnsynced,
    StoreFault::CrashAfter,
    StoreFault::PowerCut(0),
    StoreFault::PowerCut(1_000),
];

/// What crash points came to.
#[derive(Debug, Default)]
pub struct Tally {
    /// How many stories there were.
    pub stories: usize,
    /// How many runs.
    pub runs: u64,
    /// Those that failed: which story, at which call, in which way, and what was wrong.
    pub failed: Vec<(&'static str, u64, StoreFault, Vec<String>)>,
}

/// Plays a story once for every call and every way.
#[must_use]
pub fn every_point(script: &Script) -> Tally {
    let mut tally = Tally { stories: 1, ..Tally::default() };
    let plain = script.plan();
    // Whatever goes wrong makes a run longer; calls that only then follow are not counted on.
    let calls = play(&plain, false).store_calls;
    for call in 1..=calls {
        for way in WAYS {
            let mut plan = plain.clone();
            plan.faults = vec![PlannedFault { number: 0, what: FaultAt::StoreCall(call, way) }];
            let outcome = play(&plan, false);
            tally.runs = tally.runs.saturating_add(1);
            if !outcome.violations.is_empty() {
                tally.failed.push((script.name, call, way, outcome.violations));
            }
        }
    }
    tally
}

/// Plays every story so, several at once; `progress` is told of each that is done.
pub fn every_story(jobs: usize, progress: impl Fn(&Tally, &'static str) + Sync) -> Tally {
    let all = Mutex::new(Tally::default());
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..jobs.max(1) {
            scope.spawn(|| {
                while let Some(script) = SCRIPTS.get(next.fetch_add(1, Ordering::SeqCst)) {
                    let tally = every_point(script);
                    let mut all = lock(&all);
                    all.stories = all.stories.saturating_add(tally.stories);
                    all.runs = all.runs.saturating_add(tally.runs);
                    all.failed.extend(tally.failed);
                    progress(&all, script.name);
                }
            });
        }
    });
    all.into_inner().unwrap_or_default()
}
