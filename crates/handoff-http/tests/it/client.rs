//! A small client: one connection a call, nothing followed, nothing repaired.

use std::net::SocketAddr;

use bytes::Bytes;
use handoff_protocol::json::{Json, read};
use http_body_util::{BodyExt as _, Full};
use hyper::{HeaderMap, Method, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;

/// A call being put together.
#[must_use]
pub(crate) struct Call {
    address: SocketAddr,
    request: hyper::http::request::Builder,
    body: Vec<u8>,
}

/// What came back.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

impl Call {
    pub(crate) fn new(address: SocketAddr, method: &str, path: &str) -> Self {
        let method = Method::from_bytes(method.as_bytes()).unwrap();
        let request = hyper::Request::builder().method(method).uri(path).header("host", address.to_string());
        Self { address, request, body: Vec::new() }
    }

    pub(crate) fn token(self, token: &str) -> Self {
        self.header("authorization", &format!("Bearer {token}"))
    }

    pub(crate) fn key(self, key: &str) -> Self {
        self.header("idempotency-key", key)
    }

    pub(crate) fn header(mut self, name: &str, value: &str) -> Self {
        self.request = self.request.header(name, value);
        self
    }

    pub(crate) fn header_bytes(mut self, name: &str, value: &[u8]) -> Self {
        self.request = self.request.header(name, value);
        self
    }

    pub(crate) fn body(mut self, body: impl Into<Vec<u8>>) -> Self {
        self.body = body.into();
        self
    }

    pub(crate) async fn send(self) -> Reply {
        let stream = TcpStream::connect(self.address).await.unwrap();
        let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.unwrap();
        // Ends with the call; a caller that is dropped drops the connection with it.
        let exchange = async {
            let request = self.request.body(Full::new(Bytes::from(self.body))).unwrap();
            let response = sender.send_request(request).await.unwrap();
            let (parts, body) = response.into_parts();
            let body = body.collect().await.unwrap().to_bytes();
            Reply { status: parts.status, headers: parts.headers, body }
        };
        let connection = async {
            // The server may close once it has answered; the answer is what counts.
            let _ = connection.await;
            std::future::pending::<()>().await;
        };
        tokio::select! {
            reply = exchange => reply,
            () = connection => unreachable!("the connection never resolves"),
        }
    }

    /// Sends and expects a status.
    #[track_caller]
    pub(crate) fn expect(self, status: u16) -> impl Future<Output = Reply> {
        let caller = std::panic::Location::caller();
        async move {
            let reply = self.send().await;
            assert_eq!(reply.status.as_u16(), status, "at {caller}: {}", reply.text());
            reply
        }
    }
}

impl Reply {
    pub(crate) fn text(&self) -> &str {
        str::from_utf8(&self.body).unwrap()
    }

    pub(crate) fn json(&self) -> Json {
        read(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.text()))
    }

    /// The value at a dotted path, `data.0.id` for example.
    pub(crate) fn at(&self, path: &str) -> Json {
        path.split('.').fold(self.json(), |value, step| {
            let next = match step.parse::<usize>() {
                Ok(place) => value.as_array().and_then(|items| items.get(place)),
                Err(_) => value.get(step),
            };
            next.unwrap_or_else(|| panic!("no `{path}` in {}", self.text())).clone()
        })
    }

    /// The text at a dotted path.
    pub(crate) fn str(&self, path: &str) -> String {
        self.at(path).as_str().unwrap_or_else(|| panic!("no text at `{path}` in {}", self.text())).to_owned()
    }

    pub(crate) fn code(&self) -> String {
        self.str("error.code")
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().unwrap())
    }
}
