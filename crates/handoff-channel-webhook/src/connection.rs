//! One connection to a receiver: resolved, looked at, connected, perhaps encrypted.

use std::{net::SocketAddr, sync::Arc, time::Duration};

use bytes::Bytes;
use handoff_protocol::decision::{CallbackUrl, PushResult, terms::PushOutcome};
use http_body_util::Full;
use hyper::{
    client::conn::http1::{self, SendRequest},
    rt::{Read, Write},
};
use hyper_util::rt::TokioIo;
use rustls::{ClientConfig, pki_types::ServerName};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

use crate::{address::is_public, resolve::Resolver, transport::Guard};

/// How long one of several addresses is tried.
const ONE_OF_SEVERAL: Duration = Duration::from_secs(3);

/// Where a post goes.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub(crate) struct Target {
    encrypted: bool,
    /// Without the brackets of IPv6.
    host: String,
    port: u16,
}

/// Why there is no connection.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum NoConnection {
    BadAddress,
    NotResolved,
    NotAllowed,
    Refused,
    Tls,
}

impl Target {
    pub(crate) fn of(url: &CallbackUrl) -> Self {
        Self { encrypted: url.is_encrypted(), host: url.host().to_owned(), port: url.port() }
    }
}

/// Connects, and drives the connection until it is no longer used.
pub(crate) async fn open(
    target: &Target,
    resolver: &dyn Resolver,
    guard: Guard,
    tls: Option<&Arc<ClientConfig>>,
) -> Result<SendRequest<Full<Bytes>>, NoConnection> {
    let stream = connect(target, resolver, guard).await?;
    // What is small is sent at once; a failure costs time alone.
    let _ = stream.set_nodelay(true);
    if !target.encrypted {
        return handshake(TokioIo::new(stream)).await;
    }
    let name = ServerName::try_from(target.host.clone()).map_err(|_| NoConnection::Tls)?;
    let connector = TlsConnector::from(Arc::clone(tls.ok_or(NoConnection::Tls)?));
    let stream = connector.connect(name, stream).await.map_err(|_| NoConnection::Tls)?;
    handshake(TokioIo::new(stream)).await
}

async fn connect(target: &Target, resolver: &dyn Resolver, guard: Guard) -> Result<TcpStream, NoConnection> {
    let resolved = resolver.resolve(&target.host, target.port).await.map_err(|_| NoConnection::NotResolved)?;
    if resolved.is_empty() {
        return Err(NoConnection::NotResolved);
    }
    let allowed: Vec<SocketAddr> = resolved.into_iter().filter(|address| guard.allows(*address)).collect();
    let several = allowed.len() > 1;
    let mut failure = NoConnection::NotAllowed;
    for address in allowed {
        failure = NoConnection::Refused;
        let connecting = TcpStream::connect(address);
        let connected =
            if several { tokio::time::timeout(ONE_OF_SEVERAL, connecting).await.ok() } else { Some(connecting.await) };
        if let Some(Ok(stream)) = connected {
            // What is connected to is what counts.
            let allowed = stream.peer_addr().is_ok_and(|address| guard.allows(address));
            return if allowed { Ok(stream) } else { Err(NoConnection::NotAllowed) };
        }
    }
    Err(failure)
}

async fn handshake<T>(io: T) -> Result<SendRequest<Full<Bytes>>, NoConnection>
where
    T: Read + Write + Send + Unpin + 'static,
{
    let (sender, connection) = http1::handshake(io).await.map_err(|_| NoConnection::Refused)?;
    // It ends with its sender.
    tokio::spawn(connection);
    Ok(sender)
}

impl Guard {
    fn allows(self, address: SocketAddr) -> bool {
        match self {
            Self::Open => true,
            Self::PublicOnly => is_public(address.ip()),
        }
    }
}

impl From<NoConnection> for PushResult {
    fn from(reason: NoConnection) -> Self {
        let (outcome, error) = match reason {
            NoConnection::BadAddress => (PushOutcome::PermanentFailure, "bad_address"),
            NoConnection::NotAllowed => (PushOutcome::PermanentFailure, "address_not_allowed"),
            NoConnection::NotResolved => (PushOutcome::TransientFailure, "not_resolved"),
            NoConnection::Refused => (PushOutcome::TransientFailure, "connect_failed"),
            NoConnection::Tls => (PushOutcome::TransientFailure, "tls_failed"),
        };
        Self { outcome, status: None, error: Some(error) }
    }
}
