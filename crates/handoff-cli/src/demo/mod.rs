//! `handoff demo`: the whole story on one machine, against a real server, with nothing to set up.
//!
//! A program asks, a person answers in the form, the program gets the typed answer and acts once, and the record is
//! proven and then tampered with. Every step is checked; the demo fails if anything is not as promised.

mod browser;
mod form;
mod proof;
mod story;

use std::{fs, path::PathBuf};

use crate::{exit::Exit, failure::Failure, output};

/// See the whole story on this machine: a real server on a free port, over a store that vanishes afterwards.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Answer by itself, through the real form; without it the demo prints a link and waits for you
    #[arg(long, value_name = "DECISION", value_parser = ["approve", "reject"])]
    answer: Option<String>,
    /// Keep the store and the export in this directory
    #[arg(long, value_name = "DIR")]
    keep: Option<PathBuf>,
}

pub(crate) async fn run(args: Args) -> Result<Exit, Failure> {
    let place = Place::new(args.keep)?;
    tokio::select! {
        told = story::tell(&place, args.answer.as_deref()) => told.map(|()| Exit::Done),
        _ = tokio::signal::ctrl_c() => {
            output::note("interrupted");
            Ok(Exit::Failed)
        }
    }
}

/// Where the demo keeps its things.
pub(crate) enum Place {
    Kept(PathBuf),
    Passing(tempfile::TempDir),
}

impl Place {
    fn new(keep: Option<PathBuf>) -> Result<Self, Failure> {
        let failed = |error: std::io::Error| Failure::failed(format!("the demo's directory cannot be made: {error}"));
        match keep {
            Some(path) => {
                fs::create_dir_all(&path).map_err(failed)?;
                Ok(Self::Kept(path))
            }
            None => tempfile::Builder::new().prefix("handoff-demo-").tempdir().map(Self::Passing).map_err(failed),
        }
    }

    pub(crate) fn path(&self) -> &std::path::Path {
        match self {
            Self::Kept(path) => path,
            Self::Passing(directory) => directory.path(),
        }
    }
}
