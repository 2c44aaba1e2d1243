//! `handoff-conformance`: the conformance suite on the command line.

use std::process::ExitCode;

fn main() -> ExitCode {
    handoff_conformance::cli::main()
}
