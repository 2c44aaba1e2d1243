//! The API over a real socket, as a stranger's client sees it.

#![expect(clippy::panic, clippy::string_slice, clippy::unwrap_used, reason = "tests fail by panicking")]

mod allowed;
mod answers;
mod bodies;
mod changes;
mod client;
mod clock;
mod codes;
mod compare;
mod contract;
mod correcting;
mod credentials;
mod description;
mod durations;
mod envelope;
mod errors;
mod fixtures;
mod isolation;
mod keys;
mod limits;
mod listing;
mod logs;
mod main_job;
mod numbers;
mod operations;
mod race;
mod schema;
mod second_opinion;
#[path = "../../examples/spec/files.rs"]
mod spec_files;
mod structure;
mod stuck;
mod use_cases;
mod waiting;
mod world;
