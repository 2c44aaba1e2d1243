//! The project's own commands, run as `cargo xtask COMMAND`.
//!
//! | module | what lives there |
//! |---|---|
//! | [`gate`] | the steps of the gate, in order, and the cargo command behind each |
//! | [`run`] | how a step is announced, timed and, when it fails, reported |
//! | [`tools`] | what is looked for, and installed, before a step needs it |
//! | [`browser`] | what the pages are looked at with |
//! | [`conformance`] | the conformance suite against our own server, as it is and with faults planted |
//! | [`postgres`] | the database that tests run against |
//! | [`coverage`] | the lines of protocol and engine that the tests run |
//! | [`contracts`] | where the contract files are found |
//! | [`deployment`] | the Dockerfile and the unit of systemd, read by what knows them |
//! | [`interleavings`] | the queues and the hub, under thousands of orders of their threads |
//! | [`instructions`] | instructions of a raise, an answer and a verification, held against the record |
//! | [`layers`] | the check that dependencies point downward and that the rules stay pure |
//! | [`simulation`] | seeds that are played in virtual time, and crash points |
//! | [`specification`] | the check that each rule is implemented and tested where the specification says |
//! | [`text`] | the check of the tree's text: paths of one machine, leftovers, links, long files, undocumented crates |
//! | [`tree`] | the tree's files and paths |
#![expect(clippy::print_stdout, reason = "a command for the terminal speaks on standard output")]

mod browser;
mod conformance;
mod contracts;
mod coverage;
mod deployment;
mod failure;
mod gate;
mod instructions;
mod interleavings;
mod layers;
mod postgres;
mod run;
mod simulation;
mod specification;
mod text;
mod tools;
mod tree;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::conformance::Store;
use crate::failure::Failure;
use crate::run::Run;
use crate::simulation::Wanted;

/// The project's own commands.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

/// What can be asked for; each doc comment is the help text.
#[derive(Clone, Debug, Subcommand)]
enum Command {
    /// Run the test-suite: layers, doc tests, every test of the workspace, then the seeds of the simulator
    Test,
    /// Check that dependencies point downward and that handoff-protocol stays free of input and output
    Layers,
    /// Check that the code is formatted
    Format,
    /// Run clippy over everything; a warning is a failure
    Lint,
    /// Build the documentation, private items too; a warning is a failure
    Docs,
    /// Check licences, banned crates and sources with cargo-deny, which is installed when it is missing
    Deny,
    /// Lint the Dockerfile and the unit of systemd, as far as there are programs for it
    Deploy,
    /// Check the tree's text: paths of one machine, leftovers, long files, undocumented crates and dependencies
    Text,
    /// Check that each rule of the specification is implemented and tested where it says
    Rules,
    /// Write what is made in `spec/` anew: the description of the API from the types, the map from the chapters
    Spec,
    /// Run the whole gate, which changes no file: test, format, lint, docs, deny, deploy, rules, text
    Verify,
    /// Rewrite what can be rewritten: clippy's suggestions, then the format
    Fix,
    /// Run the long tests (the ignored ones) in release mode, many seeds, every crash point and thousands of orders of threads,
    /// count the lines that tests run, run the conformance suite with planted faults, then count instructions
    Full,
    /// Play seeds in virtual time: nodes, clients and faults, and checks of everything that they leave
    Simulate(Wanted),
    /// Play forty stories, each once for every call of the store and every way in which it can go wrong; then once more over
    /// real files, in a process that dies at every call
    Crash,
    /// Run the conformance suite against a disposable server at both levels
    Conformance {
        /// What the server keeps everything in
        #[arg(long, value_enum, default_value_t = Store::Both, conflicts_with = "planted")]
        store: Store,
        /// Plant one fault after the other instead; each must turn a case red
        #[arg(long)]
        planted: bool,
        /// Write conformance/planted-faults.md anew: which case each fault turned red
        #[arg(long, requires = "planted")]
        write: bool,
    },
    /// Count the lines of protocol and engine that the tests run, and name those that they do not; fails below 95 and 90 percent
    Coverage,
    /// Play the queues and the hub under shuttle: thousands of orders of their threads
    Shuttle,
    /// Take pictures of every page, at phone and desktop size, in light and dark, into target/screenshots
    Screenshots,
    /// Count the instructions of a raise, an answer and a verification; more than 5 percent above the record is a failure
    Instructions {
        /// Write the record anew
        #[arg(long)]
        record: bool,
    },
}

fn main() -> ExitCode {
    if let Some(exit) = coverage::instrument() {
        return exit;
    }
    let arguments = Arguments::parse();
    match Run::new().and_then(|mut run| perform(arguments.command, &mut run)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            println!("xtask: {failure}");
            ExitCode::FAILURE
        }
    }
}

fn perform(command: Command, run: &mut Run) -> Result<(), Failure> {
    match command {
        Command::Test => gate::test(run)?,
        Command::Layers => gate::layers(run)?,
        Command::Format => gate::format(run)?,
        Command::Lint => gate::lint(run)?,
        Command::Docs => gate::docs(run)?,
        Command::Deny => gate::deny(run)?,
        Command::Deploy => gate::deploy(run)?,
        Command::Text => gate::text(run)?,
        Command::Rules => gate::rules(run)?,
        Command::Spec => gate::spec(run)?,
        Command::Verify => gate::verify(run)?,
        Command::Fix => gate::fix(run)?,
        Command::Full => gate::full(run)?,
        Command::Simulate(wanted) => simulation::simulate(run, &wanted)?,
        Command::Crash => run.step("crash points", simulation::crash)?,
        Command::Conformance { planted: false, store, .. } => gate::conformance(run, store)?,
        Command::Conformance { planted: true, write, .. } => gate::planted(run, write)?,
        Command::Shuttle => run.step("interleavings", interleavings::play)?,
        Command::Coverage => run.step("coverage", coverage::measure)?,
        Command::Screenshots => gate::screenshots(run)?,
        Command::Instructions { record: true } => run.step("record of instructions", instructions::record)?,
        Command::Instructions { record: false } => gate::instructions(run)?,
    }
    run.summarize();
    Ok(())
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::Arguments;

    #[test]
    fn the_command_line_is_well_formed() {
        Arguments::command().debug_assert();
    }
}
