//! The runner as a program: what it refuses to begin, and what it says of servers that do little or nothing.

#![expect(clippy::indexing_slicing, clippy::unwrap_used, reason = "tests fail by panicking")]

mod fixture;
mod interrupting;
mod refusing;
mod servers;
