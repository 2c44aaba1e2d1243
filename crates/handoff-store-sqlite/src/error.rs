//! How failures of SQLite become failures of a store.

use std::path::PathBuf;

use handoff_engine::store::StoreError;
use rusqlite::ErrorCode;

/// Why a store could not be opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// The directory that should hold the file does not exist, and a store never makes one.
    #[error("the directory `{}` does not exist; create it first", .0.display())]
    NoDirectory(PathBuf),

    /// The file is a database of some other program.
    #[error("`{}` is not a Handoff store; name another file", .0.display())]
    NotAStore(PathBuf),

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

    /// The file system or the operating system refused.
    #[error("the store could not be opened: {0}")]
    Io(#[from] std::io::Error),

    /// The database could not be read or changed.
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

impl From<rusqlite::Error> for OpenError {
    fn from(error: rusqlite::Error) -> Self {
        Self::Store(describe(&error))
    }
}

/// Who is hit by a failure inside a physical transaction that several callers share.
#[derive(Debug)]
pub(crate) enum Failure {
    /// One member alone: what it wrote is taken back, the others go on.
    Member(StoreError),
    /// The physical transaction: nobody's writes can stay.
    Physical(rusqlite::Error),
}

impl Failure {
    /// A write that does not fit what is stored.
    pub(crate) fn conflict(reason: impl Into<String>) -> Self {
        Self::Member(StoreError::Conflict(reason.into()))
    }

    /// A row that cannot be read as what it must be.
    pub(crate) fn corrupt(reason: impl Into<String>) -> Self {
        Self::Member(StoreError::Corrupt(reason.into()))
    }
}

impl From<rusqlite::Error> for Failure {
    fn from(error: rusqlite::Error) -> Self {
        match error.sqlite_error_code() {
            Some(ErrorCode::ConstraintViolation | ErrorCode::TooBig) => Self::Member(describe(&error)),
            Some(_) => Self::Physical(error),
            // Without a code of SQLite the fault is in what was read or bound, by this member.
            None => Self::Member(describe(&error)),
        }
    }
}

impl From<Failure> for StoreError {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Member(error) => error,
            Failure::Physical(error) => describe(&error),
        }
    }
}

/// Says in the words of the port what SQLite reported. SQLite's own texts name tables and columns, never values.
pub(crate) fn describe(error: &rusqlite::Error) -> StoreError {
    let Some(code) = error.sqlite_error_code() else {
        return StoreError::Corrupt("a row is not of the expected shape".to_owned());
    };
    let text = match code {
        ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => "another process holds the database",
        ErrorCode::CannotOpen => "the database file cannot be opened",
        ErrorCode::DiskFull => "the disk is full",
        ErrorCode::ReadOnly => "the database is read-only",
        ErrorCode::PermissionDenied => "access to the database file was denied",
        ErrorCode::SystemIoFailure => "the disk reported an error",
        ErrorCode::OutOfMemory => "memory is exhausted",
        ErrorCode::TooBig => "a value is larger than the database can hold",
        ErrorCode::DatabaseCorrupt => return StoreError::Corrupt("the database file is damaged".to_owned()),
        ErrorCode::NotADatabase => return StoreError::Corrupt("the file is not a database".to_owned()),
        ErrorCode::ConstraintViolation => {
            return StoreError::Conflict(message(error).unwrap_or("a constraint failed").to_owned());
        }
        _ => return StoreError::Unavailable(message(error).unwrap_or("the database failed").to_owned()),
    };
    StoreError::Unavailable(text.to_owned())
}

/// Whether another process stood in the way, so that trying again can help.
pub(crate) fn is_busy(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked))
}

/// Whether a commit that failed in this way certainly did not happen, once it is rolled back.
///
/// A full disk, a lock and a constraint are noticed before the commit record is written. After an error of the disk the
/// record may be in the file, and recovery after a crash may find it.
pub(crate) fn commit_was_refused(error: &rusqlite::Error) -> bool {
    is_busy(error)
        || matches!(
            error.sqlite_error_code(),
            Some(ErrorCode::DiskFull | ErrorCode::ConstraintViolation | ErrorCode::ReadOnly)
        )
}

fn message(error: &rusqlite::Error) -> Option<&str> {
    match error {
        rusqlite::Error::SqliteFailure(_, message) => message.as_deref(),
        _ => None,
    }
}
