//! The client itself: an address, a credential, and the patience of a call.

use std::{fmt, sync::Arc, time::Duration};

use handoff_protocol::secret::Secret;

use crate::{builder::ClientBuilder, error::ClientError};

/// A client of one server, with one credential. Clones share its connections.
#[derive(Clone)]
pub struct Client {
    pub(crate) transport: Arc<Transport>,
    pub(crate) api_key: Option<Secret<String>>,
}

/// What clones share.
pub(crate) struct Transport {
    pub(crate) http: reqwest::Client,
    pub(crate) address: String,
    pub(crate) timeout: Duration,
    pub(crate) tries: u32,
    pub(crate) backoff: Duration,
}

impl Client {
    /// A client of the server at this address, without `/v1`, acting with this bearer token.
    ///
    /// # Errors
    ///
    /// [`ClientError::Configuration`] if the address is not one of http or https, or TLS cannot be set up.
    pub fn new(base_url: &str, api_key: impl Into<Secret<String>>) -> Result<Self, ClientError> {
        Self::builder(base_url).api_key(api_key).build()
    }

    /// Begins a client with choices of its own.
    pub fn builder(base_url: &str) -> ClientBuilder {
        ClientBuilder::new(base_url)
    }

    /// The same server with another credential, over the same connections.
    #[must_use]
    pub fn acting_with(&self, api_key: impl Into<Secret<String>>) -> Self {
        Self { transport: Arc::clone(&self.transport), api_key: Some(api_key.into()) }
    }

    /// The server's address, without `/v1`.
    #[must_use]
    pub fn base_url(&self) -> &str {
        &self.transport.address
    }

    pub(crate) fn assemble(
        http: reqwest::Client,
        address: String,
        api_key: Option<Secret<String>>,
        timeout: Duration,
        tries: u32,
        backoff: Duration,
    ) -> Self {
        Self { transport: Arc::new(Transport { http, address, timeout, tries, backoff }), api_key }
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Client").field("address", &self.transport.address).finish_non_exhaustive()
    }
}
