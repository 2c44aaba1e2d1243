//! Posts to receivers on real sockets.

#![expect(clippy::unwrap_used, clippy::string_slice, clippy::indexing_slicing, reason = "tests fail by panicking")]

mod channel;
mod guard;
mod posting;
mod receiver;
mod tls;
