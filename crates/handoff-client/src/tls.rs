//! TLS of this client: rustls over ring, trusting what the operating system trusts.

use std::sync::Arc;

use rustls::{ClientConfig, crypto::ring};
use rustls_platform_verifier::BuilderVerifierExt as _;

use crate::error::ClientError;

/// The configuration of one client. The provider is named here, so that no program needs to install one.
pub(crate) fn configuration() -> Result<ClientConfig, ClientError> {
    let failed = |error: rustls::Error| ClientError::Configuration(format!("TLS cannot be set up: {error}"));
    let mut config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(failed)?
        .with_platform_verifier()
        .map_err(failed)?
        .with_no_client_auth();
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(config)
}
