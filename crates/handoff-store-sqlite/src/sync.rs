//! What threads hand each other: the standard library's channel, and shuttle's in builds that play every order of threads
//! (`cargo xtask shuttle`).

#[cfg(not(feature = "shuttle"))]
pub(crate) use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};

#[cfg(feature = "shuttle")]
pub(crate) use shuttle::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
