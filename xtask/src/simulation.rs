//! The simulator: seeds that are played in virtual time, and crash points.

use std::{process::Command, thread};

use crate::failure::Failure;
use crate::run::{Run, show};

/// How many seeds belong to every run of the tests.
const SEEDS: u64 = 2_000;
/// How many belong to the long tests.
const MANY_SEEDS: u64 = 20_000;
/// How many seeds a planted fault gets at the most.
const PLANTED_SEEDS: u64 = 5_000;
/// How many one that conformance finds as well.
const SHOWN_SEEDS: u64 = 40;
/// Where the table of planted faults is.
const PAGE: &str = "docs/testing.md";

/// Which seeds are wanted, and how.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Wanted {
    /// How many seeds to play
    #[arg(long, default_value_t = SEEDS)]
    seeds: u64,
    /// Play this seed alone, or, with --seeds, so many from it on
    #[arg(long)]
    seed: Option<u64>,
    /// About how many operations a seed has
    #[arg(long, default_value_t = 300)]
    operations: u64,
    /// How many are played at once; as many as there are processors unless told otherwise
    #[arg(long)]
    jobs: Option<usize>,
    /// Print everything that happens in the one seed
    #[arg(long)]
    trace: bool,
    /// Operations to leave out of the one seed, as a failure prints them
    #[arg(long, default_value = "")]
    without_operations: String,
    /// Faults to leave out of the one seed, as a failure prints them
    #[arg(long, default_value = "")]
    without_faults: String,
    /// Plant one fault after the other instead; each that only the simulator can see must be found
    #[arg(long)]
    planted: bool,
    /// Only these faults, by name
    #[arg(long, requires = "planted", default_value = "")]
    only: String,
    /// How many seeds at the most for a fault that conformance finds as well
    #[arg(long, requires = "planted", default_value_t = SHOWN_SEEDS)]
    shown: u64,
    /// Write the table of faults in docs/testing.md anew
    #[arg(long, requires = "planted")]
    write: bool,
}

/// Plays what is wanted.
pub(crate) fn simulate(run: &mut Run, wanted: &Wanted) -> Result<(), Failure> {
    if wanted.planted {
        return run.step("simulation of planted faults", |run| planted(run, wanted));
    }
    run.step("simulation", |run| {
        let mut command = simulator(run, &[]);
        let operations = wanted.operations.to_string();
        match wanted.seed {
            Some(seed) if wanted.seeds == SEEDS => {
                command.args(["seed", &seed.to_string(), "--operations", &operations]);
                if wanted.trace {
                    command.arg("--trace");
                }
                for (name, list) in
                    [("--without-operations", &wanted.without_operations), ("--without-faults", &wanted.without_faults)]
                {
                    if !list.is_empty() {
                        command.args([name, list]);
                    }
                }
            }
            first => {
                let first = first.unwrap_or(0).to_string();
                command.args(["seeds", "--seeds", &wanted.seeds.to_string(), "--first", &first]);
                command.args(["--operations", &operations, "--jobs", &jobs(wanted.jobs)]);
            }
        }
        show(&mut command)
    })
}

/// Plants one fault after the other and plays seeds until one finds it.
fn planted(run: &Run, wanted: &Wanted) -> Result<(), Failure> {
    let mut command = simulator(run, &["--features", "planted-faults"]);
    let most = if wanted.seeds == SEEDS { PLANTED_SEEDS } else { wanted.seeds };
    command.args(["planted", "--most", &most.to_string(), "--most-shown", &wanted.shown.to_string()]);
    command.args(["--jobs", &jobs(wanted.jobs)]);
    if !wanted.only.is_empty() {
        command.args(["--only", &wanted.only]);
    }
    if wanted.write {
        command.args(["--write", PAGE]);
    }
    show(&mut command)
}

/// Plays the seeds of every test run, and those that ever failed.
pub(crate) fn few(run: &Run) -> Result<(), Failure> {
    seeds(run, SEEDS)
}

/// Plays the seeds of the long tests.
pub(crate) fn many(run: &Run) -> Result<(), Failure> {
    seeds(run, MANY_SEEDS)
}

/// Plays every crash point, in virtual time and then with real files and processes that die.
pub(crate) fn crash(run: &Run) -> Result<(), Failure> {
    show(simulator(run, &[]).args(["crash", "--jobs", &jobs(None)]))?;
    show(simulator(run, &[]).args(["kill", "--jobs", &jobs(None)]))
}

fn seeds(run: &Run, count: u64) -> Result<(), Failure> {
    show(simulator(run, &[]).args(["seeds", "--kept", "--seeds", &count.to_string(), "--jobs", &jobs(None)]))
}

/// The simulator, checked like any debug build, with our own code and what computes digests and signatures optimized: it
/// plays everything anew millions of times. What else it depends on is built as for the tests, and shared with them.
fn simulator(run: &Run, features: &[&str]) -> Command {
    let mut command = run.cargo(&["run", "--quiet", "--package", "handoff-simulator"]);
    for hot in
        ["handoff-protocol", "handoff-engine", "handoff-testkit", "handoff-simulator", "curve25519-dalek", "sha2"]
    {
        command.arg("--config").arg(format!("profile.dev.package.{hot}.opt-level=2"));
    }
    command.args(features).arg("--").env("CARGO_INCREMENTAL", "0");
    command
}

fn jobs(wanted: Option<usize>) -> String {
    let processors = || thread::available_parallelism().map_or(1, Into::into);
    wanted.unwrap_or_else(processors).to_string()
}
