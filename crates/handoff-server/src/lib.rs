//! The Handoff server as a library: it reads the configuration, builds the ports and mounts the surfaces.
//!
//! `handoffd` is a thin command line over this crate. Nothing is decided here: the rules live in `handoff-protocol`, the
//! use cases in `handoff-engine`.
//!
//! | module | what lives there |
//! |---|---|
//! | [`config`] | the configuration, and reading it from the environment and a file |
//! | [`bootstrap`] | the principals and tokens that are loaded at the start |
//! | [`reaching`] | the people, policies and channels of a configuration |
//! | [`doubts`] | what a configuration says that leads nowhere as things are |
//! | [`schemas`] | the JSON Schemas for `document` fields |
//! | [`server`] | starting, and stopping without losing a request |
//! | [`store`] | opening the store that a database address names |
//! | [`signing_key`] | the key that signs receipts, in a file of its own |
//! | [`private_file`] | files that only their owner may read |
//! | [`chain_check`] | whether a tenant's receipts are what was sealed |
//! | [`fsck`] | whether everything of a tenant is as the rules allow |
//!
//! # Example
//!
//! A server on a free port, over a store in a directory:
//!
//! ```no_run
//! # async fn example() -> Result<(), handoff_server::StartError> {
//! use handoff_server::{Config, Server};
//!
//! let mut config = Config::dev("handoff-data");
//! config.bind.set_port(0);
//! let server = Server::start(config).await?;
//! println!("open {}", server.engine().public_base());
//! server.stop().await;
//! # Ok(())
//! # }
//! ```

pub mod bootstrap;
pub mod chain_check;
pub mod config;
mod crash_point;
mod database_url;
pub mod doubts;
pub mod fsck;
mod likeness;
mod listening;
pub mod private_file;
pub mod reaching;
mod routes;
pub mod schemas;
pub mod server;
pub mod signing_key;
pub mod store;
mod worker;

pub use self::{
    config::{ChannelConfig, ChannelKind, Config, ConfigError, LogFormat, PublicBase, SinkCommand, TenantConfig},
    crash_point::CrashPoint,
    database_url::{DatabaseUrl, DatabaseUrlError, PostgresUrl},
    server::{Running, Server, StartError},
};

/// The target of the few log lines that are written whatever the filter says: that the server listens, that it stops.
pub const LIFECYCLE: &str = "handoffd::lifecycle";
