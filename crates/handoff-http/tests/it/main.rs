//! The API over a real socket, as a stranger's client sees it.

#![expect(clippy::panic, clippy::string_slice, clippy::unwrap_used, reason = "tests fail by panicking")]

mod bodies;
mod client;
mod clock;
mod contract;
mod credentials;
mod envelope;
mod errors;
mod isolation;
mod keys;
mod listing;
mod logs;
mod main_job;
mod race;
mod schema;
mod waiting;
mod world;
