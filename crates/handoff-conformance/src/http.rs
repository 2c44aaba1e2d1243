//! Calls over HTTP, with the exact bytes of what comes back.

use std::{
    fmt,
    sync::Arc,
    time::{Duration, Instant},
};

use reqwest::{
    Client, Method, Response, Url,
    header::{HeaderMap, HeaderName, HeaderValue},
    redirect::Policy,
};
use rustls::{ClientConfig, crypto::ring};
use rustls_platform_verifier::BuilderVerifierExt as _;
use serde_json::Value;

use crate::json;

/// The most that is read of a body.
const MOST: usize = 64 << 20;

/// What is sent.
#[derive(Clone, Debug)]
pub struct Outgoing {
    /// The method.
    pub method: Method,
    /// The whole address.
    pub url: Url,
    /// The headers.
    pub headers: HeaderMap,
    /// The body, if there is one.
    pub body: Option<Vec<u8>>,
}

/// What came back.
#[derive(Clone, Debug)]
pub struct Reply {
    /// The status.
    pub status: u16,
    /// Each header as it came; names in small letters.
    pub headers: Vec<(String, String)>,
    /// The body, to the byte.
    pub text: String,
    /// The body as JSON; none where it is empty, and why where it is no strict JSON.
    pub body: Option<Result<Value, String>>,
    /// From the sending to the last byte.
    pub took: Duration,
}

/// There is no reply.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct NoReply {
    /// Of what kind.
    pub kind: Kind,
    /// Why, in words.
    pub problem: String,
}

/// Why there is no reply.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Kind {
    /// Nobody takes connections there.
    Unreachable,
    /// Nothing came for longer than there is patience.
    Silent,
    /// The connection was there, and broke.
    Broken,
    /// Something else.
    Other,
}

impl NoReply {
    fn of(error: &reqwest::Error) -> Self {
        let kind = if error.is_timeout() {
            Kind::Silent
        } else if error.is_connect() {
            Kind::Unreachable
        } else if error.is_request() || error.is_body() || error.is_decode() {
            Kind::Broken
        } else {
            Kind::Other
        };
        Self { kind, problem: causes(error) }
    }
}

impl fmt::Display for NoReply {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "there is no reply: {}", self.problem)
    }
}

/// What becomes of a connection after a call.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum After {
    /// It is closed. A server may end a connection after any reply, and a call that is just being sent over it would fail
    /// through nobody's fault.
    Close,
    /// It carries the next call.
    Keep,
}

/// A client with connections of its own. It follows no redirect and knows no proxy.
///
/// # Errors
///
/// TLS cannot be set up here.
pub fn client(patience: Duration, after: After) -> Result<Client, String> {
    let tls = |error: rustls::Error| format!("TLS cannot be set up: {error}");
    let mut config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(tls)?
        .with_platform_verifier()
        .map_err(tls)?
        .with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Client::builder()
        .tls_backend_preconfigured(config)
        .http1_only()
        .no_proxy()
        .redirect(Policy::none())
        .timeout(patience)
        .pool_max_idle_per_host(if after == After::Keep { 1 } else { 0 })
        .build()
        .map_err(|error| causes(&error))
}

impl Outgoing {
    /// A call of a method and an address, with nothing else.
    ///
    /// # Errors
    ///
    /// One of them is none.
    pub fn new(method: &str, url: &str) -> Result<Self, String> {
        let method = Method::from_bytes(method.as_bytes()).map_err(|_| format!("`{method}` is no method"))?;
        let url = Url::parse(url).map_err(|error| format!("`{url}` is no address: {error}"))?;
        Ok(Self { method, url, headers: HeaderMap::new(), body: None })
    }

    /// Adds a header.
    ///
    /// # Errors
    ///
    /// The name or the value cannot be sent.
    pub fn header(&mut self, name: &str, value: &str) -> Result<(), String> {
        let header = HeaderName::from_bytes(name.as_bytes()).map_err(|_| format!("`{name}` is no header"))?;
        let value =
            HeaderValue::from_bytes(value.as_bytes()).map_err(|_| format!("the header `{name}` cannot be sent"))?;
        self.headers.insert(header, value);
        Ok(())
    }

