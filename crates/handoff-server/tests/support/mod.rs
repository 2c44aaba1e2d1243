//! What the tests share: a deployment with its store, the server as a process, a connection to it, and credentials.

pub(crate) mod connection;
pub(crate) mod deployment;
pub(crate) mod process;
pub(crate) mod shell;
pub(crate) mod tenant;
pub(crate) mod whole;
