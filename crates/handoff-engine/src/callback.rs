//! The port that pushes signals to the world (section 19).

use std::fmt;

use async_trait::async_trait;
use bytes::Bytes;
use handoff_protocol::decision::PushResult;

/// Posts what is signed already. It follows no redirect, asks no proxy, and gives up after ten seconds in all; whoever
/// guards against private addresses judges the address that it connects to (rule H-9).
///
/// Each call is one attempt: trying again is for the caller, who keeps the record.
#[async_trait]
pub trait CallbackTransport: Send + Sync + 'static {
    /// Sends one attempt and tells what came of it. What the receiver says beyond its status is thrown away.
    async fn post(&self, post: &Post) -> PushResult;
}

/// One attempt, ready to be sent. `Debug` shows nothing of it.
#[derive(Clone, Eq, PartialEq)]
pub struct Post {
    /// Where to: an absolute `http` or `https` address.
    pub url: String,
    /// Every header that says something of the content; the transport adds those of the connection.
    pub headers: Vec<(&'static str, String)>,
    /// The exact bytes that were signed.
    pub body: Bytes,
}

impl fmt::Debug for Post {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Post").field("bytes", &self.body.len()).finish_non_exhaustive()
    }
}
