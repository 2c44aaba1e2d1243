//! The configuration: typed, so that what starts can run.

mod env;
mod error;

use std::{
    net::{Ipv4Addr, SocketAddr},
    num::NonZeroUsize,
    path::{Path, PathBuf},
    time::Duration,
};

pub use self::error::ConfigError;
use crate::{crash_point::CrashPoint, database_url::DatabaseUrl};

/// How often due timers are looked for unless the configuration says otherwise.
const SWEEP_INTERVAL: Duration = Duration::from_millis(500);

/// The shortest time between two looks at the timers.
const MIN_SWEEP_INTERVAL: Duration = Duration::from_millis(50);

/// The port that is listened on unless the configuration says otherwise.
const PORT: u16 = 8080;

/// The name of the signing key's file, beside the database.
const SIGNING_KEY: &str = "signing-key.json";

/// What a server is told before it starts (section 24).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Config {
    /// Where everything is kept.
    pub database_url: DatabaseUrl,
    /// Where to listen. Port 0 takes a free port; `[::]` listens on both families.
    pub bind: SocketAddr,
    /// The base of the addresses that people open.
    pub public_base: PublicBase,
    /// Whether a link alone may answer (rule A-6).
    pub link_only_permitted: bool,
    /// How often due timers are looked for.
    pub sweep_interval: Duration,
    /// How many connections to the database; none for what suits the store.
    pub max_connections: Option<NonZeroUsize>,
    /// The file with the key that signs receipts; it is made when it is missing.
    pub signing_key: PathBuf,
    /// Where a test wants the process to die.
    pub crash_point: Option<CrashPoint>,
}

/// The base of the addresses that people open.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum PublicBase {
    /// This address, without a slash at the end.
    Fixed(String),
    /// `http` on this host, at whatever port is listened on.
    OnHost(&'static str),
}

impl Config {
    /// Reads the configuration from the environment of this process.
    ///
    /// # Errors
    ///
    /// [`ConfigError`] names the first variable that cannot be used, and the mend; values are never repeated.
    pub fn from_env() -> Result<Self, ConfigError> {
        Self::from_variables(|name| std::env::var_os(name))
    }

    /// The configuration of a server for one's own machine: everything in one directory, which must exist when it
    /// starts, and the page at `http://localhost:8080`.
    #[must_use]
    pub fn dev(data_dir: impl AsRef<Path>) -> Self {
        Self {
            public_base: PublicBase::OnHost("localhost"),
            ..Self::new(DatabaseUrl::Sqlite(data_dir.as_ref().join("handoff.db")))
        }
    }

    /// The defaults over a database.
    #[must_use]
    pub fn new(database_url: DatabaseUrl) -> Self {
        let signing_key = match &database_url {
            DatabaseUrl::Sqlite(path) => path.with_file_name(SIGNING_KEY),
        };
        Self {
            database_url,
            bind: SocketAddr::from((Ipv4Addr::LOCALHOST, PORT)),
            public_base: PublicBase::OnHost("127.0.0.1"),
            link_only_permitted: false,
            sweep_interval: SWEEP_INTERVAL,
            max_connections: None,
            signing_key,
            crash_point: None,
        }
    }
}

impl PublicBase {
    /// The base, once it is known where the server listens.
    #[must_use]
    pub fn of(&self, address: SocketAddr) -> String {
        match self {
            Self::Fixed(base) => base.clone(),
            Self::OnHost(host) => format!("http://{host}:{}", address.port()),
        }
    }
}
