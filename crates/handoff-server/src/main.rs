//! `handoffd`, the Handoff server. `handoffd --help` says what it can be told; the configuration comes from variables.

mod cli;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::run()
}
