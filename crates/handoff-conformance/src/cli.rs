//! The command line.

use std::{
    io::Write as _,
    path::{Path, PathBuf},
    process::ExitCode,
    time::{Duration, Instant},
};

use clap::{Args, Parser, Subcommand};
use jiff::Timestamp;

use crate::{
    case::{self, Suite},
    deployment::{self, Disposable, Plan},
    interruption::Interruption,
    json::sha256_hex,
    map::Map,
    meta, planted,
    profile::{Profile, meant},
    report::{self, Occasion},
    run::{self, Conduct},
};

/// A run in which something failed.
const FAILED: u8 = 1;

/// A run that was refused before it began.
const REFUSED: u8 = 2;

/// How many reasons are told at once.
const REASONS: usize = 20;

/// The conformance suite of the decision protocol.
#[derive(Debug, Parser)]
#[command(name = "handoff-conformance", version)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run the cases against a deployment: a line a case; exits 1 if any failed, 2 if it could not begin
    Run {
        /// The deployment
        #[arg(long, value_name = "FILE")]
        profile: PathBuf,
        #[command(flatten)]
        what: What,
        #[command(flatten)]
        how: How,
    },
    /// Compare the cases with the specification's map, and run nothing; exits 2 if they differ
    Check {
        #[command(flatten)]
        what: What,
    },
    /// Start a disposable `handoffd` in a directory, and write the profile for it
    Deploy {
        #[command(flatten)]
        plan: Plan,
        /// Where everything is kept; made if it is not there
        #[arg(long, value_name = "DIR")]
        directory: PathBuf,
    },
    /// Restart the server of a directory, on the same port
    Restart {
        /// The directory of `deploy`
        #[arg(long, value_name = "DIR")]
        directory: PathBuf,
        /// Where the process is to kill itself; empty is nowhere
        #[arg(long, value_name = "NAME", default_value = "")]
        crash_point: String,
    },
    /// Stop the server of a directory
    Stop {
        /// The directory of `deploy`
        #[arg(long, value_name = "DIR")]
        directory: PathBuf,
    },
    /// Plant one fault after the other, and tell which cases each turns red; exits 1 if one turns none red
    Planted {
        #[command(flatten)]
        planting: Planting,
        #[command(flatten)]
        what: What,
    },
    /// Deploy in a directory that vanishes, run, and stop
    Local {
        #[command(flatten)]
        plan: Plan,
        #[command(flatten)]
        what: What,
        #[command(flatten)]
        how: How,
    },
}

/// What to plant.
#[derive(Args, Debug)]
struct Planting {
    /// A `handoffd` that was built with the feature `planted-faults`
    #[arg(long, value_name = "PATH")]
    server: PathBuf,
    /// Only these faults
    #[arg(long, value_name = "NAME", num_args = 1.., value_delimiter = ',')]
    faults: Vec<String>,
    /// How many scenarios are played at once against each deployment
    #[arg(long, value_name = "N", default_value_t = 16, value_parser = at_least_one)]
    jobs: usize,
    /// How many deployments there are at once
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = at_least_one)]
    at_once: usize,
    /// End with the first case that turns red, of each fault
    #[arg(long)]
    until_red: bool,
    /// Where to write the page that names what each fault turned red
    #[arg(long, value_name = "FILE", conflicts_with = "faults")]
    write: Option<PathBuf>,
}

/// Which cases.
#[derive(Args, Debug)]
struct What {
    /// The directory of the cases
    #[arg(long, value_name = "DIR", default_value = "conformance/cases")]
    cases: PathBuf,
    /// The directory of the specification, with its `map.json`
    #[arg(long, value_name = "DIR", default_value = "spec")]
    spec: PathBuf,
    /// Only these cases; the map is not compared then
    #[arg(long, value_name = "ID", num_args = 1.., value_delimiter = ',')]
    only: Vec<String>,
}

/// How they are run.
#[derive(Args, Debug)]
struct How {
    /// Where to write the whole result, as JSON
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
    /// How many scenarios are played at once
    #[arg(long, value_name = "N", default_value_t = 32, value_parser = at_least_one)]
    jobs: usize,
}

/// Runs the command that the arguments name.
#[must_use]
pub fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return refuse(&[format!("no runtime: {error}")]),
    };
    match runtime.block_on(perform(arguments.command)) {
        Ok(code) => code,
        Err(problems) => refuse(&problems),
    }
}

async fn perform(command: Command) -> Result<ExitCode, Vec<String>> {
    let one = |problem: String| vec![problem];
    match command {
        Command::Run { profile, what, how } => {
            let profile = Profile::load(&profile).map_err(one)?;
            let suite = what.suite()?;
            how.play(&what, &suite, profile).await
        }
        Command::Check { what } => {
            let suite = what.suite()?;
            say(&format!("{}\n", what.compared(&suite)));
            Ok(ExitCode::SUCCESS)
        }
        Command::Deploy { plan, directory } => {
            let profile = deployment::deploy(&plan, &directory).await.map_err(one)?;
            say(&format!("{}\n", profile.display()));
            Ok(ExitCode::SUCCESS)
        }
        Command::Restart { directory, crash_point } => {
            deployment::restart(&directory, &crash_point).await.map_err(one)?;
            Ok(ExitCode::SUCCESS)
        }
        Command::Stop { directory } => {
            deployment::stop(&directory).await.map_err(one)?;
            Ok(ExitCode::SUCCESS)
        }
        Command::Planted { planting, what } => {
            let suite = what.suite()?;
            let outcome = unless_interrupted(planting.plant(suite)).await;
            outcome.and_then(|outcome| outcome).map_err(one)
        }
        Command::Local { plan, what, how } => {
            let suite = what.suite()?;
            let run = async {
                let deployment = Disposable::start(&plan).await.map_err(one)?;
                let profile = deployment.profile().map_err(one)?;
                how.play(&what, &suite, profile).await
            };
            unless_interrupted(run).await.map_err(one)?
        }
    }
}

