//! The store of many nodes: one Postgres database, written with group commit for each tenant.
//!
//! Every write of a tenant first locks the tenant's head row, by a statement of its own, and reads after it. One worker a
//! tenant takes the transactions that wait, runs their steps one after another, each over what the ones before it came to,
//! writes the result with one statement, each key once, and commits; then all of them are answered. So the row is locked and
//! the disk synced once for many callers, and nothing is acknowledged before it is durable. Tenants run side by side. A batch
//! costs four round trips, and one more for each round of reads that steps find they need.
//!
//! The statements live in the database as functions: a call names its tenant, reads and answers in one round trip, and
//! plans are kept where a pooler keeps no prepared statements. Row-level security is forced: what names no tenant sees
//! nothing. Chain entries, bodies, erasures and events are append-only by triggers, whoever asks. For people there are
//! views (`requests`, `receipts`, `deliveries`, `signals`, `authorizations`) to look at with any shell.
//!
//! | module | what lives there |
//! |---|---|
//! | `store` | the port, each call handed to what does it |
//! | `options`, `error`, `stats` | what can be chosen, how it fails, what it did |
//! | `schema`, `migrations/` | the tables, rules and functions, and bringing a database to them |
//! | `link`, `pool`, `gate`, `limits`, `trouble` | the connections, what is known of the way to the database, what it limits and refuses |
//! | `waiting`, `queue`, `batch`, `physical`, `member` | who waits to write, together, in which transactions, what takes part in them |
//! | `load`, `overlay`, `flush` | what a batch reads, what it comes to, how that is written |
//! | `gather` | who waits to read by key, together |
//! | `timers`, `blobs`, `read` | everything that is one question |
//! | `portable` | handing out everything, and filling an empty database |
//! | `inspect` | everything of a tenant at once |
//! | `wakes` | who is told of commits, on this node and on others |
//! | `codec` | how values are written in columns |
//!
//! ```no_run
//! use handoff_store_postgres::{PostgresOptions, PostgresStore};
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let store = PostgresStore::open("postgres://handoff@localhost/handoff", PostgresOptions::default()).await?;
//! assert_eq!(store.stats().commits, 0);
//! # Ok(())
//! # }
//! ```

mod batch;
mod blobs;
mod codec;
mod error;
mod flush;
mod gate;
mod gather;
mod inspect;
mod limits;
mod link;
mod load;
mod member;
mod options;
mod overlay;
mod physical;
mod pool;
mod portable;
mod queue;
mod read;
mod schema;
mod stats;
mod store;
mod sync;
mod timers;
mod tracked;
mod trouble;
mod waiting;
mod wakes;

pub use self::{
    error::OpenError,
    options::{LabelHook, PostgresOptions},
    stats::Stats,
    store::PostgresStore,
};
