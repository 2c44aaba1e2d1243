//! The `Idempotency-Key` header (section 4).

use axum::{extract::FromRequestParts, http::request::Parts};
use handoff_protocol::decision::idempotency::IdempotencyKey;

use crate::{api::Api, refusal::Refusal};

const HEADER: &str = "Idempotency-Key";

/// The key of this call, if it has one.
pub(crate) struct SentKey(pub(crate) Option<IdempotencyKey>);

impl FromRequestParts<Api> for SentKey {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, _: &Api) -> Result<Self, Refusal> {
        let mut sent = parts.headers.get_all(HEADER).iter();
        let Some(value) = sent.next() else { return Ok(Self(None)) };
        if sent.next().is_some() {
            return Err(Refusal::invalid(HEADER, "must be sent once"));
        }
        let text = str::from_utf8(value.as_bytes()).map_err(|_| Refusal::invalid(HEADER, "must be UTF-8"))?;
        Ok(Self(Some(IdempotencyKey::parse(text)?)))
    }
}
