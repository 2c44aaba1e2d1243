//! `handoffd` as its users meet it: the built binary, its variables, its output, its files.

#![expect(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "tests fail by panicking")]

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
mod planting;
mod postgres;
mod reaching;
mod recipe;
mod recording;
mod redaction;
mod secrets;
mod serving;
mod stopping;
#[path = "../support/mod.rs"]
mod support;
mod verifying;
