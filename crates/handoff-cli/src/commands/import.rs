//! `handoff import`: an empty store filled with everything that `handoff export --store` wrote.

use std::{
    fs::File,
    io::{self, BufReader, Read},
    path::PathBuf,
};

use handoff_engine::moving::{self, Moved};

use crate::{exit::Exit, failure::Failure, operator::Place, output};

/// Fill an empty store with everything that `handoff export --store` wrote.
///
/// The store is made if it is not there. It is filled as a whole or not at all; what stands in the file is checked on the
/// way. Let no server run on either store meanwhile, and take the key that signs and those of continuation data along.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The file; `-` is standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
    #[command(flatten)]
    place: Place,
}

pub(crate) async fn run(args: &Args) -> Result<Exit, Failure> {
    let unreadable = |error| Failure::failed(format!("`{}` cannot be read: {error}", args.file.display()));
    // Before the store, so that a name that is wrong makes none.
    let file: Box<dyn Read + Send> = if args.file.as_os_str() == "-" {
        Box::new(io::stdin())
    } else {
        Box::new(File::open(&args.file).map_err(unreadable)?)
    };
    let store = args.place.open(false).await?;
    let moved = moving::import(store.as_ref(), BufReader::with_capacity(1 << 20, file)).await;
    let moved = moved.map_err(|error| Failure::failed(error.to_string()))?;
    output::raw(&told(&moved))?;
    Ok(Exit::Done)
}

/// What was moved: a line a chain with its head, which must be the same at both places, and how many rows of each kind.
pub(super) fn told(moved: &Moved) -> String {
    let heads = moved.heads.iter();
    let mut text: String = heads
        .map(|((tenant, chain), (height, digest))| format!("{tenant} {chain} height={height} head={digest}\n"))
        .collect();
    let rows: Vec<_> = moved.rows.iter().map(|(table, count)| format!("{}={count}", table.name())).collect();
    text.push_str(&format!("rows {}\n", rows.join(" ")));
    text
}
