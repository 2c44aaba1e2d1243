//! `handoff-bench`: loads any server of the decision contract, and says what it bore.
//!
//! It speaks the wire contract and nothing else, so one program and one set of figures serve for every server. With
//! `--spawn` it starts our own, on a fresh store for each measurement.
//!
//! | module | what lives there |
//! |---|---|
//! | `cli` | the command line |
//! | `target`, `spawn` | the server: one that runs already, or one of our own |
//! | `wire` | connections, calls and bodies |
//! | `load`, `pace`, `tally`, `meter`, `process` | callers at work, at which rate, how long they took, what it cost |
//! | `receiver` | what is pushed to, and what it got |
//! | `scenario` | what is measured, one file each |
//! | `limits` | what the machine itself can do |
//! | `outcome`, `report` | the file of a run, and the page out of several |
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a command for the terminal speaks on its streams")]

mod cli;
mod error;
mod limits;
mod load;
mod machine;
mod meter;
mod outcome;
mod pace;
mod process;
mod receiver;
mod report;
mod scenario;
mod spawn;
mod tally;
mod target;
mod wire;

use std::{fs, path::PathBuf, process::ExitCode};

use clap::{Parser as _, ValueEnum as _};

use crate::{
    cli::{Arguments, Command, Run},
    error::BenchError,
    outcome::Outcome,
    scenario::Scenario,
};

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let done = match arguments.command {
        Command::Run(run) => measure(&run),
        Command::Report { files } => tell(&files),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("handoff-bench: {error}");
            ExitCode::FAILURE
        }
    }
}

fn measure(run: &Run) -> Result<(), BenchError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.map_err(BenchError::system("no runtime"))?.block_on(measure_all(run))
}

async fn measure_all(run: &Run) -> Result<(), BenchError> {
    let (source, size) = (run.source()?, run.size());
    let mut outcome = Outcome { machine: machine::describe(), server: String::new(), measurements: Vec::new() };
    {
        let server = source.server().await?;
        let mut workers = load::open(server.target(), 1, 1).await?;
        if let Some(worker) = workers.first_mut() {
            outcome.server = worker.client.meta().await?;
        }
    }
    println!("{}", report::HEAD);
    let all = Scenario::value_variants();
    let chosen = if run.scenarios.is_empty() { all } else { &run.scenarios };
    for scenario in chosen {
        let mut tell = |measurement| {
            println!("{}", report::line(&measurement));
            outcome.measurements.push(measurement);
        };
        scenario::run(*scenario, &source, &size, &mut tell).await?;
        // After each scenario, so that a long run that is broken off has told what it knew.
        if let Some(path) = &run.json {
            let text = serde_json::to_string_pretty(&outcome)
                .map_err(|error| BenchError::Nonsense(format!("the figures have no JSON form: {error}")))?;
            fs::write(path, text + "\n").map_err(BenchError::system("the figures cannot be written"))?;
        }
    }
    match source.unsound() {
        0 => Ok(()),
        stores => Err(BenchError::Unsound(stores)),
    }
}

fn tell(files: &[PathBuf]) -> Result<(), BenchError> {
    let runs = files
        .iter()
        .map(|path| {
            let text = fs::read_to_string(path).map_err(BenchError::system(path.display().to_string()))?;
            serde_json::from_str::<Outcome>(&text)
                .map_err(|error| BenchError::Nonsense(format!("{} is no file of a run: {error}", path.display())))
        })
        .collect::<Result<Vec<_>, _>>()?;
    print!("{}", report::page(&runs));
    Ok(())
}
