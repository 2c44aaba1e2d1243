//! What this store promises beyond the suite that every store passes.

#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

mod append_only;
mod bench;
mod crash;
mod group;
mod inspecting;
mod opening;
mod sharing;
mod timing;
mod traces;
mod views;
