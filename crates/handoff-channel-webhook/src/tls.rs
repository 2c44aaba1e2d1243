//! TLS: rustls over ring, trusting what the operating system trusts.

use std::sync::Arc;

use rustls::{ClientConfig, crypto::ring};
use rustls_platform_verifier::BuilderVerifierExt as _;

/// The configuration; none, with a line in the log, where the system trusts nobody: plain HTTP goes on.
pub(crate) fn configuration() -> Option<Arc<ClientConfig>> {
    let built = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .and_then(|builder| Ok(builder.with_platform_verifier()?.with_no_client_auth()));
    match built {
        Ok(config) => Some(Arc::new(config)),
        Err(error) => {
            tracing::error!(%error, "TLS cannot be set up; callbacks to `https` will fail");
            None
        }
    }
}
