//! `handoff export`: all receipts, with everything that proves them.

use std::{
    fs::{self, File},
    io::{self, Write},
    path::{Path, PathBuf},
};

use handoff_client::Pieces;

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
    let mut pieces = args.remote.machine()?.export_in_pieces().await?;
    match &args.output {
        None => copy(&mut pieces, &mut io::stdout().lock(), "the result").await?,
        Some(path) => {
            save(&mut pieces, path).await?;
            output::note(&format!("wrote `{0}`; `handoff verify {0}` checks it, offline", path.display()));
        }
    }
    Ok(Exit::Done)
}

/// Writes to a file, which is there whole or not at all; to what is no plain file, such as a pipe, as it comes.
async fn save(pieces: &mut Pieces, path: &Path) -> Result<(), Failure> {
    let name = format!("`{}`", path.display());
    let unwritable = |error: io::Error| not_written(&name, &error);
    // A link is followed: what it points to is written.
    let path = &path.canonicalize().unwrap_or_else(|_| path.to_owned());
    if path.metadata().is_ok_and(|found| !found.is_file()) {
        let mut file = File::options().write(true).open(path).map_err(unwritable)?;
        return copy(pieces, &mut file, &name).await;
    }
    let mut part = path.clone().into_os_string();
    part.push(".part");
    let part = PathBuf::from(part);
    let mut file = File::create(&part).map_err(unwritable)?;
    let written = copy(pieces, &mut file, &name).await.and_then(|()| fs::rename(&part, path).map_err(unwritable));
    if written.is_err() {
        // The failure that is told is the first.
        let _ = fs::remove_file(&part);
    }
    written
}

async fn copy(pieces: &mut Pieces, out: &mut impl Write, name: &str) -> Result<(), Failure> {
    while let Some(piece) = pieces.next().await? {
        out.write_all(&piece).map_err(|error| not_written(name, &error))?;
    }
    out.flush().map_err(|error| not_written(name, &error))
}

fn not_written(name: &str, error: &io::Error) -> Failure {
    Failure::failed(format!("{name} cannot be written: {error}"))
}
