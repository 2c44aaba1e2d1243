//! Moving a whole store to another place, or to another kind of store: everything of every tenant in one file.
//!
//! A file is lines of canonical JSON. The first says what it is, each further one holds a row, the last one says how many
//! rows of each kind there were and what the digest of all lines before it is. Each line carries the beginning of the digest
//! up to and including itself, so that what was altered is found where it stands.
//!
//! ```text
//! {"begin":{"format":"handoff-store","v":1},"sum":"59a1…"}
//! {"row":{"last_id":"01K3…","sequence":12,"table":"tenants","tenant":"org_01K3…"},"sum":"c03e…"}
//! {"end":{"digest":"sha256:…","rows":{"tenants":1}},"sum":"77f0…"}
//! ```
//!
//! The same content is the same file, byte for byte, whatever store it came out of. No more than a row and a batch of rows
//! are held in memory.
//!
//! | module | what lives there |
//! |---|---|
//! | `export` | everything of a store, a line at a time |
//! | `import` | filling an empty store from a file, as a whole or not at all |
//! | `line` | one line, and the digest that runs over all |
//! | `order` | what rows must hold among themselves |

mod export;
mod import;
mod line;
mod order;

use std::{collections::BTreeMap, io};

use handoff_protocol::{digest::Digest, id::TenantId};

pub use self::{export::Export, import::import};
use crate::store::{StoreError, Table};

/// What was moved.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Moved {
    /// How many rows of each kind.
    pub rows: BTreeMap<Table, u64>,
    /// The head of every chain: whose, which, its height and its digest. They are the same at both places.
    pub heads: BTreeMap<(TenantId, String), (u64, Digest)>,
}

/// Why nothing was moved.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MoveError {
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The store keeps no way to hand everything out.
    #[error("this kind of store cannot be moved")]
    NotPortable,
    /// The store is not empty.
    #[error("the store has something in it already; name an empty one")]
    NotEmpty,
    /// The file cannot be read.
    #[error("the file cannot be read: {0}")]
    Read(#[from] io::Error),
    /// The file was not written by an export of a store.
    #[error("this is no export of a store; `handoff export --store` makes one")]
    NotAnExport,
    /// The file was written by a newer version of this program.
    #[error("the file has version {found}, this program knows versions up to {known}; run the newer program")]
    Newer {
        /// The version found.
        found: i64,
        /// The newest version known here.
        known: i64,
    },
    /// The file ends before its end.
    #[error("the file ends after line {0}, and its last line is missing: it was cut off")]
    CutOff(u64),
    /// A line is not what was written.
    #[error("line {line}: {problem}")]
    Line {
        /// Which line, from 1.
        line: u64,
        /// What is wrong with it. It repeats nothing of it.
        problem: &'static str,
    },
}
