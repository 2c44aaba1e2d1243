//! Many seeds, one after another or beside each other, and what they came to together.

use std::{
    collections::BTreeMap,
    sync::{
        Mutex,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use crate::{coverage::Coverage, plan::Plan, run::play, scheduler::lock};

/// What seeds came to.
#[derive(Debug, Default)]
pub struct Tally {
    /// How many were played.
    pub seeds: u64,
    /// Those that failed, each with what was wrong.
    pub failed: BTreeMap<u64, Vec<String>>,
    /// What went wrong as planned and what was done, by kind.
    pub counted: BTreeMap<&'static str, u64>,
    /// Which edges were taken.
    pub coverage: Coverage,
    /// How many polls.
    pub steps: u64,
}

/// Which seeds, how large, and by how many threads.
#[derive(Clone, Debug)]
pub struct Campaign {
    /// The seeds.
    pub seeds: Vec<u64>,
    /// How many operations each has, about.
    pub operations: u64,
    /// How many are played at once.
    pub jobs: usize,
    /// After how many that failed to stop.
    pub most_failures: usize,
}

/// How far a campaign is.
#[derive(Clone, Debug)]
pub struct Progress {
    /// How many seeds were played.
    pub seeds: u64,
    /// How many failed.
    pub failed: usize,
    /// The seed that failed just now, and the first thing that was wrong.
    pub just_failed: Option<(u64, String)>,
}

/// Plays a campaign; `progress` is told now and then how far it is, and of each seed that fails.
pub fn play_all(campaign: &Campaign, progress: impl Fn(&Progress) + Sync) -> Tally {
    let tally = Mutex::new(Tally::default());
    let next = AtomicU64::new(0);
    let told = Mutex::new(Instant::now());
    std::thread::scope(|scope| {
        for _ in 0..campaign.jobs.max(1) {
            scope.spawn(|| {
                loop {
                    let place = next.fetch_add(1, Ordering::SeqCst);
                    let Some(seed) = usize::try_from(place).ok().and_then(|place| campaign.seeds.get(place)) else {
                        return;
                    };
                    let outcome = play(&Plan::new(*seed, campaign.operations), false);
                    let mut tally = lock(&tally);
                    tally.seeds = tally.seeds.saturating_add(1);
                    tally.steps = tally.steps.saturating_add(outcome.steps);
                    tally.coverage.add(&outcome.coverage);
                    for (name, times) in outcome.counted {
                        let kept = tally.counted.entry(name).or_default();
                        *kept = kept.saturating_add(times);
                    }
                    let first = outcome.violations.first().cloned();
                    if first.is_some() {
                        tally.failed.insert(*seed, outcome.violations);
                    }
                    let (seeds, failed) = (tally.seeds, tally.failed.len());
                    drop(tally);
                    let mut told = lock(&told);
                    if first.is_some() || told.elapsed() > Duration::from_secs(5) {
                        *told = Instant::now();
                        progress(&Progress { seeds, failed, just_failed: first.map(|first| (*seed, first)) });
                    }
                    if failed >= campaign.most_failures {
                        return;
                    }
                }
            });
        }
    });
    tally.into_inner().unwrap_or_default()
}
