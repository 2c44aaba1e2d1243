//! `handoffd`, the Handoff server. `handoffd --help` says what it can be told; the configuration comes from variables.

mod cli;

use std::process::ExitCode;

/// What is kept and served is JSON, in many small pieces of memory.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    cli::run()
}
