//! `handoffd` as its users meet it: the built binary, its variables, its output, its files.

#![expect(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "tests fail by panicking")]

mod configuration;
mod crash_point;
mod development;
mod durability;
mod serving;
mod stopping;
#[path = "../support/mod.rs"]
mod support;
mod verifying;
