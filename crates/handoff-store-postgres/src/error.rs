//! How failures of Postgres become failures of a store.

use handoff_engine::store::{StoreError, TimerKey};
use sqlx::error::DatabaseError;

use crate::codec;

/// Why a store could not be opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// The address cannot be read. It is not repeated: it may hold a password.
    #[error(
        "the address of the database cannot be used; expected `postgres://USER@HOST:PORT/DATABASE`, with `sslmode` and the \
         like behind `?`"
    )]
    Address,
    /// Its parameters are others than those that are read here. They are not repeated either.
    #[error(
        "the address of the database has a parameter behind `?` that is not known here; known are `sslmode`, `sslrootcert`, \
         `sslcert`, `sslkey`, `host`, `port`, `dbname`, `user`, `password`, `application_name`, `options`"
    )]
    Parameter,
    /// The server is older than what is used of it.
    #[error("the database server is Postgres {0}; version 15 or newer is needed")]
    OldServer(u32),
    /// The database keeps text in another encoding.
    #[error("the database keeps text as {0}; create it with `ENCODING 'UTF8'`")]
    Encoding(String),
    /// The database is used by some other program.
    #[error("the database holds tables of some other program, for example `{0}`; give Handoff a database of its own")]
    NotAStore(String),
    /// The tables are missing or older than this program, and whoever opened them may not make them.
    #[error(
        "the database lacks the schema of this program; run `handoffd migrate` with the address of the role that owns the \
         database"
    )]
    MayNotMigrate,
    /// The store was written by a newer version of this program. Nothing was changed.
    #[error(
        "the database has schema version {found}, this program knows versions up to {known}; run the newer program"
    )]
    NewerSchema {
        /// The version found.
        found: u32,
        /// The newest version known here.
        known: u32,
    },
    /// The database could not be reached, read or changed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<OpenError> for StoreError {
    fn from(error: OpenError) -> Self {
        match error {
            OpenError::NewerSchema { found, known } => Self::NewerSchema { found, known },
            OpenError::Store(error) => error,
            other => Self::Unavailable(other.to_string()),
        }
    }
}

impl From<sqlx::Error> for OpenError {
    fn from(error: sqlx::Error) -> Self {
        if let sqlx::Error::Database(error) = &error
            && error.code().as_deref() == Some(INSUFFICIENT_PRIVILEGE)
        {
            return Self::MayNotMigrate;
        }
        Self::Store(Failure::from(error).into())
    }
}

/// What became of a statement that did not succeed, by what can be done about it.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// It does not fit what is stored, or what was read cannot be read. Trying again brings the same.
    #[error(transparent)]
    Misfit(StoreError),
    /// Somebody else came first: the same can succeed when it is tried again.
    #[error("{0}")]
    Raced(String),
    /// The connection is gone or does not answer.
    #[error("{0}")]
    Lost(String),
    /// The database answers, and cannot do it now.
    #[error("{0}")]
    Unable(String),
}

/// A write that does not fit what is stored, raised by our own functions.
const CONFLICT: &str = "HF001";
/// A timer that is no longer held, likewise; its key is the detail.
const STALE_TIMER: &str = "HF002";
const INSUFFICIENT_PRIVILEGE: &str = "42501";
/// Every connection that the server or the role may have is in use.
const NO_CONNECTION_LEFT: &str = "53300";

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        Self::Misfit(error)
    }
}

impl From<Failure> for StoreError {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Misfit(error) => error,
            Failure::Raced(text) | Failure::Lost(text) | Failure::Unable(text) => Self::Unavailable(text),
        }
    }
}

