//! The Handoff engine: use cases, the ports they need, and the timer worker.

pub mod clock;
pub mod entropy;
pub mod store;
