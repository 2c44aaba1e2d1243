//! The engine over the store in memory, a virtual clock and seeded entropy: what callers see, one test a behavior.

#![expect(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod bootstrap;
mod correcting;
mod events;
mod expiry;
mod faults;
mod identity;
mod inbox;
mod keys;
mod leases;
mod listing;
mod races;
mod record;
mod tenants;
mod test_mode;
mod together;
mod waiting;
mod world;
