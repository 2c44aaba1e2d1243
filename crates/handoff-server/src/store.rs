//! Opening the store that a database address names.

use std::{num::NonZeroUsize, path::PathBuf, sync::Arc};

use handoff_engine::store::{Inspect, Store};
use handoff_store_postgres::{OpenError as PostgresOpenError, PostgresOptions, PostgresStore};
use handoff_store_sqlite::{OpenError, SqliteOptions, SqliteStore};
use tokio::runtime::{Handle, RuntimeFlavor};

use crate::{
    config::Config,
    crash_point::CrashPoint,
    database_url::{DatabaseUrl, DatabaseUrlError, PostgresUrl},
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
    /// The Postgres store could not be opened.
    #[error(transparent)]
    Postgres(#[from] PostgresOpenError),
    /// A Postgres store lives in a runtime of several threads, and there is none here; a defect.
    #[error("a Postgres store can only be opened within a Tokio runtime of several threads")]
    NoRuntime,
}

/// Opens the store at an address and brings it to the newest schema; a missing one is created.
///
/// This blocks for as long as the disk or the network takes. A Postgres store can only be opened within a Tokio runtime of
/// several threads, and works for as long as that does.
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
    open_with(database_url, Choices::default()).map(Opened::into_store)
}

/// Opens a store that is there already, for commands that look at it.
///
/// # Errors
///
/// [`StoreOpenError`]; [`Missing`](StoreOpenError::Missing) instead of creating one.
pub fn open_existing(database_url: &DatabaseUrl) -> Result<Arc<dyn Store>, StoreOpenError> {
    open_found(database_url).map(Opened::into_store)
}

/// As [`open_existing`], for whoever checks everything that it keeps.
///
/// # Errors
///
/// [`StoreOpenError`].
pub fn open_to_inspect(database_url: &DatabaseUrl) -> Result<Arc<dyn Inspect>, StoreOpenError> {
    open_found(database_url).map(Opened::into_inspect)
}

fn open_found(database_url: &DatabaseUrl) -> Result<Opened, StoreOpenError> {
    match database_url {
        DatabaseUrl::Sqlite(path) if !path.exists() => Err(StoreOpenError::Missing(path.clone())),
        DatabaseUrl::Sqlite(_) => open_with(database_url, Choices::default()),
        DatabaseUrl::Postgres(_) => open_with(database_url, Choices { existing: true, ..Choices::default() }),
    }
}

/// Opens the store of a server.
pub(crate) fn open_for(config: &Config) -> Result<Arc<dyn Store>, StoreOpenError> {
    let choices = Choices {
        max_connections: config.max_connections,
        crash_point: config.crash_point,
        direct: config.database_direct_url.clone(),
        existing: false,
    };
    open_with(&config.database_url, choices).map(Opened::into_store)
}

#[derive(Clone, Default)]
struct Choices {
    max_connections: Option<NonZeroUsize>,
    crash_point: Option<CrashPoint>,
    /// The way past a pooler.
    direct: Option<PostgresUrl>,
    /// Whether a store that is not there must not be made.
    existing: bool,
}

/// A store that was opened.
enum Opened {
    Sqlite(Arc<SqliteStore>),
    Postgres(Arc<PostgresStore>),
}

impl Opened {
    fn into_store(self) -> Arc<dyn Store> {
        match self {
            Self::Sqlite(store) => store,
            Self::Postgres(store) => store,
        }
    }

    fn into_inspect(self) -> Arc<dyn Inspect> {
        match self {
            Self::Sqlite(store) => store,
            Self::Postgres(store) => store,
        }
    }
}

fn open_with(database_url: &DatabaseUrl, choices: Choices) -> Result<Opened, StoreOpenError> {
    match database_url {
        DatabaseUrl::Sqlite(path) => {
            let mut options =
                SqliteOptions { on_label: choices.crash_point.map(CrashPoint::hook), ..SqliteOptions::default() };
            if let Some(connections) = choices.max_connections {
                // One of them writes.
                options.readers = connections.get().saturating_sub(1).max(1);
            }
            Ok(Opened::Sqlite(Arc::new(SqliteStore::open(path, options)?)))
        }
        DatabaseUrl::Postgres(url) => open_postgres(url, choices),
    }
}

fn open_postgres(url: &PostgresUrl, choices: Choices) -> Result<Opened, StoreOpenError> {
    let mut options = PostgresOptions {
        on_label: choices.crash_point.map(CrashPoint::hook),
        pooled: choices.direct.is_some(),
        listen_url: choices.direct.map(|url| url.expose().to_owned()),
        migrate: !choices.existing,
        ..PostgresOptions::default()
    };
    if let Some(connections) = choices.max_connections {
        options.connections = u32::try_from(connections.get()).unwrap_or(u32::MAX);
    }
    let runtime = Handle::try_current().map_err(|_| StoreOpenError::NoRuntime)?;
    if runtime.runtime_flavor() == RuntimeFlavor::CurrentThread {
        return Err(StoreOpenError::NoRuntime);
    }
    let open = || runtime.block_on(PostgresStore::open(url.expose(), options));
    Ok(Opened::Postgres(Arc::new(tokio::task::block_in_place(open)?)))
}
