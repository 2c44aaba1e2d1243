//! `handoff`, the command line: ask a person, answer, look, prove, and operate a store.
//!
//! | module | what lives there |
//! |---|---|
//! | `cli`, `usage` | what can be typed; what is said of what cannot |
//! | `commands` | one file a command |
//! | `demo` | the whole story in one command, against a real server |
//! | `remote`, `operator` | the server that is talked to; the store that is opened directly |
//! | `fields`, `waiting` | declaring fields and reading values; waiting for a decision |
//! | `output`, `failure`, `exit` | what is printed, how a command fails, what it exits with |

mod cli;
mod commands;
mod demo;
mod exit;
mod failure;
mod fields;
mod operator;
mod output;
mod remote;
mod usage;
mod waiting;

use std::process::ExitCode;

use self::{cli::Command, exit::Exit, failure::Failure};

/// What is kept and served is JSON, in many small pieces of memory.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let command = match usage::read() {
        Ok(cli) => cli.command,
        Err(exit) => return ExitCode::from(exit.code()),
    };
    let outcome = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::new(Exit::Failed, format!("the program cannot start: {error}")))
        .and_then(|runtime| runtime.block_on(run(command)));
    let exit = outcome.unwrap_or_else(|failure| {
        output::wrong(&failure.message);
        failure.exit
    });
    ExitCode::from(exit.code())
}

async fn run(command: Command) -> Result<Exit, Failure> {
    match command {
        Command::Ask(args) => commands::ask::run(*args).await,
        Command::Answer(args) => commands::answer::run(args).await,
        Command::List(args) => commands::list::run(args).await,
        Command::Show(args) => commands::show::run(&args).await,
        Command::Cancel(args) => commands::cancel::run(&args).await,
        Command::Escalate(args) => commands::route::escalate(&args).await,
        Command::Reassign(args) => commands::route::reassign(&args).await,
        Command::Deliveries(args) => commands::deliveries::list(&args).await,
        Command::Redeliver(args) => commands::deliveries::redeliver(&args).await,
        Command::Grade(args) => commands::deliveries::grade(&args).await,
        Command::Dispositions(args) => commands::deliveries::dispositions(&args).await,
        Command::Attempts(args) => commands::deliveries::attempts(&args).await,
        Command::Redeem(args) => commands::redeem::run(&args).await,
        Command::Export(args) => commands::export::run(&args).await,
        Command::Import(args) => commands::import::run(&args).await,
        Command::Verify(args) => commands::verify::run(&args),
        Command::Policy(args) => commands::policy::run(args),
        Command::Person(args) => commands::person::run(args).await,
        Command::Keys(args) => commands::keys::run(args).await,
        Command::Fsck(args) => commands::fsck::run(args).await,
        Command::Demo(args) => demo::run(args).await,
        Command::Completions(args) => commands::completions::run(&args),
    }
}
