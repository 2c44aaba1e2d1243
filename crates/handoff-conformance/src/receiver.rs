//! The runner's own receiver of callbacks: a small HTTP server that remembers everything it was sent.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use axum::{
    Router,
    body::Body,
    extract::{Request, State},
    http::{HeaderName, HeaderValue, Response, StatusCode},
};
use jiff::Timestamp;
use serde_json::{Value, json};
use tokio::{net::TcpListener, sync::Notify};

use crate::profile;

/// More than any callback has.
const MOST: usize = 4 << 20;

/// A receiver that listens until the program ends.
#[derive(Clone, Debug)]
pub struct Receiver {
    url: String,
    inner: Arc<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    paths: Mutex<HashMap<String, Path>>,
    came: Notify,
}

#[derive(Debug, Default)]
struct Path {
    pushes: Vec<Push>,
    conduct: Conduct,
    answered: usize,
}

/// How a path answers.
#[derive(Clone, Debug, Default)]
pub struct Conduct {
    /// The statuses, the last one for all that follow; none is 200.
    pub statuses: Vec<u16>,
    /// Headers of the replies.
    pub headers: Vec<(String, String)>,
    /// How long a reply takes.
    pub delay: Duration,
}

/// What came.
#[derive(Clone, Debug)]
pub struct Push {
    /// The method.
    pub method: String,
    /// Each header; names in small letters.
    pub headers: Vec<(String, String)>,
    /// The body, to the byte.
    pub body: Vec<u8>,
    /// When.
    pub at: Timestamp,
}

impl Receiver {
    /// Listens where the profile says.
    ///
    /// # Errors
    ///
    /// It cannot listen there.
    pub async fn start(settings: &profile::Receiver) -> Result<Self, String> {
        let failed = |error: std::io::Error| format!("the receiver cannot listen on `{}`: {error}", settings.bind);
        let listener = TcpListener::bind(&settings.bind).await.map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let url = settings.url.clone().unwrap_or_else(|| format!("http://{address}"));
        let inner = Arc::new(Inner::default());
        let router = Router::new().fallback(receive).with_state(Arc::clone(&inner));
        tokio::spawn(async move {
            // It ends with the program; a connection that fails is the sender's to repeat.
            let _ = axum::serve(listener, router).await;
        });
        Ok(Self { url: url.trim_end_matches('/').to_owned(), inner })
    }

    /// The address, without a slash at its end.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Makes a path answer differently from now on.
    pub fn conduct(&self, path: &str, conduct: Conduct) {
        let mut paths = self.inner.paths();
        let path = paths.entry(path.to_owned()).or_default();
        path.conduct = conduct;
        path.answered = 0;
    }

    /// What came on a path so far, in the order of coming.
    #[must_use]
    pub fn pushes(&self, path: &str) -> Vec<Push> {
        self.inner.paths().get(path).map(|path| path.pushes.clone()).unwrap_or_default()
    }

    /// What came on every path that begins so.
    #[must_use]
    pub fn pushes_below(&self, prefix: &str) -> Vec<Push> {
        let paths = self.inner.paths();
        let below = paths.iter().filter(|(path, _)| path.starts_with(prefix));
        below.flat_map(|(_, path)| path.pushes.clone()).collect()
    }

    /// Waits until something comes on any path, or for a short while.
    pub async fn wait(&self) {
        // What comes between looking and waiting is found after the while.
        let _ = tokio::time::timeout(Duration::from_millis(50), self.inner.came.notified()).await;
    }
}

impl Inner {
    fn paths(&self) -> MutexGuard<'_, HashMap<String, Path>> {
        // Nothing can fail while it is held, and what is in it stays whole.
        self.paths.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Remembers what came, and says how to answer it.
    fn keep(&self, path: String, push: Push) -> (u16, Conduct) {
        let mut paths = self.paths();
        let path = paths.entry(path).or_default();
        path.pushes.push(push);
        let statuses = &path.conduct.statuses;
        let status = statuses.get(path.answered).or(statuses.last()).copied().unwrap_or(200);
        path.answered += 1;
        (status, path.conduct.clone())
    }
}

