//! The decision core as its rules describe it: one module a subject, one test a behaviour.

#![expect(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "tests fail by panicking")]

mod agreeing;
mod answering;
mod bodies;
mod bundles;
mod correcting;
mod expiring;
mod idempotency;
mod interleaving;
mod later;
mod leasing;
mod numbers;
mod parts;
mod passing_on;
mod proofs;
mod raising;
mod redeeming;
mod refusals;
mod scene;
mod schema_walk;
mod sealing;
mod settled;
mod signatures;
mod terms;
mod values;
mod waiting;
