//! Why a command failed, in one line.

use std::io;

use handoff_engine::{
    BuildError, IdentityError, decision::ContinuationError, entropy::EntropyError, store::StoreError,
};
use handoff_protocol::{
    decision::DecisionError,
    id::OrgId,
    json::{NotCanonical, ReadError},
};
use handoff_server::{
    ConfigError, StartError, bootstrap::BootstrapError, config::PlaceError, private_file::PrivateFileError,
    reaching::PolicyFileError, schemas::SchemaError, store::StoreOpenError,
};

/// Why a command failed.
#[derive(Debug, thiserror::Error)]
pub(super) enum Failure {
    #[error(transparent)]
    Config(#[from] ConfigError),
    #[error(transparent)]
    Place(#[from] PlaceError),
    #[error(transparent)]
    Start(#[from] StartError),
    #[error(transparent)]
    Bootstrap(#[from] BootstrapError),
    #[error(transparent)]
    Schema(#[from] SchemaError),
    #[error(transparent)]
    Store(#[from] StoreOpenError),
    #[error(transparent)]
    Engine(#[from] BuildError),
    #[error(transparent)]
    Identity(#[from] IdentityError),
    #[error(transparent)]
    Entropy(#[from] EntropyError),
    #[error(transparent)]
    Continuation(#[from] ContinuationError),
    #[error("continuation data is sealed with the key `{0}`, which is not configured; put it back")]
    KeysMissing(String),
    #[error(
        "continuation data is sealed with another key of the name `{0}` than the one that is configured; put that key back \
         under this name, and give the new one a name of its own"
    )]
    KeysChanged(String),
    #[error(
        "payloads that do not open: {0}. Their signals go on without them; `handoffd continuation reseal \
         --forget-unreadable` gives up those that were altered, `--forget-key NAME` those of a key that is lost"
    )]
    Unreadable(u64),
    #[error(transparent)]
    PrivateFile(#[from] PrivateFileError),
    #[error("no server is ready at {0}; `/readyz` there says why, and the log of the server")]
    NotReady(std::net::SocketAddr),
    #[error("RUST_LOG: expected a filter such as `info` or `handoff_engine=debug,warn`")]
    LogFilter,
    #[cfg(feature = "planted-faults")]
    #[error("HANDOFF_PLANTED_FAULT: there is no such fault; the faults are {}", super::planted::names())]
    NoSuchFault,
    #[error("the directory `{path}` cannot be made: {error}", path = path.display())]
    Directory { path: std::path::PathBuf, error: io::Error },
    #[error("the document `{path}` cannot be read: {error}", path = path.display())]
    Document { path: std::path::PathBuf, error: io::Error },
    #[error(
        "the document `{path}` is longer than {longest} bytes, the most that is read of one",
        path = path.display(), longest = super::canonicalize::LONGEST
    )]
    LongDocument { path: std::path::PathBuf },
    #[error("not one JSON document: {0}")]
    NotJson(ReadError),
    #[error("{0}; write such a number as a string")]
    NotCanonical(#[from] NotCanonical),
    #[error("request_not_found: there is no such request")]
    NoRequest,
    #[error("{code}: {0}", code = .0.code().as_str())]
    Decision(#[from] DecisionError),
    #[error(transparent)]
    PolicyFile(#[from] PolicyFileError),
    #[error("there is no tenant {0}")]
    NoTenant(OrgId),
    #[error("{broken} of {checked} chains are broken")]
    Broken { broken: usize, checked: usize },
    #[error("{unsound} of {checked} tenants are broken")]
    Unsound { unsound: usize, checked: usize },
    #[error(transparent)]
    Reading(#[from] StoreError),
    #[error("serving ended unexpectedly; the log says why")]
    ServingEnded,
    #[error("the runtime could not be started: {0}")]
    Runtime(io::Error),
    #[error("signals cannot be received: {0}")]
    Signals(io::Error),
    #[error("the output cannot be written: {0}")]
    Output(io::Error),
}
