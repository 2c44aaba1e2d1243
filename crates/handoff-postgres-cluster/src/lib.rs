//! A Postgres server of its own for tests: found, started in a temporary directory, removed afterwards.
//!
//! Tests need a real Postgres and must not need one that somebody set up. So the server's programs are looked for, a
//! cluster is made in a temporary directory and listens on a free port, and a watcher beside it ends and removes it as
//! soon as the process that started it is gone, however that came to pass.
//!
//! It is a crate of its own because the tests of several crates use it, and the test runner's own command starts it: it
//! knows nothing of Handoff but the names of two roles.
//!
//! ```no_run
//! # fn main() -> Result<(), handoff_postgres_cluster::ClusterError> {
//! let database = handoff_postgres_cluster::shared()?.database()?;
//! database.run("CREATE TABLE notes (text text)")?;
//! println!("{}", database.owner_url());
//! # Ok(())
//! # }
//! ```
//!
//! One cluster serves all tests of a process. Where [`VARIABLE`] names one, it serves those of every process: a runner
//! that starts a process for each test, as `cargo xtask test` does, starts one cluster and hands its address to all.
//!
//! | module | what lives there |
//! |---|---|
//! | `programs` | where the server's programs are, or how they are had |
//! | `account` | the account that the server runs under, which must not be root |
//! | `cluster` | a cluster: made, started, removed |
//! | `database` | a fresh database in it |

mod account;
mod cluster;
mod database;
mod error;
mod programs;

use std::{env, sync::OnceLock};

pub use self::{
    cluster::{Cluster, Settings},
    database::{Database, OWNER, SERVICE},
    error::ClusterError,
};

/// The variable that names a cluster which is there already: an address at which its superuser comes in.
pub const VARIABLE: &str = "HANDOFF_TEST_POSTGRES";

static SHARED: OnceLock<Result<Cluster, String>> = OnceLock::new();

/// The cluster that the tests of this process share: the one that [`VARIABLE`] names, otherwise one that is started now and
/// removed when the process ends.
///
/// # Errors
///
/// [`ClusterError`]; the same one for every caller.
pub fn shared() -> Result<&'static Cluster, ClusterError> {
    let made = SHARED.get_or_init(|| {
        let cluster = match env::var(VARIABLE) {
            Ok(address) if !address.is_empty() => Cluster::at(&address),
            _ => Cluster::start(&Settings::default()),
        };
        cluster.map_err(|error| error.to_string())
    });
    made.as_ref().map_err(|error| ClusterError::Shared(error.clone()))
}
