//! Bodies: strict JSON, of bounded size, in bounded time (rule B-1, section 1.2).

use axum::{
    body::BodyDataStream,
    extract::{FromRequest, Request},
    http::header,
};
use bytes::{Bytes, BytesMut};
use futures::StreamExt as _;
use handoff_protocol::{
    decision::limits,
    json::{Json, Object, ReadLimits, read_within},
    secret::Secret,
};
use zeroize::Zeroize as _;

use crate::{api::Api, options::HttpOptions, refusal::Refusal};

/// How much of a body that is too large is still read and thrown away, so that a client that sends first and listens
/// afterwards gets to hear why it was refused.
const SWALLOWED: usize = 16 << 20;

/// A body that must be there.
pub(crate) struct SentBody(pub(crate) Json);

/// A body that may be left out; then it is `{}` (rule B-1).
pub(crate) struct SentOptionalBody(pub(crate) Json);

impl FromRequest<Api> for SentBody {
    type Rejection = Refusal;

    async fn from_request(request: Request, api: &Api) -> Result<Self, Refusal> {
        parse(&receive(request, &api.options).await?).map(Self)
    }
}

impl FromRequest<Api> for SentOptionalBody {
    type Rejection = Refusal;

    async fn from_request(request: Request, api: &Api) -> Result<Self, Refusal> {
        let bytes = receive(request, &api.options).await?;
        if bytes.is_empty() { Ok(Self(Json::Object(Object::new()))) } else { parse(&bytes).map(Self) }
    }
}

/// A body that nobody else may see: it is wiped when it is dropped, and so is what it was read from (rule K-S5).
pub(crate) struct SentSecretBody(pub(crate) Secret<Json>);

impl FromRequest<Api> for SentSecretBody {
    type Rejection = Refusal;

    async fn from_request(request: Request, api: &Api) -> Result<Self, Refusal> {
        let received = receive_with(request, &api.options, wipe).await?;
        let parsed = parse(&received).map(|body| Self(Secret::new(body)));
        wipe(received);
        parsed
    }
}

fn parse(bytes: &[u8]) -> Result<Json, Refusal> {
    let within = ReadLimits { depth: limits::BODY_DEPTH, values: limits::BODY_VALUES };
    read_within(bytes, within).map_err(|error| Refusal::invalid("", format!("must be one JSON document: {error}")))
}

/// Overwrites what was received, where nobody else refers to the same memory.
fn wipe(spent: Bytes) {
    if let Ok(mut bytes) = spent.try_into_mut() {
        bytes.as_mut().zeroize();
    }
}

async fn receive(request: Request, options: &HttpOptions) -> Result<Bytes, Refusal> {
    receive_with(request, options, drop).await
}

/// Receives a body; `spend` gets each piece once it is copied.
async fn receive_with(request: Request, options: &HttpOptions, spend: fn(Bytes)) -> Result<Bytes, Refusal> {
    let announced = request
        .headers()
        .get(header::CONTENT_LENGTH)
        .and_then(|value| value.to_str().ok())
        .and_then(|value| value.parse::<usize>().ok());
    let waits_for_leave = request.headers().contains_key(header::EXPECT);
    let mut stream = request.into_body().into_data_stream();
    if announced.is_some_and(|length| length > options.body_limit) {
        if !waits_for_leave {
            swallow(stream, options).await;
        }
        return Err(too_large(options));
    }
    let whole = tokio::time::timeout(options.body_timeout, collect(&mut stream, options.body_limit, announced, spend));
    match whole.await {
        Ok(Collected::Whole(bytes)) => Ok(bytes),
        Ok(Collected::TooLarge) => {
            swallow(stream, options).await;
            Err(too_large(options))
        }
        Ok(Collected::Broken) => Err(Refusal::invalid("", "broke off before its end")),
        Err(_) => {
            Err(Refusal::invalid("", format!("must arrive within {} seconds", options.body_timeout.as_secs_f64())))
        }
    }
}

enum Collected {
    Whole(Bytes),
    TooLarge,
    Broken,
}

async fn collect(stream: &mut BodyDataStream, limit: usize, announced: Option<usize>, spend: fn(Bytes)) -> Collected {
    // With room for all that was announced, nothing is left behind by growing.
    let mut whole = BytesMut::with_capacity(announced.unwrap_or_default().min(limit));
    while let Some(chunk) = stream.next().await {
        let Ok(chunk) = chunk else { return Collected::Broken };
        if whole.len().saturating_add(chunk.len()) > limit {
            return Collected::TooLarge;
        }
        whole.extend_from_slice(&chunk);
        spend(chunk);
    }
    Collected::Whole(whole.freeze())
}

async fn swallow(mut stream: BodyDataStream, options: &HttpOptions) {
    let swallowing = async {
        let mut left = SWALLOWED;
        while let Some(Ok(chunk)) = stream.next().await {
            let Some(less) = left.checked_sub(chunk.len()) else { return };
            left = less;
        }
    };
    // Out of time is fine: the refusal goes out all the same.
    let _ = tokio::time::timeout(options.body_timeout, swallowing).await;
}

fn too_large(options: &HttpOptions) -> Refusal {
    Refusal::invalid("", format!("must be at most {} bytes", options.body_limit))
}
