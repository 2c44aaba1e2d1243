//! The decision core as its rules describe it: one module a subject, one test a behaviour.

#![expect(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "tests fail by panicking")]

mod agreeing;
mod answering;
mod bodies;
mod building;
mod bundles;
mod capabilities;
mod climbing;
mod continuing;
mod correcting;
mod delivering;
mod expiring;
mod explaining;
mod idempotency;
mod interleaving;
mod later;
mod leasing;
mod numbers;
mod observing;
mod parts;
mod passing_on;
mod people;
mod policies;
mod proofs;
mod pushing;
mod raising;
mod reassigning;
mod redeeming;
mod refusals;
mod resending;
mod room;
mod scene;
mod schema_walk;
mod sealing;
mod secrets;
mod settled;
mod signatures;
mod terms;
mod values;
mod waiting;
