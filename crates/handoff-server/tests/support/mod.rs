//! What the tests share: the server as a process, a connection to it, and credentials.

pub(crate) mod connection;
pub(crate) mod process;
pub(crate) mod tenant;
