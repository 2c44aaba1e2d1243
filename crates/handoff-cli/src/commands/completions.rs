//! `handoff completions`: what a shell needs to complete commands and options.

use clap::CommandFactory as _;
use clap_complete::{Shell, generate};

use crate::{cli::Cli, exit::Exit, failure::Failure, output};

/// Print the completions for a shell; its own documentation says where they go.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The shell
    #[arg(value_name = "SHELL")]
    shell: Shell,
}

pub(crate) fn run(args: &Args) -> Result<Exit, Failure> {
    let mut command = Cli::command();
    let name = command.get_name().to_owned();
    let mut script = Vec::new();
    generate(args.shell, &mut command, name, &mut script);
    output::raw(&String::from_utf8_lossy(&script))?;
    Ok(Exit::Done)
}
