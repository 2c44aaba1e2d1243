//! The client against a real server, and against sockets that misbehave.

#![expect(clippy::indexing_slicing, clippy::unwrap_used, reason = "tests fail by panicking")]

mod api;
mod bench;
mod capabilities;
mod transport;