impl From<sqlx::Error> for Failure {
    fn from(error: sqlx::Error) -> Self {
        match &error {
            sqlx::Error::Database(error) => reported(&**error),
            sqlx::Error::PoolTimedOut => Self::Unable("every connection to the database is in use".to_owned()),
            sqlx::Error::PoolClosed => Self::Unable("the store is closing".to_owned()),
            sqlx::Error::Io(error) if error.kind() == std::io::ErrorKind::ConnectionRefused => {
                Self::Lost("nothing listens at the address of the database".to_owned())
            }
            sqlx::Error::Io(_) | sqlx::Error::WorkerCrashed => {
                Self::Lost("there is no connection to the database".to_owned())
            }
            sqlx::Error::Tls(_) => Self::Lost("a secure connection cannot be made".to_owned()),
            sqlx::Error::Protocol(_) => Self::Lost("the database does not speak its protocol".to_owned()),
            sqlx::Error::Configuration(_) => Self::Unable("the address of the database cannot be used".to_owned()),
            _ => Self::Misfit(StoreError::Corrupt("a row is not of the expected shape".to_owned())),
        }
    }
}

/// Sorts what the server reported, by its code. Its texts are not repeated: some hold values.
fn reported(error: &dyn DatabaseError) -> Failure {
    let code = error.code().unwrap_or_default();
    match &*code {
        CONFLICT => Failure::Misfit(StoreError::Conflict(error.message().to_owned())),
        STALE_TIMER => Failure::Misfit(StoreError::StaleTimer { key: stale(error) }),
        "40001" | "40P01" => Failure::Raced("another transaction came first".to_owned()),
        // Waiting longer would help nobody: whoever holds it is none of us, or stands still.
        "55P03" => Failure::Unable("somebody holds a lock that this needs; pg_stat_activity shows who".to_owned()),
        "57014" => Failure::Unable("the database took too long".to_owned()),
        "25P03" => Failure::Lost("the database ended a transaction in which nothing happened".to_owned()),
        "25006" => Failure::Unable("the database is read-only".to_owned()),
        "53100" => Failure::Unable("the disk of the database is full".to_owned()),
        NO_CONNECTION_LEFT => Failure::Unable("the database has no connection left".to_owned()),
        "28P01" | "28000" => Failure::Lost("the database refuses this role or its password".to_owned()),
        "3D000" => Failure::Lost("the database does not exist".to_owned()),
        INSUFFICIENT_PRIVILEGE => {
            Failure::Unable("the role of this program may not do this in the database".to_owned())
        }
        "42P01" | "42883" | "42703" => Failure::Unable("the database lacks the schema of this program".to_owned()),
        _ => by_class(code.get(..2).unwrap_or_default(), error),
    }
}

fn by_class(class: &str, error: &dyn DatabaseError) -> Failure {
    match class {
        // The server is going down, starts up, or somebody ended the connection.
        "08" | "57" => Failure::Lost("the database ended the connection".to_owned()),
        "23" => Failure::Misfit(StoreError::Conflict(match error.constraint() {
            Some(constraint) => format!("the rule {constraint} of the database is broken"),
            None => "a rule of the database is broken".to_owned(),
        })),
        "22" | "54" => {
            Failure::Misfit(StoreError::Conflict("a value is not one that the database can hold".to_owned()))
        }
        "53" | "58" => Failure::Unable("the database is short of resources".to_owned()),
        "XX" => Failure::Misfit(StoreError::Corrupt("the database reports damage".to_owned())),
        _ => Failure::Unable(format!("the database failed with code {}", error.code().unwrap_or_default())),
    }
}

fn stale(error: &dyn DatabaseError) -> TimerKey {
    let detail = error.try_downcast_ref::<sqlx::postgres::PgDatabaseError>().and_then(|error| error.detail());
    TimerKey::new(codec::from_text(detail.unwrap_or_default().to_owned()))
}

/// Whether the database answered that it has no connection left: it can be reached, and others have connections to it.
pub(crate) fn no_connection_left(error: &sqlx::Error) -> bool {
    matches!(error, sqlx::Error::Database(error) if error.code().as_deref() == Some(NO_CONNECTION_LEFT))
}

/// Whether a commit that failed in this way certainly did not happen: the server said so, and says it only before.
pub(crate) fn commit_was_refused(error: &sqlx::Error) -> bool {
    let sqlx::Error::Database(error) = error else { return false };
    let code = error.code().unwrap_or_default();
    matches!(code.get(..2), Some("23" | "40" | "HF"))
}
