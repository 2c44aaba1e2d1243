//! Plays seeds and crash points from the command line; `cargo xtask simulate` and `cargo xtask crash` call it.
#![expect(clippy::print_stdout, reason = "a command for the terminal speaks on standard output")]

use std::{
    collections::BTreeSet,
    process::{Command as Process, ExitCode},
    time::Instant,
};

use clap::{Parser, Subcommand};
#[cfg(feature = "planted-faults")]
use handoff_simulator::planted as planting;
use handoff_simulator::{
    campaign::{Campaign, Tally, play_all},
    crash,
    kept::kept_seeds,
    killed,
    plan::Plan,
    run::play,
    shrink::shrink,
};

/// A seed makes and drops millions of small texts.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// How many operations a seed has, about, unless somebody says otherwise.
const OPERATIONS: u64 = 300;

/// One seed of so many is played in two processes.
const TWICE: u64 = 100;

/// Plays Handoff through in virtual time.
#[derive(Debug, Parser)]
#[command(name = "handoff-simulator")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Play many seeds, and make the first that fails small
    Seeds {
        /// How many
        #[arg(long, default_value_t = 2_000)]
        seeds: u64,
        /// The first of them
        #[arg(long, default_value_t = 0)]
        first: u64,
        /// About how many operations each has
        #[arg(long, default_value_t = OPERATIONS)]
        operations: u64,
        /// How many are played at once
        #[arg(long, default_value_t = 1)]
        jobs: usize,
        /// Play the seeds that ever failed as well
        #[arg(long)]
        kept: bool,
    },
    /// Play one seed
    Seed {
        /// Which
        seed: u64,
        /// About how many operations it has
        #[arg(long, default_value_t = OPERATIONS)]
        operations: u64,
        /// Print everything that happens
        #[arg(long)]
        trace: bool,
        /// Operations to leave out, by number
        #[arg(long, value_delimiter = ',')]
        without_operations: Vec<usize>,
        /// Faults to leave out, by number
        #[arg(long, value_delimiter = ',')]
        without_faults: Vec<usize>,
    },
    /// Plant a fault, and play seeds until one finds it
    #[cfg(feature = "planted-faults")]
    Fault {
        /// Which
        name: String,
        /// How many seeds at the most
        #[arg(long)]
        most: u64,
        /// About how many operations each has
        #[arg(long, default_value_t = OPERATIONS)]
        operations: u64,
    },
    /// Plant one fault after the other, each in a process of its own
    #[cfg(feature = "planted-faults")]
    Planted {
        /// How many seeds at the most for a fault that only the simulator can see
        #[arg(long, default_value_t = 5_000)]
        most: u64,
        /// How many for one that shows from outside as well
        #[arg(long, default_value_t = 40)]
        most_shown: u64,
        /// How many are tried at once
        #[arg(long, default_value_t = 1)]
        jobs: usize,
        /// Only these
        #[arg(long, value_delimiter = ',')]
        only: Vec<String>,
        /// Write the table into this file, between its marks
        #[arg(long)]
        write: Option<std::path::PathBuf>,
    },
    /// Play each story once for every call of the store that it makes, and every way in which that call can go wrong
    Crash {
        /// How many are played at once
        #[arg(long, default_value_t = 1)]
        jobs: usize,
    },
    /// The same with a real file and a process that dies, at every call and at every moment around it
    Kill {
        /// How many are told at once
        #[arg(long, default_value_t = 1)]
        jobs: usize,
    },
    /// Be the process that dies
    #[command(hide = true)]
    Node(killed::node::Start),
}

/// What `node` is told is not for people.
fn serve(start: &killed::node::Start) -> bool {
    match killed::node::serve(start) {
        Ok(()) => true,
        Err(error) => {
            println!("{error}");
            false
        }
    }
}