async fn receive(State(inner): State<Arc<Inner>>, request: Request) -> Response<Body> {
    let (head, body) = request.into_parts();
    let at = Timestamp::now();
    // A body that breaks off was not received.
    let Ok(body) = axum::body::to_bytes(body, MOST).await else { return reply(400, &[]) };
    let header = |(name, value): (&HeaderName, &HeaderValue)| {
        (name.as_str().to_owned(), String::from_utf8_lossy(value.as_bytes()).into_owned())
    };
    let push = Push {
        method: head.method.to_string(),
        headers: head.headers.iter().map(header).collect(),
        body: body.to_vec(),
        at,
    };
    let (status, conduct) = inner.keep(head.uri.path().to_owned(), push);
    inner.came.notify_waiters();
    tokio::time::sleep(conduct.delay).await;
    reply(status, &conduct.headers)
}

fn reply(status: u16, headers: &[(String, String)]) -> Response<Body> {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::from_u16(status).unwrap_or_default();
    for (name, value) in headers {
        if let (Ok(name), Ok(value)) = (HeaderName::try_from(name), HeaderValue::try_from(value)) {
            response.headers_mut().insert(name, value);
        }
    }
    response
}

impl Push {
    /// The value of a header.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut values = self.headers.iter().filter(|(known, _)| known.eq_ignore_ascii_case(name));
        match (values.next(), values.next()) {
            (Some((_, value)), None) => Some(value),
            _ => None,
        }
    }

    /// As matchers see it: `method`, `headers`, `raw`, `body` (null where it is no JSON), `canonical`, whether the bytes
    /// are the body's canonical form, and `at`.
    #[must_use]
    pub fn value(&self) -> Value {
        let raw = String::from_utf8_lossy(&self.body);
        let body = crate::json::read(&raw).unwrap_or(Value::Null);
        let canonical = crate::json::canonical(&body).is_ok_and(|bytes| bytes == self.body);
        let headers: serde_json::Map<_, _> =
            self.headers.iter().map(|(name, value)| (name.clone(), json!(value))).collect();
        json!({
            "method": self.method, "headers": headers, "raw": raw, "body": body, "canonical": canonical,
            "at": self.at.to_string(),
        })
    }

    /// Everything that came, as one text.
    #[must_use]
    pub fn whole(&self) -> String {
        let headers = self.headers.iter().map(|(name, value)| format!("{name}: {value}\n"));
        format!("{}\n{}", headers.collect::<String>(), String::from_utf8_lossy(&self.body))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::{After, Outgoing, client};

    async fn post(url: &str, body: &str) -> u16 {
        let mut outgoing = Outgoing::new("POST", url).unwrap();
        outgoing.header("X-Mark", "here").unwrap();
        outgoing.body = Some(body.as_bytes().to_vec());
        outgoing.send(&client(Duration::from_secs(5), After::Close).unwrap()).await.unwrap().status
    }

    #[tokio::test]
    async fn what_comes_is_kept_to_the_byte_and_answered_as_told() {
        let receiver = Receiver::start(&profile::Receiver::default()).await.unwrap();
        let url = format!("{}/case/cb", receiver.url());
        receiver.conduct("/case/cb", Conduct { statuses: vec![500, 201], ..Conduct::default() });
        assert_eq!(post(&url, "{ \"a\":1}").await, 500);
        assert_eq!(post(&url, "2").await, 201);
        assert_eq!(post(&url, "3").await, 201);
        assert_eq!(post(&format!("{}/other", receiver.url()), "").await, 200);
        let pushes = receiver.pushes("/case/cb");
        assert_eq!(pushes.len(), 3);
        assert_eq!(pushes[0].body, b"{ \"a\":1}");
        assert_eq!(pushes[0].header("x-mark"), Some("here"));
        assert_eq!(pushes[0].value()["body"], json!({"a": 1}));
        assert_eq!(pushes[0].value()["canonical"], json!(false));
        assert_eq!(pushes[1].value()["canonical"], json!(true));
        assert_eq!(receiver.pushes_below("/case").len(), 3);
        assert_eq!(receiver.pushes("/nothing").len(), 0);
    }
}
