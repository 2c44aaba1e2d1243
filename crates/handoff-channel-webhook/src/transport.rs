//! The transport: one post, one attempt.

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use bytes::Bytes;
use handoff_engine::callback::{CallbackTransport, Post};
use handoff_protocol::decision::{CallbackUrl, PushResult, terms::PushOutcome};
use http_body_util::{BodyExt as _, Full};
use hyper::{
    Request, Response, StatusCode,
    body::Incoming,
    client::conn::http1::SendRequest,
    header::{HOST, HeaderValue, USER_AGENT},
};
use rustls::ClientConfig;

use crate::{
    connection::{self, NoConnection, Target},
    pool::Pool,
    resolve::{Resolver, SystemResolver},
    tls,
};

/// How long one attempt takes at the most, in all (rule H-6).
const ATTEMPT: Duration = Duration::from_secs(10);
/// How long what follows the status is listened to, so that the connection can be used again.
const LISTENS: Duration = Duration::from_secs(1);
/// How much of it is read.
const READS: usize = 64 << 10;

const NAME: &str = concat!("handoff/", env!("CARGO_PKG_VERSION"));

/// Which addresses are connected to (rule H-9).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Guard {
    /// Every address: for a server whose own base is this machine.
    Open,
    /// Those of the public internet.
    PublicOnly,
}

/// Posts over HTTP/1.1, with or without TLS.
pub struct WebhookTransport {
    guard: Guard,
    resolver: Arc<dyn Resolver>,
    tls: Option<Arc<ClientConfig>>,
    pool: Pool,
    attempt: Duration,
}

impl WebhookTransport {
    /// A transport that trusts and resolves as the operating system does.
    #[must_use]
    pub fn new(guard: Guard) -> Self {
        Self {
            guard,
            resolver: Arc::new(SystemResolver),
            tls: tls::configuration(),
            pool: Pool::default(),
            attempt: ATTEMPT,
        }
    }

    /// Resolves names otherwise.
    #[must_use]
    pub fn resolver(mut self, resolver: Arc<dyn Resolver>) -> Self {
        self.resolver = resolver;
        self
    }

    /// Trusts others than the operating system does.
    #[must_use]
    pub fn tls(mut self, config: Arc<ClientConfig>) -> Self {
        self.tls = Some(config);
        self
    }

    /// Gives an attempt another time than ten seconds.
    #[must_use]
    pub fn attempt(mut self, time: Duration) -> Self {
        self.attempt = time;
        self
    }

    async fn send(&self, post: &Post) -> Result<PushResult, PushResult> {
        let url = CallbackUrl::parse(&post.url).map_err(|_| NoConnection::BadAddress)?;
        let target = Target::of(&url);
        let request = request(&url, post).ok_or(NoConnection::BadAddress)?;
        if let Some(mut waiting) = self.pool.take(&target) {
            // The receiver may have closed it meanwhile; what it did not answer is sent again, under the same delivery.
            if let Some(response) = answered(&mut waiting, request.clone()).await {
                return Ok(self.finish(target, waiting, response).await);
            }
        }
        let mut fresh = connection::open(&target, self.resolver.as_ref(), self.guard, self.tls.as_ref()).await?;
        match answered(&mut fresh, request).await {
            Some(response) => Ok(self.finish(target, fresh, response).await),
            None => Err(failed(PushOutcome::TransientFailure, "connection_lost")),
        }
    }

    /// Judges the status, and lets the connection wait for the next post if the rest comes to its end soon.
    async fn finish(
        &self,
        target: Target,
        sender: SendRequest<Full<Bytes>>,
        response: Response<Incoming>,
    ) -> PushResult {
        let status = response.status();
        if let Ok(true) = tokio::time::timeout(LISTENS, read_to_end(response)).await {
            self.pool.keep(target, sender);
        }
        PushResult { outcome: outcome(status), status: Some(status.as_u16()), error: None }
    }
}

#[async_trait]
impl CallbackTransport for WebhookTransport {
    async fn post(&self, post: &Post) -> PushResult {
        match tokio::time::timeout(self.attempt, self.send(post)).await {
            Ok(Ok(result) | Err(result)) => result,
            Err(_) => failed(PushOutcome::Timeout, "timeout"),
        }
    }
}

async fn answered(sender: &mut SendRequest<Full<Bytes>>, request: Request<Full<Bytes>>) -> Option<Response<Incoming>> {
    sender.ready().await.ok()?;
    sender.send_request(request).await.ok()
}

fn request(url: &CallbackUrl, post: &Post) -> Option<Request<Full<Bytes>>> {
    let mut request = Request::post(url.target()).body(Full::new(post.body.clone())).ok()?;
    let headers = request.headers_mut();
    headers.insert(HOST, HeaderValue::from_str(url.authority()).ok()?);
    headers.insert(USER_AGENT, HeaderValue::from_static(NAME));
    for (name, value) in &post.headers {
        headers
            .insert(hyper::header::HeaderName::from_bytes(name.as_bytes()).ok()?, HeaderValue::from_str(value).ok()?);
    }
    Some(request)
}

/// Throws the rest away; whether it came to its end, and is no more than a little.
async fn read_to_end(response: Response<Incoming>) -> bool {
    let mut body = response.into_body();
    let mut read: usize = 0;
    while let Some(frame) = body.frame().await {
        let Ok(frame) = frame else { return false };
        read = read.saturating_add(frame.data_ref().map_or(0, Bytes::len));
        if read > READS {
            return false;
        }
    }
    true
}

/// What a status comes to (rule H-7). A redirect is one of those that are not followed.
fn outcome(status: StatusCode) -> PushOutcome {
    if status.is_success() {
        PushOutcome::Accepted
    } else if status.is_server_error() || status == StatusCode::TOO_MANY_REQUESTS {
        PushOutcome::TransientFailure
    } else {
        PushOutcome::PermanentFailure
    }
}

fn failed(outcome: PushOutcome, error: &'static str) -> PushResult {
    PushResult { outcome, status: None, error: Some(error) }
}

impl std::fmt::Debug for WebhookTransport {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("WebhookTransport").field("guard", &self.guard).finish_non_exhaustive()
    }
}
