//! What can be typed.

use clap::{Parser, Subcommand};

use crate::{commands, demo, exit, remote::Remote};

/// Ask a person, get a typed answer, prove it later.
#[derive(Parser)]
#[command(name = "handoff", version, after_help = exit::HELP, subcommand_required = true, arg_required_else_help = true)]
pub(crate) struct Cli {
    /// Print results as JSON
    #[arg(long, global = true)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) remote: Remote,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// The commands.
#[derive(Subcommand)]
pub(crate) enum Command {
    /// Ask a person and wait for the answer
    Ask(commands::ask::Args),
    /// Answer a request, as a person
    Answer(commands::answer::Args),
    /// List requests, oldest first
    List(commands::list::Args),
    /// Show a request
    Show(commands::show::Args),
    /// Take a pending request back
    Cancel(commands::cancel::Args),
    /// Redeem an authorization for one effect, once
    Redeem(commands::redeem::Args),
    /// Write all receipts, with everything that proves them, to a file
    Export(commands::export::Args),
    /// Check an export, offline
    Verify(commands::verify::Args),
    /// People: add them, let them in, change their role (opens the store directly)
    Person(commands::person::Args),
    /// Machines and their keys, and the published signing keys (opens the store directly)
    Keys(commands::keys::Args),
    /// See the whole story on this machine, in a few seconds
    Demo(demo::Args),
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::Cli;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }
}
