//! The simulator: seeds that are played in virtual time, and crash points.

use std::{process::Command, thread};

use crate::failure::Failure;
use crate::run::{Run, show};

/// How many seeds belong to every run of the tests.
const SEEDS: u64 = 2_000;
/// How many belong to the long tests.
const MANY_SEEDS: u64 = 20_000;

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
}

/// Plays what is wanted.
pub(crate) fn simulate(run: &mut Run, wanted: &Wanted) -> Result<(), Failure> {
    run.step("simulation", |run| {
        let mut command = simulator(run);
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
    show(simulator(run).args(["crash", "--jobs", &jobs(None)]))?;
    show(simulator(run).args(["kill", "--jobs", &jobs(None)]))
}

fn seeds(run: &Run, count: u64) -> Result<(), Failure> {
    show(simulator(run).args(["seeds", "--kept", "--seeds", &count.to_string(), "--jobs", &jobs(None)]))
}

/// The simulator, checked like any debug build, with our own code and what computes digests and signatures optimized: it
/// plays everything anew millions of times. What else it depends on is built as for the tests, and shared with them.
fn simulator(run: &Run) -> Command {
    let mut command = run.cargo(&["run", "--quiet", "--package", "handoff-simulator"]);
    for hot in
        ["handoff-protocol", "handoff-engine", "handoff-testkit", "handoff-simulator", "curve25519-dalek", "sha2"]
    {
        command.arg("--config").arg(format!("profile.dev.package.{hot}.opt-level=2"));
    }
    command.arg("--").env("CARGO_INCREMENTAL", "0");
    command
}

fn jobs(wanted: Option<usize>) -> String {
    let processors = || thread::available_parallelism().map_or(1, Into::into);
    wanted.unwrap_or_else(processors).to_string()
}
