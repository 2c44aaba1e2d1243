//! One kept-alive connection. It is hyper's own, without pool, retries, redirects or compression: the load shares the
//! machine with what it loads, so each microsecond spent here is one that the server does not have.

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::{
    Method, Request, StatusCode, Uri,
    client::conn::http1::{self, SendRequest},
    header::{self, HeaderName, HeaderValue},
};
use hyper_util::rt::TokioIo;
use serde::Deserialize;
use tokio::net::TcpStream;

use crate::{
    error::BenchError,
    target::{Target, Tenant},
};

const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");
const JSON: HeaderValue = HeaderValue::from_static("application/json");

/// A caller with a connection of its own, in one tenant.
pub(crate) struct Client {
    sender: SendRequest<Full<Bytes>>,
    place: (String, u16),
    host: HeaderValue,
    base: String,
    tenant: Tenant,
}

/// As whom a call is made.
#[derive(Clone, Copy, Debug)]
pub(super) enum As {
    Machine,
    Person,
}

/// One call.
pub(super) struct Call {
    pub(super) name: &'static str,
    pub(super) caller: As,
    pub(super) method: Method,
    pub(super) path: String,
    pub(super) key: Option<String>,
    pub(super) body: Option<Bytes>,
}

/// What came back.
pub(super) struct Answer {
    pub(super) status: StatusCode,
    pub(super) body: Bytes,
}

#[derive(Deserialize)]
struct Envelope {
    error: Coded,
}

#[derive(Deserialize)]
struct Coded {
    code: String,
}

impl Client {
    /// Connects to the server as one tenant.
    pub(crate) async fn open(target: &Target, tenant: &Tenant) -> Result<Self, BenchError> {
        let place = (target.host.clone(), target.port);
        let host = HeaderValue::try_from(format!("{}:{}", target.host, target.port))
            .map_err(|_| BenchError::Url("has a host that cannot stand in a header"))?;
        Ok(Self { sender: connect(&place).await?, place, host, base: target.path.clone(), tenant: tenant.clone() })
    }

    /// Makes a call and reads all of its answer, whatever it is.
    pub(super) async fn send(&mut self, call: Call) -> Result<Answer, BenchError> {
        let Call { name, caller, method, path, key, body } = call;
        let unreadable = |problem: String| BenchError::Unreadable { call: name, problem };
        let uri = Uri::try_from(format!("{}{path}", self.base)).map_err(|error| unreadable(error.to_string()))?;
        let mut request = Request::new(Full::new(body.clone().unwrap_or_default()));
        *request.method_mut() = method;
        *request.uri_mut() = uri;
        let headers = request.headers_mut();
        headers.insert(header::HOST, self.host.clone());
        headers.insert(header::ACCEPT, JSON);
        let token = match caller {
            As::Machine => &self.tenant.machine,
            As::Person => &self.tenant.person,
        };
        headers.insert(header::AUTHORIZATION, token.clone());
        if body.is_some() {
            headers.insert(header::CONTENT_TYPE, JSON);
        }
        if let Some(key) = key {
            headers.insert(IDEMPOTENCY_KEY, HeaderValue::try_from(key).map_err(|error| unreadable(error.to_string()))?);
        }
        // Servers close connections that were silent for long; nothing was sent on this one yet.
        if self.sender.ready().await.is_err() {
            self.sender = connect(&self.place).await?;
        }
        let response = self.sender.send_request(request).await?;
        let status = response.status();
        let body = response.into_body().collect().await?.to_bytes();
        Ok(Answer { status, body })
    }

    /// Makes a call that must succeed in one of these ways.
    pub(super) async fn expect(&mut self, call: Call, statuses: &[StatusCode]) -> Result<Answer, BenchError> {
        let name = call.name;
        let answer = self.send(call).await?;
        if statuses.contains(&answer.status) {
            return Ok(answer);
        }
        let code = serde_json::from_slice::<Envelope>(&answer.body)
            .map_or_else(|_| String::new(), |envelope| format!(" ({})", envelope.error.code));
        Err(BenchError::Answer { call: name, status: answer.status, code })
    }
}

async fn connect((host, port): &(String, u16)) -> Result<SendRequest<Full<Bytes>>, BenchError> {
    let connecting = TcpStream::connect((host.as_str(), *port)).await;
    let stream = connecting.map_err(BenchError::system("the server cannot be reached"))?;
    stream.set_nodelay(true).map_err(BenchError::system("a socket cannot be set"))?;
    let (sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
    // How it ends is told to the call in flight.
    tokio::spawn(async move { drop(connection.await) });
    Ok(sender)
}

impl Answer {
    /// The members of the body that matter.
    pub(super) fn read<'a, T: Deserialize<'a>>(&'a self, call: &'static str) -> Result<T, BenchError> {
        serde_json::from_slice(&self.body).map_err(|error| BenchError::Unreadable { call, problem: error.to_string() })
    }
}
