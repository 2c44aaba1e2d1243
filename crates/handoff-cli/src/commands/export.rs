//! `handoff export`: all receipts, with everything that proves them.

use std::{fs, path::PathBuf};

use crate::{exit::Exit, failure::Failure, output, remote::Remote};

/// Write all receipts, their signatures, the published keys and the head of the chain.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Where to write [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    remote: Remote,
}

pub(crate) async fn run(args: &Args) -> Result<Exit, Failure> {
    let text = args.remote.machine()?.export().await?;
    match &args.output {
        None => output::raw(&text)?,
        Some(path) => {
            fs::write(path, &text)
                .map_err(|error| Failure::failed(format!("`{}` cannot be written: {error}", path.display())))?;
            output::note(&format!("wrote `{0}`; `handoff verify {0}` checks it, offline", path.display()));
        }
    }
    Ok(Exit::Done)
}
