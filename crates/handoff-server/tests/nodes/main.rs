//! Several nodes over one Postgres database, and what befalls them: nodes that are killed, a database that stops, clocks that
//! are wrong.
//!
//! A normal run takes each for half a minute at the most; `cargo xtask full`, or `cargo test -p handoff-server --test nodes --
//! --ignored --nocapture`, takes them at their full length, ten minutes of load with a node killed every twenty seconds, or as
//! many seconds as `HANDOFF_SECONDS` says.

#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "tests fail by panicking, and these print their figures"
)]

mod clocks;
mod fleet;
mod killed;
mod load;
mod outage;
mod receiver;
#[expect(dead_code, reason = "shared with other tests, which use more of it")]
#[path = "../support/mod.rs"]
mod support;
mod wakes;
