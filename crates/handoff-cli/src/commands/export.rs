//! `handoff export`: all receipts, with everything that proves them; or, with `--store`, everything that a store keeps.

use std::{
    fs::{self, File},
    io::{self, Write},
    path::{Path, PathBuf},
};

use handoff_client::Pieces;
use handoff_engine::moving;

use crate::{commands::import, exit::Exit, failure::Failure, operator::Place, output, remote::Remote};

/// Write all receipts, their signatures, the published keys and the head of the chain.
///
/// With --store, write everything that a store keeps, of every tenant, for `handoff import` to fill another one with.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Where to write [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Write the whole store that --database names, for another place; the file is as secret as the store
    #[arg(long)]
    store: bool,
    #[command(flatten)]
    place: Place,
    #[command(flatten)]
    remote: Remote,
}

/// What comes in pieces.
enum Source {
    Receipts(Pieces),
    Store(Box<moving::Export>),
}

impl Source {
    async fn next(&mut self) -> Result<Option<Vec<u8>>, Failure> {
        match self {
            Self::Receipts(pieces) => Ok(pieces.next().await?.map(|piece| piece.to_vec())),
            Self::Store(export) => {
                let piece = export.next().await.map_err(|error| Failure::failed(error.to_string()))?;
                Ok(piece.map(String::into_bytes))
            }
        }
    }

    /// Makes a file for it. A whole store is for its owner alone.
    fn create(&self, path: &Path) -> io::Result<File> {
        let mut file = File::options();
        file.write(true).create(true).truncate(true);
        #[cfg(unix)]
        if matches!(self, Self::Store(_)) {
            std::os::unix::fs::OpenOptionsExt::mode(&mut file, 0o600);
        }
        file.open(path)
    }
}

pub(crate) async fn run(args: &Args) -> Result<Exit, Failure> {
    let mut source = if args.store {
        let store = args.place.open(true).await?;
        let export = moving::Export::begin(store.as_ref()).await;
        Source::Store(Box::new(export.map_err(|error| Failure::failed(error.to_string()))?))
    } else {
        Source::Receipts(args.remote.machine()?.export_in_pieces().await?)
    };
    match &args.output {
        None => copy(&mut source, &mut io::stdout().lock(), "the result").await?,
        Some(path) => save(&mut source, path).await?,
    }
    match (source, &args.output) {
        (Source::Receipts(_), Some(path)) => {
            output::note(&format!("wrote `{0}`; `handoff verify {0}` checks it, offline", path.display()));
        }
        (Source::Receipts(_), None) => {}
        (Source::Store(export), Some(_)) => output::raw(&import::told(&export.moved()))?,
        (Source::Store(export), None) => import::told(&export.moved()).lines().for_each(output::note),
    }
    Ok(Exit::Done)
}

/// Writes to a file, which is there whole or not at all; to what is no plain file, such as a pipe, as it comes.
async fn save(source: &mut Source, path: &Path) -> Result<(), Failure> {
    let name = format!("`{}`", path.display());
    let unwritable = |error: io::Error| not_written(&name, &error);
    // A link is followed: what it points to is written.
    let path = &path.canonicalize().unwrap_or_else(|_| path.to_owned());
    if path.metadata().is_ok_and(|found| !found.is_file()) {
        let mut file = File::options().write(true).open(path).map_err(unwritable)?;
        return copy(source, &mut file, &name).await;
    }
    let mut part = path.clone().into_os_string();
    part.push(".part");
    let part = PathBuf::from(part);
    let mut file = source.create(&part).map_err(unwritable)?;
    let written = copy(source, &mut file, &name).await.and_then(|()| fs::rename(&part, path).map_err(unwritable));
    if written.is_err() {
        // The failure that is told is the first.
        let _ = fs::remove_file(&part);
    }
    written
}

async fn copy(source: &mut Source, out: &mut impl Write, name: &str) -> Result<(), Failure> {
    while let Some(piece) = source.next().await? {
        out.write_all(&piece).map_err(|error| not_written(name, &error))?;
    }
    out.flush().map_err(|error| not_written(name, &error))
}

fn not_written(name: &str, error: &io::Error) -> Failure {
    Failure::failed(format!("{name} cannot be written: {error}"))
}
