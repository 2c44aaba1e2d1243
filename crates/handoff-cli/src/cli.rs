//! What can be typed.

use clap::{Parser, Subcommand};

use crate::{commands, demo, exit};

/// Ask a person, get a typed answer, prove it later.
#[derive(Parser)]
#[command(name = "handoff", version, after_help = exit::HELP, subcommand_required = true, arg_required_else_help = true)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// The commands; each is described where its arguments are.
#[derive(Subcommand)]
pub(crate) enum Command {
    Ask(Box<commands::ask::Args>),
    Answer(commands::answer::Args),
    List(commands::list::Args),
    Show(commands::show::Args),
    Cancel(commands::cancel::Args),
    Escalate(commands::route::EscalateArgs),
    Reassign(commands::route::ReassignArgs),
    Deliveries(commands::deliveries::ListArgs),
    Redeliver(commands::deliveries::RedeliverArgs),
    Grade(commands::deliveries::GradeArgs),
    Dispositions(commands::deliveries::DispositionsArgs),
    Attempts(commands::deliveries::AttemptsArgs),
    Redeem(commands::redeem::Args),
    Export(commands::export::Args),
    Import(commands::import::Args),
    Verify(commands::verify::Args),
    Policy(commands::policy::Args),
    Person(commands::person::Args),
    Keys(commands::keys::Args),
    Fsck(commands::fsck::Args),
    Demo(demo::Args),
    Completions(commands::completions::Args),
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
