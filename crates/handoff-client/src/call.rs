//! How a call travels: its headers, its tries, its limits.

use std::{error::Error as _, time::Duration};

use handoff_protocol::{
    json::{Json, from_json, read},
    secret::Secret,
};
use reqwest::{
    Method, Response, StatusCode,
    header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderName, HeaderValue, RETRY_AFTER},
};
use serde::de::DeserializeOwned;

use crate::{
    client::Client,
    error::{ClientError, Refusal},
    key::CallKey,
};

/// The most that a response may hold, exports aside: what a server sends is not trusted to end.
const MAX_BODY: usize = 64 * 1024 * 1024;

/// One call.
#[derive(Debug)]
pub(crate) struct Call<'a> {
    method: Method,
    path: String,
    /// Redacted, since it may hold what nobody should print.
    body: Option<Secret<String>>,
    key: Option<&'a CallKey>,
    /// How long the server may hold the call.
    window: Duration,
    limit: usize,
}

/// What came back.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: StatusCode,
    pub(crate) body: Vec<u8>,
}

impl<'a> Call<'a> {
    pub(crate) fn get(path: String) -> Self {
        Self { method: Method::GET, path, body: None, key: None, window: Duration::ZERO, limit: MAX_BODY }
    }

    pub(crate) fn post(path: String, body: &Json) -> Self {
        Self { method: Method::POST, body: Some(Secret::new(body.to_text())), ..Self::get(path) }
    }

    pub(crate) fn delete(path: String, body: Option<&Json>) -> Self {
        let body = body.map(|body| Secret::new(body.to_text()));
        Self { method: Method::DELETE, body, ..Self::get(path) }
    }

    pub(crate) fn under(mut self, key: &'a CallKey) -> Self {
        self.key = Some(key);
        self
    }

    pub(crate) fn held(mut self, seconds: u64) -> Self {
        self.window = Duration::from_secs(seconds);
        self
    }

    pub(crate) fn of_any_size(mut self) -> Self {
        self.limit = usize::MAX;
        self
    }
}

/// A try that brought no whole response.
#[derive(Debug)]
enum Lost {
    /// Worth another try.
    Transport(String),
    Final(ClientError),
}

impl Client {
    /// Makes a call and reads its success as a value.
    pub(crate) async fn call<T: DeserializeOwned>(&self, call: Call<'_>) -> Result<T, ClientError> {
        self.send(call).await?.read()
    }

    /// Makes a call; whatever is no success is an error. Tried again, under the same key, only when no response comes.
    pub(crate) async fn send(&self, call: Call<'_>) -> Result<Reply, ClientError> {
        let mut failed = 0;
        loop {
            match self.whole(&call).await {
                Ok(reply) => return Ok(reply),
                Err(lost) => self.pause_after(lost, &mut failed).await?,
            }
        }
    }

    /// Makes a call whose success is read as it comes. Once it has begun it is not tried again.
    pub(crate) async fn open(&self, call: Call<'_>) -> Result<Pieces, ClientError> {
        let mut failed = 0;
        loop {
            match self.attempt(&call).await {
                Ok(response) => return Ok(Pieces(response)),
                Err(lost) => self.pause_after(lost, &mut failed).await?,
            }
        }
    }

    /// Waits before another try, unless there is none.
    async fn pause_after(&self, lost: Lost, failed: &mut u32) -> Result<(), ClientError> {
        match lost {
            Lost::Final(error) => return Err(error),
            Lost::Transport(problem) if *failed + 1 >= self.transport.tries => {
                return Err(ClientError::Transport(problem));
            }
            Lost::Transport(_) => tokio::time::sleep(pause(self.transport.backoff, *failed)).await,
        }
        *failed += 1;
        Ok(())
    }

    /// Calls once and reads the body of a success whole.
    async fn whole(&self, call: &Call<'_>) -> Result<Reply, Lost> {
        let response = self.attempt(call).await?;
        let status = response.status();
        Ok(Reply { status, body: read_body(response, call.limit).await? })
    }

