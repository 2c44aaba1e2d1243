//! What is loaded: the address of a server, and a machine and a person for each tenant.

use std::path::Path;

use handoff_protocol::callback::CallbackSecret;
use hyper::{Uri, header::HeaderValue};
use serde::Deserialize;

use crate::error::BenchError;

/// A server of the contract, with credentials.
#[derive(Clone, Debug)]
pub(crate) struct Target {
    pub(crate) host: String,
    pub(crate) port: u16,
    /// What stands before `/v1`; mostly nothing.
    pub(crate) path: String,
    pub(crate) tenants: Vec<Tenant>,
    /// The server's process, where it runs on this machine.
    pub(crate) process: Option<u32>,
    /// The first process of its database, where that runs on this machine too.
    pub(crate) database: Option<u32>,
    /// What it signs callbacks with; none where nobody said.
    pub(crate) secrets: Vec<CallbackSecret>,
}

/// The two callers of a tenant, as the values of their headers. They print as `Sensitive`.
#[derive(Clone, Debug)]
pub(crate) struct Tenant {
    pub(crate) machine: HeaderValue,
    pub(crate) person: HeaderValue,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    tenants: Vec<Pair>,
}

/// The two tokens of a tenant.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Pair {
    pub(crate) machine: String,
    pub(crate) person: String,
}

impl Target {
    /// A server at a base address, without `/v1`.
    pub(crate) fn new(url: &str, pairs: &[Pair], process: Option<u32>) -> Result<Self, BenchError> {
        let uri: Uri = url.trim_end_matches('/').parse().map_err(|_| BenchError::Url("is no address"))?;
        match uri.scheme_str() {
            Some("http") => {}
            Some("https") => return Err(BenchError::Url("is https; measure the server itself, before its TLS")),
            _ => return Err(BenchError::Url("must begin with http://")),
        }
        let host = uri.host().ok_or(BenchError::Url("names no host"))?.to_owned();
        let tenants: Vec<_> = pairs.iter().map(Tenant::new).collect::<Result<_, _>>()?;
        if tenants.is_empty() {
            return Err(BenchError::NoCredentials);
        }
        let path = uri.path().trim_end_matches('/').to_owned();
        Ok(Self {
            host,
            port: uri.port_u16().unwrap_or(80),
            path,
            tenants,
            process,
            database: None,
            secrets: Vec::new(),
        })
    }

    /// The same server, which signs callbacks with these.
    pub(crate) fn signing(mut self, secrets: Vec<CallbackSecret>) -> Self {
        self.secrets = secrets;
        self
    }

    /// The same server, whose database is this process and those that it started.
    pub(crate) const fn kept_in(mut self, database: Option<u32>) -> Self {
        self.database = database;
        self
    }

    /// The tenants that a measurement uses.
    pub(crate) fn tenants(&self, wanted: usize) -> Result<&[Tenant], BenchError> {
        self.tenants.get(..wanted).ok_or(BenchError::FewTenants { wanted, there: self.tenants.len() })
    }
}

impl Tenant {
    fn new(pair: &Pair) -> Result<Self, BenchError> {
        Ok(Self { machine: bearer(&pair.machine)?, person: bearer(&pair.person)? })
    }
}

fn bearer(token: &str) -> Result<HeaderValue, BenchError> {
    let mut value = HeaderValue::try_from(format!("Bearer {token}")).map_err(|_| BenchError::NoCredentials)?;
    value.set_sensitive(true);
    Ok(value)
}

/// Reads the file of credentials.
pub(crate) fn read_credentials(path: &Path) -> Result<Vec<Pair>, BenchError> {
    let fault = |problem: String| BenchError::Credentials { path: path.to_path_buf(), problem };
    let text = std::fs::read_to_string(path).map_err(|error| fault(error.to_string()))?;
    // What serde says of a type names no value but may quote one, so only the place is told.
    let file: File = serde_json::from_str(&text)
        .map_err(|error| fault(format!("line {} column {} is not understood", error.line(), error.column())))?;
    Ok(file.tenants)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair() -> Pair {
        Pair { machine: "hunter1".to_owned(), person: "hunter2".to_owned() }
    }

    #[test]
    fn an_address_is_taken_apart_and_tokens_do_not_print() {
        let target = Target::new("http://127.0.0.1:8080/base/", &[pair()], None).unwrap();
        assert_eq!((target.host.as_str(), target.port, target.path.as_str()), ("127.0.0.1", 8080, "/base"));
        assert!(!format!("{target:?}").contains("hunter"));
    }

    #[test]
    fn what_cannot_be_loaded_is_refused_with_the_mend() {
        for url in ["https://example.com", "ftp://example.com", "127.0.0.1", "http://"] {
            assert!(matches!(Target::new(url, &[pair()], None), Err(BenchError::Url(_))), "{url}");
        }
        assert!(matches!(Target::new("http://a", &[], None), Err(BenchError::NoCredentials)));
        let target = Target::new("http://a", &[pair()], None).unwrap();
        assert!(matches!(target.tenants(2), Err(BenchError::FewTenants { wanted: 2, there: 1 })));
    }

    #[test]
    fn a_file_that_is_wrong_is_named_by_its_place_and_not_repeated() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("credentials.json");
        std::fs::write(&path, r#"{"tenants":["hunter2"]}"#).unwrap();
        let error = read_credentials(&path).err().unwrap().to_string();
        assert!(error.contains("line 1") && !error.contains("hunter2"), "{error}");
    }
}
