//! Receivers on ports of their own: those that take what they get, and the ways in which others fail.

use std::{
    convert::Infallible,
    net::{Ipv4Addr, SocketAddr},
};

use bytes::Bytes;
use http_body_util::{BodyExt as _, Empty, Limited};
use hyper::{Request, Response, StatusCode, body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::TokioIo;
use tokio::{
    net::{TcpListener, TcpSocket},
    sync::mpsc::UnboundedSender,
    task::JoinSet,
};

use super::Push;
use crate::error::BenchError;

/// The most that is read of a push; a signal without a payload is about a kilobyte.
const MOST: usize = 1 << 20;

/// How a receiver treats what is pushed to it.
#[derive(Clone, Debug)]
pub(crate) enum Conduct {
    /// Says 204 at once and keeps what it got.
    Takes(UnboundedSender<Push>),
    /// Refuses the connection.
    Refuses,
    /// Says 500 at once.
    Fails,
    /// Accepts the connection and never answers.
    Hangs,
}

/// A receiver, as long as this lives.
#[derive(Debug)]
pub(crate) struct Receiver {
    port: u16,
    _held: Held,
}

/// What makes a receiver what it is.
#[derive(Debug)]
#[expect(dead_code, reason = "these are kept for what the system does while they are there")]
enum Held {
    Serving(JoinSet<()>),
    /// The system completes connections; nobody takes them.
    Listening(TcpListener),
    /// The port belongs to somebody who does not listen.
    Bound(TcpSocket),
}

impl Receiver {
    /// A receiver on a free port of this machine.
    pub(crate) async fn open(conduct: Conduct) -> Result<Self, BenchError> {
        let failed = || BenchError::system("no port for a receiver; each takes one, so perhaps `ulimit -n` is low");
        let free = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        if matches!(conduct, Conduct::Refuses) {
            let socket = TcpSocket::new_v4().map_err(failed())?;
            socket.bind(free).map_err(failed())?;
            let port = socket.local_addr().map_err(failed())?.port();
            return Ok(Self { port, _held: Held::Bound(socket) });
        }
        let listener = TcpListener::bind(free).await.map_err(failed())?;
        let port = listener.local_addr().map_err(failed())?.port();
        let held = match conduct {
            Conduct::Hangs => Held::Listening(listener),
            conduct => {
                let mut serving = JoinSet::new();
                serving.spawn(serve(listener, conduct));
                Held::Serving(serving)
            }
        };
        Ok(Self { port, _held: held })
    }

    /// Where it is pushed to.
    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}/handoff", self.port)
    }
}

async fn serve(listener: TcpListener, conduct: Conduct) {
    // They end with the receiver.
    let mut connections = JoinSet::new();
    // A connection that cannot be accepted shows as a push that does not come.
    while let Ok((stream, _)) = listener.accept().await {
        while connections.try_join_next().is_some() {}
        let _ = stream.set_nodelay(true);
        let conduct = conduct.clone();
        let service = service_fn(move |request| take(conduct.clone(), request));
        connections
            .spawn(async move { drop(http1::Builder::new().serve_connection(TokioIo::new(stream), service).await) });
    }
}

async fn take(conduct: Conduct, request: Request<Incoming>) -> Result<Response<Empty<Bytes>>, Infallible> {
    let (head, body) = request.into_parts();
    let body = Limited::new(body, MOST).collect().await;
    let mut response = Response::new(Empty::new());
    *response.status_mut() = match (conduct, body) {
        (Conduct::Takes(taken), Ok(body)) => {
            // Nobody listens any more once everything came that was waited for.
            let _ = taken.send(Push::now(head.headers, body.to_bytes()));
            StatusCode::NO_CONTENT
        }
        _ => StatusCode::INTERNAL_SERVER_ERROR,
    };
    Ok(response)
}

#[cfg(test)]
mod tests {
    use std::{io, time::Duration};

    use tokio::{
        io::{AsyncReadExt as _, AsyncWriteExt as _},
        net::TcpStream,
        sync::mpsc::{UnboundedReceiver, unbounded_channel},
    };

    use super::*;

    async fn post(conduct: Conduct) -> io::Result<String> {
        let receiver = Receiver::open(conduct).await.unwrap();
        let mut stream = TcpStream::connect(("127.0.0.1", receiver.port)).await?;
        stream.write_all(b"POST /handoff HTTP/1.1\r\nhost: here\r\ncontent-length: 2\r\n\r\n{}").await?;
        let mut line = [0; 12];
        stream.read_exact(&mut line).await?;
        Ok(String::from_utf8_lossy(&line).into_owned())
    }

    #[tokio::test]
    async fn each_receiver_does_what_it_is_there_for() {
        let (sender, mut taken): (_, UnboundedReceiver<Push>) = unbounded_channel();
        assert_eq!(post(Conduct::Takes(sender)).await.unwrap(), "HTTP/1.1 204");
        assert!(taken.try_recv().is_ok());
        assert_eq!(post(Conduct::Fails).await.unwrap(), "HTTP/1.1 500");
        assert_eq!(post(Conduct::Refuses).await.unwrap_err().kind(), io::ErrorKind::ConnectionRefused);
        let hanging = tokio::time::timeout(Duration::from_millis(50), post(Conduct::Hangs)).await;
        assert!(hanging.is_err(), "it was answered: {hanging:?}");
    }
}
