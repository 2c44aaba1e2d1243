//! What a path names.

use std::str::FromStr;

use axum::{
    extract::{FromRequestParts, RawPathParams},
    http::request::Parts,
};
use handoff_protocol::{
    decision::WaiterRef,
    id::{GrantHandle, Id, SecretId, SessionRef, Ulid},
};

use crate::{api::Api, refusal::Refusal};

/// The one id in the path.
///
/// A text that is no id of its kind is unknown, not wrong (rule B-3). The number that is never minted stands for it, so
/// that it goes the way of an unknown id in every respect: the same checks in the same order, the same bytes.
pub(crate) struct Named<I>(pub(crate) I);

/// The one waiter reference in the path, decoded as one segment (rule X-12); none if it can be nobody's.
pub(crate) struct NamedWaiter(pub(crate) Option<WaiterRef>);

/// The grant in the path; what is no handle is unknown, as with ids.
pub(crate) struct NamedGrant(pub(crate) GrantHandle);

/// The grant and the session in the path.
pub(crate) struct NamedSession(pub(crate) GrantHandle, pub(crate) SessionRef);

/// The name of a place for values, decoded as one segment; an empty one if that is not UTF-8, which is nobody's.
pub(crate) struct NamedSink(pub(crate) String);

impl<I: Id + FromStr + Send> FromRequestParts<Api> for Named<I> {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, api: &Api) -> Result<Self, Refusal> {
        let named = segment(parts, api).await.and_then(|text| text.parse().ok());
        #[cfg(feature = "planted-faults")]
        if named.is_none() && handoff_protocol::planted::Fault::MalformedIdIsInvalid.is_planted() {
            return Err(Refusal::invalid("id", "is not one"));
        }
        Ok(Self(named.unwrap_or_else(|| I::from_ulid(Ulid::MIN))))
    }
}

impl FromRequestParts<Api> for NamedWaiter {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, api: &Api) -> Result<Self, Refusal> {
        Ok(Self(segment(parts, api).await.and_then(|text| WaiterRef::parse(&text).ok())))
    }
}

impl FromRequestParts<Api> for NamedGrant {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, api: &Api) -> Result<Self, Refusal> {
        Ok(Self(secret(segment(parts, api).await.as_deref())))
    }
}

impl FromRequestParts<Api> for NamedSession {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, api: &Api) -> Result<Self, Refusal> {
        let params = RawPathParams::from_request_parts(parts, api).await.ok();
        let mut texts = params.iter().flatten().map(|(_, text)| text);
        Ok(Self(secret(texts.next()), secret(texts.next())))
    }
}

impl FromRequestParts<Api> for NamedSink {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, api: &Api) -> Result<Self, Refusal> {
        Ok(Self(segment(parts, api).await.unwrap_or_default()))
    }
}

/// A name that is drawn at random, or the one that never is.
fn secret<S: SecretId + FromStr>(text: Option<&str>) -> S {
    text.and_then(|text| text.parse().ok()).unwrap_or_else(|| S::from_ulid(Ulid::MIN))
}

/// The segment that the route names, decoded; none if that is not UTF-8.
async fn segment(parts: &mut Parts, api: &Api) -> Option<String> {
    let params = RawPathParams::from_request_parts(parts, api).await.ok()?;
    params.iter().next().map(|(_, text)| text.to_owned())
}
