//! What a deployment may choose about the API.

use std::time::Duration;

use crate::{
    limits::{self, Calls},
    metrics::Metrics,
};

/// What a deployment may choose about the API. The defaults are the contract's. Routers of one server are given clones of
/// one value, and count together.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct HttpOptions {
    /// How many bytes a body may have, 4 MiB unless set: 64 fields of 100 options fit with every text as long as it may be.
    pub body_limit: usize,
    /// How long a body may take to arrive, 30 seconds unless set.
    pub body_timeout: Duration,
    /// How many calls a minute each credential has on this node, 1000 unless set; 0 for any number. The headers that
    /// tell of it are on every response all the same (section 21).
    pub rate_limit_per_minute: u32,
    /// Where calls are counted.
    pub metrics: Metrics,
    /// Clones count together, so that all routers of a node tell of the same calls.
    pub(crate) calls: Calls,
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

    /// Sets how many calls a minute each credential has; 0 for any number.
    #[must_use]
    pub fn rate_limit_per_minute(mut self, calls: u32) -> Self {
        self.rate_limit_per_minute = calls;
        self
    }

    /// Sets where calls are counted.
    #[must_use]
    pub fn metrics(mut self, metrics: Metrics) -> Self {
        self.metrics = metrics;
        self
    }
}

impl Default for HttpOptions {
    fn default() -> Self {
        Self {
            body_limit: 4 << 20,
            body_timeout: Duration::from_secs(30),
            rate_limit_per_minute: limits::PER_MINUTE,
            metrics: Metrics::default(),
            calls: Calls::default(),
        }
    }
}