    /// Calls once; gives the response of a success, its body unread.
    async fn attempt(&self, call: &Call<'_>) -> Result<Response, Lost> {
        let address = format!("{}{}", self.transport.address, call.path);
        let mut request = self
            .transport
            .http
            .request(call.method.clone(), address)
            .timeout(self.transport.timeout.saturating_add(call.window))
            .header(ACCEPT, HeaderValue::from_static("application/json"));
        if let Some(key) = &self.api_key {
            let mut bearer = HeaderValue::from_str(&format!("Bearer {}", key.expose())).map_err(|_| {
                Lost::Final(ClientError::Configuration("the key holds characters that no header can carry".to_owned()))
            })?;
            bearer.set_sensitive(true);
            request = request.header(AUTHORIZATION, bearer);
        }
        if let Some(key) = call.key {
            let value = HeaderValue::from_bytes(key.as_str().as_bytes()).map_err(|_| {
                Lost::Final(ClientError::Configuration("the idempotency key cannot travel in a header".to_owned()))
            })?;
            request = request.header(HeaderName::from_static("idempotency-key"), value);
        }
        if let Some(body) = &call.body {
            request =
                request.header(CONTENT_TYPE, HeaderValue::from_static("application/json")).body(body.expose().clone());
        }
        let response = request.send().await.map_err(|error| lost(&error))?;
        let (status, retry_after) = (response.status(), retry_after(&response));
        if status.is_success() {
            return Ok(response);
        }
        let body = read_body(response, MAX_BODY).await?;
        let refusal = read(&body).ok().and_then(|json| Refusal::read(status.as_u16(), &json, retry_after));
        Err(Lost::Final(match refusal {
            Some(refusal) => ClientError::Refused(Box::new(refusal)),
            None => ClientError::Malformed {
                status: status.as_u16(),
                problem: "an error without the protocol's envelope; is this the address of a Handoff server?"
                    .to_owned(),
            },
        }))
    }
}

/// A body that is read as it comes.
#[derive(Debug)]
pub struct Pieces(Response);

impl Pieces {
    /// The next piece; nothing behind the last.
    ///
    /// # Errors
    ///
    /// [`ClientError::Transport`] if the connection ends before the body does: what came until then is not all of it.
    pub async fn next(&mut self) -> Result<Option<Vec<u8>>, ClientError> {
        match self.0.chunk().await {
            Ok(piece) => Ok(piece.map(Vec::from)),
            Err(error) => Err(match lost(&error) {
                Lost::Transport(problem) => ClientError::Transport(problem),
                Lost::Final(error) => error,
            }),
        }
    }
}

impl Reply {
    /// Reads the body as a value.
    pub(crate) fn read<T: DeserializeOwned>(self) -> Result<T, ClientError> {
        let malformed = |problem: String| ClientError::Malformed { status: self.status.as_u16(), problem };
        let json = read(&self.body).map_err(|error| malformed(error.to_string()))?;
        from_json(json).map_err(|error| malformed(error.to_string()))
    }

    /// The body as text.
    pub(crate) fn text(self) -> Result<String, ClientError> {
        let status = self.status.as_u16();
        String::from_utf8(self.body)
            .map_err(|_| ClientError::Malformed { status, problem: "the body is not UTF-8".to_owned() })
    }
}

async fn read_body(mut response: Response, limit: usize) -> Result<Vec<u8>, Lost> {
    let status = response.status().as_u16();
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(|error| lost(&error))? {
        if body.len().saturating_add(chunk.len()) > limit {
            let problem = "the body is larger than any that the protocol knows".to_owned();
            return Err(Lost::Final(ClientError::Malformed { status, problem }));
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}

/// The innermost cause says most: the outer ones repeat the address.
fn lost(error: &reqwest::Error) -> Lost {
    if error.is_builder() {
        return Lost::Final(ClientError::Configuration("the address cannot be used for a call".to_owned()));
    }
    if error.is_timeout() {
        return Lost::Transport("it did not answer in time".to_owned());
    }
    let mut cause = error.source();
    while let Some(inner) = cause.and_then(|cause| cause.source()) {
        cause = Some(inner);
    }
    Lost::Transport(cause.map_or_else(|| "the connection failed".to_owned(), ToString::to_string))
}

fn retry_after(response: &Response) -> Option<Duration> {
    let seconds = response.headers().get(RETRY_AFTER)?.to_str().ok()?.trim().parse().ok()?;
    Some(Duration::from_secs(seconds))
}

/// The pause after so many failures: 2 to the n units, 8 at the most, times a random half to one.
fn pause(unit: Duration, failed: u32) -> Duration {
    let whole = unit.saturating_mul(1 << failed.min(3));
    let mut random = [0; 1];
    // Without entropy the pause is merely the shortest.
    let _ = getrandom::fill(&mut random);
    let [random] = random;
    whole / 2 + whole.saturating_mul(u32::from(random)) / 512
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_to_eight_units_and_vary_by_half() {
        for (failed, units) in [(0, 1), (1, 2), (2, 4), (3, 8), (4, 8), (40, 8)] {
            let whole = Duration::from_secs(units);
            let pauses: Vec<_> = (0..50).map(|_| pause(Duration::from_secs(1), failed)).collect();
            assert!(pauses.iter().all(|pause| *pause >= whole / 2 && *pause <= whole), "{failed}");
            assert!(pauses.iter().any(|pause| Some(pause) != pauses.first()), "{failed}");
        }
    }
}
