//! The client against a real server, and against sockets that misbehave.

mod api;
mod bench;
mod transport;
