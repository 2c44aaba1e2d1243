//! The engine over the store in memory, a virtual clock and seeded entropy: what callers see, one test a behavior.

#![expect(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "tests fail by panicking")]

mod bootstrap;
mod callbacks;
mod capabilities;
mod continuing;
mod correcting;
mod events;
mod expiry;
mod faults;
mod following;
mod fsck;
mod identity;
mod inbox;
mod keys;
mod leases;
mod listing;
mod model;
mod operating;
mod people;
mod races;
mod reaching;
mod record;
mod sinks;
mod tenants;
mod test_mode;
mod together;
mod waiting;
mod world;
