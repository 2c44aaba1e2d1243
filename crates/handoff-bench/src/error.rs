//! Why a run stopped.

use std::{io, path::PathBuf};

use hyper::StatusCode;

/// Why a run stopped; the message says what to do next where that is not plain.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BenchError {
    /// The address of the server is of no use.
    #[error("`--url` {0}")]
    Url(&'static str),
    /// There is nobody to call as.
    #[error(
        "no credentials: give `--credentials FILE`, or HANDOFF_API_KEY and HANDOFF_PERSON_TOKEN for one tenant, or \
         `--spawn`"
    )]
    NoCredentials,
    /// The file of credentials is not what it should be.
    #[error("`{}`: {problem}; expected {{\"tenants\":[{{\"machine\":\"…\",\"person\":\"…\"}}]}}", path.display())]
    Credentials {
        /// Which file.
        path: PathBuf,
        /// What is wrong, without what it holds.
        problem: String,
    },
    /// What servers left was checked, and is not sound.
    #[error("{0} of the stores that servers left are not sound")]
    Unsound(usize),
    /// A scenario needs more tenants than there are credentials for.
    #[error("{wanted} tenants are wanted and there are credentials for {there}; add some, or lower `--tenants`")]
    FewTenants {
        /// How many.
        wanted: usize,
        /// Of how many.
        there: usize,
    },
    /// The server that was to be started did not come up.
    #[error("handoffd did not start: {0}")]
    Start(String),
    /// The server cannot be reached, or hung up.
    #[error("the connection failed: {0}")]
    Transport(#[from] hyper::Error),
    /// The server answered what the contract does not have here.
    #[error("{call} was answered with {status}{code}")]
    Answer {
        /// Which call.
        call: &'static str,
        /// The status.
        status: StatusCode,
        /// The code of the envelope, in brackets, if there was one.
        code: String,
    },
    /// The server answered something that cannot be read.
    #[error("the answer to {call} cannot be read: {problem}")]
    Unreadable {
        /// Which call.
        call: &'static str,
        /// What is wrong.
        problem: String,
    },
    /// The system refused.
    #[error("{what}: {error}")]
    System {
        /// What was tried.
        what: String,
        /// What the system said.
        error: io::Error,
    },
    /// The database of a limit failed.
    #[error("the database of a limit failed: {0}")]
    Database(#[from] rusqlite::Error),
    /// There is no Postgres for the server.
    #[error(transparent)]
    Postgres(#[from] handoff_postgres_cluster::ClusterError),
    /// The server does not do what a scenario measures, or nobody said how; the others go on.
    #[error("{0}")]
    Lacking(String),
    /// A scenario did not come to what it should; the figures would be worthless.
    #[error("{0}")]
    Nonsense(String),
}

impl BenchError {
    /// A failure of the system while something was tried.
    pub(crate) fn system(what: impl Into<String>) -> impl FnOnce(io::Error) -> Self {
        move |error| Self::System { what: what.into(), error }
    }
}
