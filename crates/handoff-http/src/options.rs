//! What a deployment may choose about the API.

use std::time::Duration;

/// What a deployment may choose about the API. The defaults are the contract's.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct HttpOptions {
    /// How many bytes a body may have, 1 MiB unless set.
    pub body_limit: usize,
    /// How long a body may take to arrive, 30 seconds unless set.
    pub body_timeout: Duration,
}

impl HttpOptions {
    /// Sets how many bytes a body may have.
    #[must_use]
    pub fn body_limit(mut self, bytes: usize) -> Self {
        self.body_limit = bytes;
        self
    }

    /// Sets how long a body may take to arrive.
    #[must_use]
    pub fn body_timeout(mut self, timeout: Duration) -> Self {
        self.body_timeout = timeout;
        self
    }
}

impl Default for HttpOptions {
    fn default() -> Self {
        Self { body_limit: 1 << 20, body_timeout: Duration::from_secs(30) }
    }
}
