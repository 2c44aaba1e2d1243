//! Opening the store that a database address names.

use std::{num::NonZeroUsize, path::PathBuf, sync::Arc};

use handoff_engine::store::Store;
use handoff_store_sqlite::{OpenError, SqliteOptions, SqliteStore};

use crate::{
    config::Config,
    crash_point::CrashPoint,
    database_url::{DatabaseUrl, DatabaseUrlError},
};

/// A store could not be opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreOpenError {
    /// The address names no store.
    #[error(transparent)]
    Url(#[from] DatabaseUrlError),
    /// There is no store where one must be.
    #[error("there is no store at `{0}`; start the server once, or name another database")]
    Missing(PathBuf),
    /// The SQLite store could not be opened.
    #[error(transparent)]
    Sqlite(#[from] OpenError),
}

/// Opens the store at an address and brings it to the newest schema; a missing one is created.
///
/// This blocks for as long as the disk takes.
///
/// # Errors
///
/// [`StoreOpenError`].
pub fn open(database_url: &str) -> Result<Arc<dyn Store>, StoreOpenError> {
    open_url(&DatabaseUrl::parse(database_url)?)
}

/// As [`open`], from an address that was read before.
///
/// # Errors
///
/// [`StoreOpenError`].
pub fn open_url(database_url: &DatabaseUrl) -> Result<Arc<dyn Store>, StoreOpenError> {
    open_with(database_url, Choices::default())
}

/// Opens a store that is there already, for commands that look at it.
///
/// # Errors
///
/// [`StoreOpenError`]; [`Missing`](StoreOpenError::Missing) instead of creating one.
pub fn open_existing(database_url: &DatabaseUrl) -> Result<Arc<dyn Store>, StoreOpenError> {
    match database_url {
        DatabaseUrl::Sqlite(path) if !path.exists() => Err(StoreOpenError::Missing(path.clone())),
        DatabaseUrl::Sqlite(_) => open_url(database_url),
    }
}

/// Opens the store of a server.
pub(crate) fn open_for(config: &Config) -> Result<Arc<dyn Store>, StoreOpenError> {
    let choices = Choices { max_connections: config.max_connections, crash_point: config.crash_point };
    open_with(&config.database_url, choices)
}

#[derive(Clone, Copy, Default)]
struct Choices {
    max_connections: Option<NonZeroUsize>,
    crash_point: Option<CrashPoint>,
}

fn open_with(database_url: &DatabaseUrl, choices: Choices) -> Result<Arc<dyn Store>, StoreOpenError> {
    match database_url {
        DatabaseUrl::Sqlite(path) => {
            let mut options =
                SqliteOptions { on_label: choices.crash_point.map(CrashPoint::hook), ..SqliteOptions::default() };
            if let Some(connections) = choices.max_connections {
                // One of them writes.
                options.readers = connections.get().saturating_sub(1).max(1);
            }
            Ok(Arc::new(SqliteStore::open(path, options)?))
        }
    }
}
