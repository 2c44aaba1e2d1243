//! How a client is put together.

use std::time::Duration;

use handoff_protocol::secret::Secret;
use reqwest::{Url, redirect};

use crate::{client::Client, error::ClientError, tls};

/// How long a call may take, polls aside.
const TIMEOUT: Duration = Duration::from_secs(30);
/// How long connecting may take.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// How often a call is tried when no response comes.
const TRIES: u32 = 3;

/// Puts a client together; [`Client::new`] suffices for most programs.
#[derive(Clone, Debug)]
#[must_use]
pub struct ClientBuilder {
    base_url: String,
    api_key: Option<Secret<String>>,
    timeout: Duration,
    tries: u32,
    backoff: Duration,
    user_agent: String,
}

impl ClientBuilder {
    pub(crate) fn new(base_url: &str) -> Self {
        Self {
            base_url: base_url.to_owned(),
            api_key: None,
            timeout: TIMEOUT,
            tries: TRIES,
            backoff: Duration::from_secs(1),
            user_agent: concat!("handoff-rust/", env!("CARGO_PKG_VERSION")).to_owned(),
        }
    }

    /// The bearer token to act with.
    pub fn api_key(mut self, key: impl Into<Secret<String>>) -> Self {
        self.api_key = Some(key.into());
        self
    }

    /// How long a call may take, 30 seconds unless set; a poll may take its window longer.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// How often a call is tried when no response comes, 3 unless set; at least once.
    pub fn tries(mut self, tries: u32) -> Self {
        self.tries = tries.max(1);
        self
    }

    /// The unit of the pause before another try, 1 second unless set. The n-th pause is 2 to the n of it, 8 at the most,
    /// times a random half to one.
    pub fn backoff(mut self, unit: Duration) -> Self {
        self.backoff = unit;
        self
    }

    /// What the client calls itself.
    pub fn user_agent(mut self, name: impl Into<String>) -> Self {
        self.user_agent = name.into();
        self
    }

    /// Builds the client. Nothing is sent.
    ///
    /// # Errors
    ///
    /// [`ClientError::Configuration`] if the address is not one of http or https, or TLS cannot be set up.
    pub fn build(self) -> Result<Client, ClientError> {
        let base = parse_base(&self.base_url)?;
        let mut http = reqwest::Client::builder()
            .tls_backend_preconfigured(tls::configuration()?)
            // A redirect would carry the credential to an address that nobody chose.
            .redirect(redirect::Policy::none())
            .connect_timeout(CONNECT_TIMEOUT.min(self.timeout))
            .user_agent(self.user_agent);
        if is_loopback(&base) {
            http = http.no_proxy();
        }
        let http = http
            .build()
            .map_err(|error| ClientError::Configuration(format!("the HTTP client cannot be set up: {error}")))?;
        let address = without_version(base.as_str()).to_owned();
        Ok(Client::assemble(http, address, self.api_key, self.timeout, self.tries, self.backoff))
    }
}

fn parse_base(text: &str) -> Result<Url, ClientError> {
    let refuse = |problem: &str| {
        Err(ClientError::Configuration(format!(
            "the server's address {problem}; it looks like `https://handoff.example.com`"
        )))
    };
    let Ok(url) = Url::parse(text.trim()) else { return refuse("cannot be read") };
    if !matches!(url.scheme(), "http" | "https") {
        return refuse("must begin with `http://` or `https://`");
    }
    if url.password().is_some() || !url.username().is_empty() {
        return refuse("must not hold a name or a password");
    }
    if url.query().is_some() || url.fragment().is_some() {
        return refuse("must not hold a query or a fragment");
    }
    Ok(url)
}

/// The address without the `/v1` that every path begins with, so that both are accepted.
fn without_version(address: &str) -> &str {
    let address = address.trim_end_matches('/');
    address.strip_suffix("/v1").unwrap_or(address).trim_end_matches('/')
}

/// Whether the server is on this machine, where no proxy can reach it.
fn is_loopback(url: &Url) -> bool {
    match url.host_str() {
        Some("localhost" | "[::1]") => true,
        Some(host) => host.parse::<std::net::Ipv4Addr>().is_ok_and(|address| address.is_loopback()),
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_that_cannot_be_a_server_is_refused_without_quoting_it() {
        for address in
            ["", "handoff.example.com", "ftp://x", "http://u:hunter2@x", "http://x/?hunter2", "http://x/#hunter2"]
        {
            let error = Client::new(address, "key".to_owned()).map(|_| ()).unwrap_err().to_string();
            assert!(error.contains("address") && !error.contains("hunter2"), "{address}: {error}");
        }
    }

    #[test]
    fn an_address_may_end_in_the_version_or_not() {
        for address in ["http://x", "http://x/", "http://x/v1", "http://x/v1/"] {
            let client = Client::new(address, "key".to_owned()).unwrap();
            assert_eq!(client.transport.address, "http://x", "{address}");
        }
        assert_eq!(without_version("http://x/handoff/v1"), "http://x/handoff");
        assert_eq!(without_version("http://x/nov1"), "http://x/nov1");
    }

    #[test]
    fn neither_a_client_nor_its_builder_shows_the_key() {
        let builder = Client::builder("http://127.0.0.1:1").api_key("hunter2".to_owned());
        assert!(!format!("{builder:?}").contains("hunter2"));
        assert!(!format!("{:?}", builder.build().unwrap()).contains("hunter2"));
    }
}
