//! The configuration: typed, so that what starts can run.

mod callbacks;
mod channels;
mod effective;
mod error;
mod file;
mod places;
mod read;
mod sections;
mod setting;
mod strangers;
mod tenants;

use std::{
    collections::BTreeMap,
    net::{Ipv4Addr, SocketAddr},
    num::NonZeroUsize,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use handoff_engine::engine::CAPABILITY_TRANSPORT_BASE;
use handoff_protocol::{
    continuation::Keyring,
    decision::{CallbackPolicy, Policy},
    duration::ExactDuration,
    secret::Secret,
};

pub use self::{
    channels::{ChannelConfig, ChannelKind},
    error::ConfigError,
    places::PlaceError,
    strangers::unknown_variables,
    tenants::TenantConfig,
};
use crate::{
    crash_point::CrashPoint,
    database_url::{DatabaseUrl, PostgresUrl},
};

/// How often due timers are looked for unless the configuration says otherwise.
const SWEEP_INTERVAL: Duration = Duration::from_millis(500);

/// The shortest time between two looks at the timers.
const MIN_SWEEP_INTERVAL: Duration = Duration::from_millis(50);

/// The fewest connections to the database: one writes, the others read.
const MIN_CONNECTIONS: NonZeroUsize = NonZeroUsize::MIN.saturating_add(1);

/// The port that is listened on unless the configuration says otherwise.
const PORT: u16 = 8080;

/// How many calls a minute one credential may make unless the configuration says otherwise.
const RATE_LIMIT_PER_MINUTE: u32 = 1000;

/// The name of the signing key's file, beside the database.
const SIGNING_KEY: &str = "signing-key.json";

/// What a server is told before it starts (section 24).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Config {
    /// Where everything is kept.
    pub database_url: DatabaseUrl,
    /// Where the same Postgres database is reached without the pooler that [`database_url`](Self::database_url) leads
    /// through. Naming it says that there is such a pooler, which hands out connections by the transaction.
    pub database_direct_url: Option<PostgresUrl>,
    /// Where to listen. Port 0 takes a free port; `[::]` listens on both families.
    pub bind: SocketAddr,
    /// The base of the addresses that people open.
    pub public_base: PublicBase,
    /// Whether a link alone may answer (rule A-6).
    pub link_only_permitted: bool,
    /// The largest quorum that a request may ask for (rule A-8).
    pub max_quorum: u64,
    /// How often due timers are looked for. A deadline is acted on at most this and a second late, with or without
    /// traffic.
    pub sweep_interval: Duration,
    /// How many connections to the database; none for what suits the store. Postgres has two more, which tell other servers
    /// of commits and hear of theirs.
    pub max_connections: Option<NonZeroUsize>,
    /// The file with the key that signs receipts; it is made when it is missing.
    pub signing_key: PathBuf,
    /// How many calls a minute one credential may make at this server; 0 is without a limit.
    pub rate_limit_per_minute: u32,
    /// How long a repeat under an idempotency key is recognized (section 4).
    pub idempotency_window: ExactDuration,
    /// The files of the JSON Schemas for `document` fields, by the references under which fields name them.
    pub schemas: BTreeMap<String, PathBuf>,
    /// The base of the addresses of capabilities that no provider was registered for (section 24).
    pub capability_transport_base: String,
    /// The programs that take secret values, by the `provider` that requests name; `default` takes those of every other
    /// name, and without it they are dropped (rule K-S4).
    pub sinks: BTreeMap<String, SinkCommand>,
    /// Where signals are pushed unless a raise says so itself, and which secrets sign.
    pub callbacks: CallbackPolicy,
    /// Whether callbacks reach the public internet alone; none for what the public base suggests (rule H-9).
    pub callback_guard: Option<bool>,
    /// What is known of tenants: policies, people, groups and rotations.
    pub tenants: Vec<TenantConfig>,
    /// The channels that reach people, besides the pages.
    pub channels: Vec<ChannelConfig>,
    /// What continuation data is sealed with, the key that seals first; none keeps none.
    pub continuation: Option<Arc<Keyring>>,
    /// A file with principals and tokens to load at the start.
    pub bootstrap: Option<PathBuf>,
    /// Principals and tokens to load at the start, as JSON text.
    pub bootstrap_json: Option<Secret<String>>,
    /// How log lines are written.
    pub log: LogFormat,
    /// Which log lines are written; none for what suits the command.
    pub log_filter: Option<String>,
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

/// A program that takes secret values on its standard input.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct SinkCommand {
    /// The program.
    pub program: PathBuf,
    /// Its arguments; never values.
    pub arguments: Vec<String>,
}

/// How log lines are written.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum LogFormat {
    /// For people.
    Text,
    /// For machines.
    Json,
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
            DatabaseUrl::Postgres(_) => PathBuf::from(SIGNING_KEY),
        };
        Self {
            database_url,
            database_direct_url: None,
            bind: SocketAddr::from((Ipv4Addr::LOCALHOST, PORT)),
            public_base: PublicBase::OnHost("127.0.0.1"),
            link_only_permitted: false,
            max_quorum: Policy::default().max_quorum,
            sweep_interval: SWEEP_INTERVAL,
            max_connections: None,
            signing_key,
            rate_limit_per_minute: RATE_LIMIT_PER_MINUTE,
            idempotency_window: Policy::default().idempotency_ttl,
            schemas: BTreeMap::new(),
            capability_transport_base: CAPABILITY_TRANSPORT_BASE.to_owned(),
            sinks: BTreeMap::new(),
            callbacks: CallbackPolicy::default(),
            callback_guard: None,
            tenants: Vec::new(),
            channels: Vec::new(),
            continuation: None,
            bootstrap: None,
            bootstrap_json: None,
            log: LogFormat::Text,
            log_filter: None,
            crash_point: None,
        }
    }
}

impl Config {
    /// What the rules are told of this deployment: all that stands here. Schemas, people and channels are brought from
    /// elsewhere.
    #[must_use]
    pub fn policy(&self) -> Policy {
        Policy {
            callbacks: self.callbacks.clone(),
            continuation: self.continuation.clone(),
            link_only_permitted: self.link_only_permitted,
            max_quorum: self.max_quorum,
            idempotency_ttl: self.idempotency_window,
            ..Policy::default()
        }
    }

    /// Whether callbacks reach the public internet alone: as configured, otherwise once people open the server by `https`.
    #[must_use]
    pub fn guards_callbacks(&self) -> bool {
        let by_base =
            matches!(&self.public_base, PublicBase::Fixed(base) if base.to_ascii_lowercase().starts_with("https:"));
        self.callback_guard.unwrap_or(by_base)
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