fn main() -> ExitCode {
    let ended_well = match Arguments::parse().command {
        Command::Seeds { seeds, first, operations, jobs, kept } => {
            let old = !kept || old_seeds();
            let numbers = (first..first.saturating_add(seeds)).collect();
            many(&Campaign { seeds: numbers, operations, jobs, most_failures: 20 }) && old
        }
        Command::Seed { seed, operations, trace, without_operations, without_faults } => {
            let plan = Plan::new(seed, operations);
            one(&plan.without(&set(&without_operations), &set(&without_faults)), trace)
        }
        Command::Crash { jobs } => crash_points(jobs),
        Command::Kill { jobs } => killed_processes(jobs),
        Command::Node(start) => serve(&start),
        #[cfg(feature = "planted-faults")]
        Command::Fault { name, most, operations } => {
            println!("{}", planting::said(planting::until_caught(&name, most, operations).as_ref()));
            true
        }
        #[cfg(feature = "planted-faults")]
        Command::Planted { most, most_shown, jobs, only, write } => {
            plant(&planting::Trial { most, most_shown, operations: OPERATIONS, jobs, only }, write.as_deref())
        }
    };
    if ended_well { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn set(numbers: &[usize]) -> BTreeSet<usize> {
    numbers.iter().copied().collect()
}

fn one(plan: &Plan, trace: bool) -> bool {
    let outcome = play(plan, trace);
    if trace {
        print!("{}", outcome.trace);
        return outcome.violations.is_empty();
    }
    println!(
        "seed {}: {} operations planned, {} faults planned, {} steps",
        plan.seed,
        plan.operations(),
        plan.faults.len(),
        outcome.steps
    );
    for violation in &outcome.violations {
        println!("  {violation}");
    }
    outcome.violations.is_empty()
}

/// Plays every seed that ever failed.
fn old_seeds() -> bool {
    let kept = kept_seeds();
    let mut all_well = true;
    for (seed, operations) in &kept {
        let outcome = play(&Plan::new(*seed, *operations), false);
        if let Some(first) = outcome.violations.first() {
            println!("seed {seed} of {operations} operations, which failed before, fails again: {first}");
            all_well = false;
        }
    }
    println!("{} seeds that failed before: {}", kept.len(), if all_well { "none fails" } else { "some fail" });
    all_well
}

fn many(campaign: &Campaign) -> bool {
    let (all, began) = (campaign.seeds.len(), Instant::now());
    let tally = play_all(campaign, |progress| {
        if let Some((seed, violation)) = &progress.just_failed {
            println!("seed {seed} fails: {violation}");
        }
        let took = began.elapsed().as_secs_f64();
        println!("{} of {all} seeds, {} failed, {took:.0} s", progress.seeds, progress.failed);
    });
    let took = began.elapsed();
    report(&tally);
    let same = twice(campaign);
    println!(
        "{} seeds in {:.1} s, {} failed; {} of them in two processes, {}",
        tally.seeds,
        took.as_secs_f64(),
        tally.failed.len(),
        same.0,
        if same.1 { "each the same to the byte" } else { "NOT the same" }
    );
    if let Some((seed, violations)) = tally.failed.iter().next() {
        make_small(*seed, campaign.operations, violations.first().map_or("", String::as_str));
    }
    tally.failed.is_empty() && same.1
}

/// Makes a seed that fails small, and prints how to see it again.
fn make_small(seed: u64, operations: u64, violation: &str) {
    println!("seed {seed} is made small, which failed with: {violation}");
    let plan = Plan::new(seed, operations);
    let without = shrink(&plan, 400);
    let list = |numbers: &BTreeSet<usize>| numbers.iter().map(usize::to_string).collect::<Vec<_>>().join(",");
    let small = plan.without(&without.operations, &without.faults);
    for op in small.clients.iter().flatten() {
        println!("  operation {} {}", op.number, op.op.name());
    }
    for fault in &small.faults {
        println!("  fault {} {:?}", fault.number, fault.what);
    }
    println!("to see it again:");
    println!(
        "cargo xtask simulate --seed {seed} --operations {operations} --without-operations {} --without-faults {}",
        list(&without.operations),
        list(&without.faults)
    );
    println!("to keep it, add this line to crates/handoff-simulator/seeds.txt:");
    println!("{seed} {operations} {violation}");
}

/// Plays one seed of a hundred here and in another process; says how many, and whether all were the same.
fn twice(campaign: &Campaign) -> (usize, bool) {
    let chosen: Vec<u64> = campaign.seeds.iter().copied().filter(|seed| seed.is_multiple_of(TWICE)).collect();
    let Ok(program) = std::env::current_exe() else { return (0, false) };
    let mut same = true;
    for seed in &chosen {
        let here = play(&Plan::new(*seed, campaign.operations), true).trace;
        let operations = campaign.operations.to_string();
        let there =
            Process::new(&program).args(["seed", &seed.to_string(), "--trace", "--operations", &operations]).output();
        if !there.is_ok_and(|there| there.stdout == here.as_bytes()) {
            println!("seed {seed} is another one in another process");
            same = false;
        }
    }
    (chosen.len(), same)
}

fn report(tally: &Tally) {
    for (name, times) in &tally.counted {
        println!("{times:>12}  {name}");
    }
    print!("{}", tally.coverage.table());
    for row in tally.coverage.missing() {
        println!("never taken: {row}");
    }
    for (row, why) in handoff_simulator::coverage::Coverage::never() {
        println!("cannot be taken: {row}: {why}");
    }
    for (seed, violations) in &tally.failed {
        println!("seed {seed} failed:");
        for violation in violations.iter().take(5) {
            println!("  {violation}");
        }
    }
}

fn crash_points(jobs: usize) -> bool {
    let began = Instant::now();
    let tally = crash::every_story(jobs, |tally, name| {
        println!("{} stories, {} runs, {} failed: {name}", tally.stories, tally.runs, tally.failed.len());
    });
    for (name, call, way, violations) in tally.failed.iter().take(40) {
        println!("{name}, call {call}, {}: {}", way.name(), violations.first().map_or("", String::as_str));
    }
    let took = began.elapsed().as_secs_f64();
    println!("{} stories, {} runs, {} failures, {took:.0} s", tally.stories, tally.runs, tally.failed.len());
    tally.failed.is_empty()
}

fn killed_processes(jobs: usize) -> bool {
    let began = Instant::now();
    let Ok(program) = std::env::current_exe() else { return false };
    let progress = |tally: &killed::points::Tally, name: &str| {
        println!("{} stories, {} runs, {} failed: {name}", tally.stories, tally.runs, tally.failed.len());
    };
    let tally = match killed::points::every_story(jobs, &program, progress) {
        Ok(tally) => tally,
        Err(error) => {
            println!("{error}");
            return false;
        }
    };
    for (name, death, wrong) in tally.failed.iter().take(40) {
        let place = death.map_or_else(String::new, |death| format!(", {} call {}", death.moment.name(), death.at));
        println!("{name}{place}: {wrong}");
    }
    let took = began.elapsed().as_secs_f64();
    println!(
        "{} stories over real files, {} runs, {} processes that died, {} failures, {took:.0} s",
        tally.stories,
        tally.runs,
        tally.deaths,
        tally.failed.len()
    );
    tally.failed.is_empty()
}

/// Where the table of planted faults begins and ends in a page.
#[cfg(feature = "planted-faults")]
const MARKS: [&str; 2] = ["<!-- planted faults: begin -->\n", "<!-- planted faults: end -->\n"];

/// Plants every fault; all is well if each that only the simulator can see is caught.
#[cfg(feature = "planted-faults")]
fn plant(trial: &planting::Trial, page: Option<&std::path::Path>) -> bool {
    use handoff_protocol::planted::Fault;

    let began = Instant::now();
    let found = planting::every_fault(trial, |one| {
        let (name, took) = (one.fault.name(), began.elapsed().as_secs());
        match &one.caught {
            Some((seeds, violation)) => println!("{took} s: {name}: caught after {seeds} seeds: {violation}"),
            None => println!("{took} s: {name}: SURVIVED {} seeds", one.played),
        }
    });
    let found = match found {
        Ok(found) => found,
        Err(problem) => {
            println!("{problem}");
            return false;
        }
    };
    let is_own = |one: &&planting::Found| Fault::PLAYED.contains(&one.fault);
    let survived = found.iter().filter(is_own).filter(|one| one.caught.is_none()).count();
    let caught = found.iter().filter(|one| one.caught.is_some()).count();
    println!("{} faults, {caught} caught; of those that only the simulator can see {survived} survived", found.len());
    if let Some(page) = page
        && let Err(problem) = write_table(page, &planting::tables(&found))
    {
        println!("{}: {problem}", page.display());
        return false;
    }
    survived == 0
}

#[cfg(feature = "planted-faults")]
fn write_table(page: &std::path::Path, table: &str) -> Result<(), String> {
    let text = std::fs::read_to_string(page).map_err(|error| error.to_string())?;
    let [begin, end] = MARKS;
    let (before, rest) = text.split_once(begin).ok_or("it has no mark where the table begins")?;
    let (_, after) = rest.split_once(end).ok_or("it has no mark where the table ends")?;
    std::fs::write(page, format!("{before}{begin}{table}{end}{after}")).map_err(|error| error.to_string())
}
