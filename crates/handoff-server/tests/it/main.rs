//! `handoffd` as its users meet it: the built binary, its variables, its output, its files.

#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "tests fail by panicking"
)]

#[macro_use]
mod stores;

mod bootstrap;
mod by_sql;
mod callbacks;
mod canonicalizing;
mod checking;
mod command_line;
mod config_file;
mod configuration;
mod connections;
mod continuing;
mod crash_point;
mod deadlines;
mod development;
mod durability;
mod failing_surroundings;
mod home;
mod moving;
mod planting;
mod postgres;
mod reaching;
mod recipe;
mod recording;
mod redaction;
mod secrets;
mod serving;
mod stopping;
#[expect(dead_code, reason = "shared with other tests, which use more of it")]
#[path = "../support/mod.rs"]
mod support;
mod verifying;
