//! Connections: accepted one after another, each with bounds, and let go in order when the server stops.

use std::{future::Future, io, net::SocketAddr, time::Duration};

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    server::graceful::{GracefulShutdown, Watcher},
    service::TowerToHyperService,
};
use tokio::{
    net::{TcpListener, TcpSocket, TcpStream},
    task::JoinSet,
};

/// How long the head of a call may take to arrive, counted from when the connection waits for one. A connection that
/// sends nothing for as long is closed as well.
const HEAD_TIMEOUT: Duration = Duration::from_secs(10);

/// How many bytes the head of a call may have.
const HEAD_BYTES: usize = 64 << 10;

/// How many headers a call may have.
const HEADERS: usize = 100;

/// How many connections may wait to be accepted, as far as the system allows. Beyond that the next one waits for a second,
/// and programs come back all at once when a server was restarted.
const QUEUE: u32 = 4_096;

/// How long to wait when the system has no room for another connection.
const BREATH: Duration = Duration::from_millis(100);

/// Listens at an address.
pub(crate) fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    // Connections of a server that stopped linger, and must not keep the next from its port. Elsewhere than on Unix this
    // would let two servers share one.
    #[cfg(unix)]
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(QUEUE)
}

/// Serves until `stop` comes, and then until what was begun has ended. Dropping the future closes every connection.
pub(crate) async fn serve(listener: TcpListener, routes: Router, stop: impl Future<Output = ()>) {
    let graceful = GracefulShutdown::new();
    let mut connections = JoinSet::new();
    tokio::pin!(stop);
    loop {
        tokio::select! {
            () = &mut stop => break,
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => {
                    connections.spawn(connection(stream, routes.clone(), graceful.watcher()));
                }
                Err(error) => refused(&error).await,
            },
            Some(_) = connections.join_next() => {}
        }
    }
    // Nothing more is accepted from here on.
    drop(listener);
    graceful.shutdown().await;
}

/// A client that went away before it was accepted costs nothing; a system without room needs time.
async fn refused(error: &io::Error) {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    if !matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset) {
        tracing::warn!(%error, "a connection cannot be accepted");
        tokio::time::sleep(BREATH).await;
    }
}

async fn connection(stream: TcpStream, routes: Router, watcher: Watcher) {
    // Answers are small and complete: waiting to fill a packet would only delay them.
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "a connection keeps its delay");
    }
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIMEOUT)
        .max_buf_size(HEAD_BYTES)
        .max_headers(HEADERS)
        .serve_connection(TokioIo::new(stream), TowerToHyperService::new(routes));
    if let Err(error) = watcher.watch(connection).await {
        tracing::debug!(%error, "a connection ended early");
    }
}
