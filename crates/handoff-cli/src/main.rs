//! `handoff`, the command line: ask a person, answer, look, prove, and operate a store.
//!
//! | module | what lives there |
//! |---|---|
//! | `cli` | what can be typed |
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
mod waiting;

use std::process::ExitCode;

use clap::Parser as _;

use self::{
    cli::{Cli, Command},
    exit::Exit,
    failure::Failure,
    output::Output,
};

fn main() -> ExitCode {
    let cli = Cli::parse();
    let outcome = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::new(Exit::Failed, format!("the program cannot start: {error}")))
        .and_then(|runtime| runtime.block_on(run(cli)));
    let exit = outcome.unwrap_or_else(|failure| {
        output::note(&format!("handoff: {}", failure.message));
        failure.exit
    });
    ExitCode::from(exit.code())
}

async fn run(cli: Cli) -> Result<Exit, Failure> {
    let output = Output::new(cli.json);
    let remote = &cli.remote;
    match cli.command {
        Command::Ask(args) => commands::ask::run(args, remote, output).await,
        Command::Answer(args) => commands::answer::run(args, remote, output).await,
        Command::List(args) => commands::list::run(args, remote, output).await,
        Command::Show(args) => commands::show::run(&args, remote, output).await,
        Command::Cancel(args) => commands::cancel::run(&args, remote, output).await,
        Command::Redeem(args) => commands::redeem::run(&args, remote, output).await,
        Command::Export(args) => commands::export::run(&args, remote, output).await,
        Command::Verify(args) => commands::verify::run(&args, output),
        Command::Person(args) => commands::person::run(args, output).await,
        Command::Keys(args) => commands::keys::run(args, output).await,
        Command::Demo(args) => demo::run(args, output).await,
    }
}