/// Carries something out, unless somebody interrupts it. What is dropped on the way ends the servers that it started.
async fn unless_interrupted<T>(work: impl Future<Output = T>) -> Result<T, String> {
    let interruption = Interruption::listen().map_err(|error| format!("signals cannot be heard: {error}"))?;
    tokio::select! {
        outcome = work => Ok(outcome),
        () = interruption.came() => Err("interrupted".to_owned()),
    }
}

impl Planting {
    async fn plant(&self, suite: Suite) -> Result<ExitCode, String> {
        let faults = planted::list(&self.server, &self.faults).await?;
        let trial = planted::Trial {
            server: self.server.clone(),
            suite,
            jobs: self.jobs,
            at_once: self.at_once,
            until_red: self.until_red,
        };
        let found = trial.play(faults, |found| say(&planted::line(found))).await?;
        say(&planted::totals(&found));
        if let Some(path) = &self.write {
            write(path, &planted::page(&found, self.until_red))?;
        }
        let good = found.iter().all(|found| !found.cases.is_empty());
        Ok(if good { ExitCode::SUCCESS } else { ExitCode::from(FAILED) })
    }
}

impl What {
    /// What tells this map from others; none where it was not compared.
    fn map_digest(&self) -> Option<String> {
        let text = std::fs::read(self.spec.join("map.json")).ok().filter(|_| self.only.is_empty())?;
        Some(format!("sha256:{}", sha256_hex(&text)))
    }

    /// What was compared, in words.
    fn compared(&self, suite: &Suite) -> String {
        let cases = report::cases(suite.cases.len());
        match (self.only.is_empty(), suite.cases.len()) {
            (true, 1) => format!("{cases} agrees with the map"),
            (true, _) => format!("{cases} agree with the map"),
            (false, _) => format!("{cases} of the suite; the map was not compared"),
        }
    }

    /// The cases that are meant. All of them must agree with the map; where some are named, only these are looked at.
    fn suite(&self) -> Result<Suite, Vec<String>> {
        let mut suite = case::load(&self.cases)?;
        if self.only.is_empty() {
            let map = Map::load(&self.spec.join("map.json")).map_err(|problem| vec![problem])?;
            map.compare(&suite)?;
            return Ok(suite);
        }
        let ids = || suite.cases.iter().map(|case| case.id.as_str());
        let unknown = self.only.iter().filter(|id| !ids().any(|known| known == **id));
        let unknown: Vec<_> = unknown.map(|id| format!("there is no case `{id}`{}", meant(id, ids()))).collect();
        if !unknown.is_empty() {
            return Err(unknown);
        }
        suite.cases.retain(|case| self.only.contains(&case.id));
        Ok(suite)
    }
}

impl How {
    async fn play(&self, what: &What, suite: &Suite, profile: Profile) -> Result<ExitCode, Vec<String>> {
        if let Some(lacks) = profile.lacks() {
            complain(&lacks);
        }
        if let Some(path) = &self.report {
            // Better before the run than after it.
            write(path, "").map_err(|problem| vec![problem])?;
        }
        let meta = meta::look(&profile).await.map_err(|problem| vec![problem])?;
        let (started, at) = (Instant::now(), Timestamp::now());
        let shown = profile.clone();
        let tell = |verdict: &run::Verdict| say(&report::lines(verdict, &shown));
        let conduct = Conduct { jobs: self.jobs, ..Conduct::default() };
        let verdicts = run::play(suite, profile.clone(), &conduct, tell).await.map_err(|problem| vec![problem])?;
        let took: Duration = started.elapsed();
        if !what.only.is_empty() {
            say(&format!("{}\n", what.compared(suite)));
        }
        say(&report::totals(&verdicts, took));
        if let Some(path) = &self.report {
            let only = &what.only;
            let map = what.map_digest();
            let occasion = Occasion { profile: &profile, meta: meta.as_ref(), suite, map, only, started: at, took };
            let document = report::document(&verdicts, occasion);
            write(path, &format!("{document:#}\n")).map_err(|problem| vec![problem])?;
        }
        let good = !verdicts.is_empty() && verdicts.iter().all(run::Verdict::passed);
        Ok(if good { ExitCode::SUCCESS } else { ExitCode::from(FAILED) })
    }
}

fn at_least_one(text: &str) -> Result<usize, String> {
    text.parse().ok().filter(|number| *number >= 1).ok_or_else(|| "must be 1 or more".to_owned())
}

fn write(path: &Path, text: &str) -> Result<(), String> {
    std::fs::write(path, text).map_err(|error| format!("{}: {error}", path.display()))
}

/// Prints; with a reader that went away there is nobody left to tell.
fn say(text: &str) {
    let mut out = std::io::stdout().lock();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}

/// Says, a line each, why nothing was begun; of many reasons the first.
fn refuse(problems: &[String]) -> ExitCode {
    problems.iter().take(REASONS).for_each(|problem| complain(problem));
    match problems.len().saturating_sub(REASONS) {
        0 => {}
        more => complain(&format!("and {more} more")),
    }
    ExitCode::from(REFUSED)
}

fn complain(problem: &str) {
    // Nobody is left to tell of a failure here.
    let _ = writeln!(std::io::stderr().lock(), "handoff-conformance: {problem}");
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::Arguments;

    #[test]
    fn the_command_line_is_well_formed() {
        Arguments::command().debug_assert();
    }
}