    /// Sends it and reads the reply to its end.
    ///
    /// # Errors
    ///
    /// There is no reply, or it breaks off.
    pub async fn send(self, client: &Client) -> Result<Reply, NoReply> {
        let started = Instant::now();
        let mut request = client.request(self.method, self.url).headers(self.headers);
        if let Some(body) = self.body {
            request = request.body(body);
        }
        let response = request.send().await.map_err(|error| NoReply::of(&error))?;
        let status = response.status().as_u16();
        let header = |(name, value): (&HeaderName, &HeaderValue)| {
            (name.as_str().to_owned(), String::from_utf8_lossy(value.as_bytes()).into_owned())
        };
        let headers = response.headers().iter().map(header).collect();
        let bytes = read(response).await?;
        let took = started.elapsed();
        let (text, body) = match String::from_utf8(bytes) {
            Ok(text) if text.is_empty() => (text, None),
            Ok(text) => {
                let body = json::read(&text);
                (text, Some(body))
            }
            Err(error) => {
                let text = String::from_utf8_lossy(error.as_bytes()).into_owned();
                (text, Some(Err("it is not UTF-8".to_owned())))
            }
        };
        Ok(Reply { status, headers, text, body, took })
    }
}

impl Reply {
    /// The value of a header, if it stands once or more; several are joined by commas, as HTTP says.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<String> {
        let of_name = |(known, _): &&(String, String)| known.eq_ignore_ascii_case(name);
        let values: Vec<_> = self.headers.iter().filter(of_name).map(|(_, value)| value.as_str()).collect();
        (!values.is_empty()).then(|| values.join(", "))
    }

    /// The body as JSON, if it is.
    #[must_use]
    pub fn json(&self) -> Option<&Value> {
        self.body.as_ref().and_then(|body| body.as_ref().ok())
    }

    /// Everything that came, as one text.
    #[must_use]
    pub fn whole(&self) -> String {
        let headers = self.headers.iter().map(|(name, value)| format!("{name}: {value}\n"));
        format!("{}\n{}\n{}", self.status, headers.collect::<String>(), self.text)
    }

    /// The status and the beginning of the body, for a message.
    #[must_use]
    pub fn brief(&self) -> String {
        format!("{} {}", self.status, json::cut(&self.text, 600)).trim_end().to_owned()
    }
}

/// Reads a body to its end, unless that is too far away.
async fn read(mut response: Response) -> Result<Vec<u8>, NoReply> {
    let mut bytes = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(|error| NoReply::of(&error))? {
        bytes.extend_from_slice(&chunk);
        if bytes.len() > MOST {
            return Err(NoReply { kind: Kind::Other, problem: format!("its body is longer than {MOST} bytes") });
        }
    }
    Ok(bytes)
}

/// An error with everything that caused it.
fn causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(": ");
        text.push_str(&error.to_string());
        cause = error.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use tokio::{
        io::{AsyncReadExt as _, AsyncWriteExt as _},
        net::TcpListener,
    };

    use super::*;

    /// What comes of a call to a server that reads its head and then says this, and hangs up or does not.
    async fn call(says: &'static [u8], hangs_up: bool) -> Result<Reply, NoReply> {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap());
        tokio::spawn(async move {
            let (mut connection, _) = listener.accept().await.unwrap();
            let _ = connection.read(&mut [0; 1024]).await;
            let _ = connection.write_all(says).await;
            if !hangs_up {
                std::future::pending::<()>().await;
            }
        });
        Outgoing::new("GET", &url).unwrap().send(&client(Duration::from_millis(300), After::Close).unwrap()).await
    }

    #[tokio::test]
    async fn the_ways_of_getting_no_reply_are_told_apart() {
        let kind = |outcome: Result<Reply, NoReply>| outcome.map_err(|none| none.kind).unwrap_err();
        assert_eq!(kind(call(b"", true).await), Kind::Broken);
        assert_eq!(kind(call(b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n{}", true).await), Kind::Broken);
        assert_eq!(kind(call(b"", false).await), Kind::Silent);
        let nobody = Outgoing::new("GET", "http://127.0.0.1:9/").unwrap();
        assert_eq!(kind(nobody.send(&client(Duration::from_secs(5), After::Close).unwrap()).await), Kind::Unreachable);
    }

    #[tokio::test]
    async fn a_reply_is_kept_to_the_byte_and_read_strictly() {
        let good =
            call(b"HTTP/1.1 200 OK\r\nX-A: 1\r\nX-A: 2\r\ncontent-length: 10\r\n\r\n{ \"a\":1.0}", true).await.unwrap();
        assert_eq!((good.status, good.text.as_str()), (200, "{ \"a\":1.0}"));
        assert_eq!(good.header("x-a").as_deref(), Some("1, 2"));
        let twice = call(b"HTTP/1.1 200 OK\r\ncontent-length: 13\r\n\r\n{\"a\":1,\"a\":2}", true).await.unwrap();
        assert!(twice.body.unwrap().unwrap_err().contains("twice"));
        let empty = call(b"HTTP/1.1 204 No Content\r\n\r\n", true).await.unwrap();
        assert_eq!(empty.body, None);
    }
}
