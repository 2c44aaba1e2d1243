//! What threads share: the standard library's, and shuttle's in builds that play every order of threads
//! (`cargo xtask shuttle`).

#[cfg(not(feature = "shuttle"))]
pub(crate) use std::sync::{Mutex, MutexGuard};

#[cfg(feature = "shuttle")]
pub(crate) use shuttle::sync::{Mutex, MutexGuard};
