//! What this store promises beyond the suite that every store passes.

#![expect(clippy::indexing_slicing, clippy::panic, clippy::unwrap_used, reason = "tests fail by panicking")]

mod append_only;
mod bench;
mod clocks;
mod group;
mod inspecting;
mod isolation;
mod lost;
mod opening;
mod outage;
mod plans;
mod pooler;
mod proxy;
mod standstill;
mod tailing;
mod views;
mod wakes;
