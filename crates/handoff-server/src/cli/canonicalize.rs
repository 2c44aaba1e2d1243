//! `handoffd canonicalize`: the canonical bytes of a JSON document, from which anyone can take its digest. It needs no
//! configuration, no database and no server.

use std::{
    fs::File,
    io::{self, Read},
    path::{Path, PathBuf},
};

use clap::Args;
use handoff_protocol::{digest::Digest, json};

use super::{failure::Failure, output};

/// What stands for the standard input.
const STANDARD_INPUT: &str = "-";

/// How long a document may be: many times what a call may hold, and far less than what memory holds.
pub(super) const LONGEST: usize = 16 * 1024 * 1024;

/// Where the document is: exactly one of both.
#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
pub(super) struct Document {
    /// A file, or `-` for the standard input; prints the canonical bytes, how many there are, and their SHA-256
    #[arg(long, value_name = "FILE")]
    path: Option<PathBuf>,
    /// The document itself; prints its canonical bytes and nothing else, not even the end of a line
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    json: Option<String>,
}

/// Prints the canonical form (rule B-8), or why there is none: what is no JSON (rule B-1), or holds a number that is not
/// a safe integer (rules N-1, N-6).
pub(super) fn run(document: &Document) -> Result<(), Failure> {
    match document {
        Document { path: Some(path), .. } => {
            let bytes = read(path).map_err(|error| Failure::Document { path: path.clone(), error })?;
            if bytes.len() > LONGEST {
                return Err(Failure::LongDocument { path: path.clone() });
            }
            let text = canonical(&bytes)?;
            let digest = Digest::of(&text).hex();
            output::say(format_args!("{text}\nbytes={}\nsha256={digest}", text.len())).map_err(Failure::Output)
        }
        Document { json, .. } => {
            let text = canonical(json.as_deref().unwrap_or_default().as_bytes())?;
            output::write(text).map_err(Failure::Output)
        }
    }
}

fn canonical(bytes: &[u8]) -> Result<String, Failure> {
    Ok(json::read(bytes).map_err(Failure::NotJson)?.canonical()?)
}

/// Reads a byte more than there may be, and then no more: not everything that can be read has an end.
fn read(path: &Path) -> io::Result<Vec<u8>> {
    let source: &mut dyn Read =
        if path == Path::new(STANDARD_INPUT) { &mut io::stdin().lock() } else { &mut File::open(path)? };
    let mut bytes = Vec::new();
    source.take(LONGEST as u64 + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}
