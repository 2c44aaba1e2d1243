//! The embedded store of Handoff: one SQLite file, written with group commit.
//!
//! One thread owns the only connection that writes. It takes the transactions that wait, runs them one after another
//! under one `BEGIN IMMEDIATE`, commits them together and answers all of them after that commit, so the disk is synced
//! once for many callers and nothing is acknowledged before it is durable. A transaction that is refused leaves nothing
//! behind and does not touch the others. A few further threads read, each over a snapshot of what is durable.
//!
//! Other processes may use the same file: the write lock is SQLite's own, nothing is cached between calls, and commits
//! of others are noticed by looking at the file's change counter.
//!
//! The database itself keeps what was sealed: chain entries, bodies, erasures and events are append-only by triggers,
//! whoever asks. For people there are views (`requests`, `receipts`, `signals`, `authorizations`) to look at with any
//! SQLite shell.
//!
//! | module | what lives there |
//! |---|---|
//! | `store` | the port, each call handed to the thread that does it |
//! | `options`, `error`, `stats` | what can be chosen, how it fails, what it did |
//! | `schema` | creating, opening and migrating the file |
//! | `writer`, `batch`, `member` | the writer's thread, its physical transactions, what takes part in them |
//! | `step`, `load`, `apply` | one transaction of a caller |
//! | `timers`, `blobs` | the rows with rules of their own |
//! | `readers`, `read` | the reading threads and their queries |
//! | `portable` | handing out everything, and filling an empty file |
//! | `inspect` | everything of a tenant at once |
//! | `wakes` | who is told of commits |
//! | `codec` | how values are written in columns |
//!
//! ```
//! use handoff_store_sqlite::{SqliteOptions, SqliteStore};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let directory = tempfile::tempdir()?;
//! let store = SqliteStore::open(directory.path().join("handoff.db"), SqliteOptions::default())?;
//! assert_eq!(store.stats().commits, 0);
//! # Ok(())
//! # }
//! ```

mod apply;
mod batch;
mod blobs;
mod codec;
mod error;
mod inspect;
mod load;
mod member;
mod options;
#[cfg(feature = "planted-faults")]
mod planted;
mod portable;
mod read;
mod readers;
mod schema;
mod stats;
mod step;
mod store;
mod sync;
mod timers;
mod wakes;
mod writer;

pub use self::{
    error::OpenError,
    options::{LabelHook, SqliteOptions},
    stats::Stats,
    store::SqliteStore,
};
