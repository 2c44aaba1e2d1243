//! From a name to addresses.

use std::{io, net::SocketAddr};

use async_trait::async_trait;

/// Resolves names. It is asked once for each connection.
#[async_trait]
pub trait Resolver: Send + Sync + 'static {
    /// Every address of a host, which may itself be an address in any spelling that the system knows.
    ///
    /// # Errors
    ///
    /// If the name cannot be resolved.
    async fn resolve(&self, host: &str, port: u16) -> io::Result<Vec<SocketAddr>>;
}

/// The resolver of the operating system.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemResolver;

#[async_trait]
impl Resolver for SystemResolver {
    async fn resolve(&self, host: &str, port: u16) -> io::Result<Vec<SocketAddr>> {
        Ok(tokio::net::lookup_host((host, port)).await?.collect())
    }
}
