//! Why there is no cluster.

use std::{io, path::PathBuf};

/// A cluster, or a database in it, cannot be had.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ClusterError {
    /// The server's programs are nowhere, and this process may not install them.
    #[error(
        "there is no Postgres server on this machine: neither `initdb` on the path nor under /usr/lib/postgresql; install \
         Debian's package `postgresql`, or name a running cluster in HANDOFF_TEST_POSTGRES"
    )]
    Missing,
    /// Debian's package could not be installed.
    #[error("there is no Postgres server on this machine, and Debian's package `postgresql` cannot be installed: {0}")]
    Install(String),
    /// Root may not run the server, and there is nobody else.
    #[error(
        "Postgres refuses to run as root, and this machine has neither an account `postgres` nor `nobody` to run it under"
    )]
    NoAccount,
    /// A file or a program cannot be used.
    #[error("`{}`: {error}", .what.display())]
    Io {
        /// Which.
        what: PathBuf,
        /// What the system said.
        #[source]
        error: io::Error,
    },
    /// A program of the server failed.
    #[error("{program} failed: {said}")]
    Failed {
        /// Which program.
        program: &'static str,
        /// What it wrote.
        said: String,
    },
    /// The server was started and does not answer.
    #[error("the server does not answer: {0}")]
    Silent(String),
    /// The address of a running cluster cannot be read.
    #[error("HANDOFF_TEST_POSTGRES: expected an address such as `postgres://postgres@127.0.0.1:5432/postgres`")]
    Address,
    /// The cluster that this process shares could not be had.
    #[error("{0}")]
    Shared(String),
}
