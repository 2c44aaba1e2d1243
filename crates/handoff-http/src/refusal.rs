//! How a refusal is written: the one envelope of section 20, always.

use axum::{
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use handoff_engine::{IdentityError, store::StoreError};
use handoff_protocol::{
    decision::{DecisionError, ErrorCode, ErrorEnvelope},
    id::RequestId,
    json::{DecodeError, to_text},
};

use crate::{limits::UsedUp, reply, status::status};

/// How many seconds to wait for what is not there now: the shortest that the header can say.
const SOON: &str = "1";

/// A refusal on its way out.
#[derive(Debug)]
pub(crate) struct Refusal {
    status: StatusCode,
    // Boxed, so that a result that is fine stays small.
    envelope: Box<ErrorEnvelope>,
}

impl Refusal {
    /// The caller sent something that it must mend: where, and how.
    pub(crate) fn invalid(place: &str, mend: impl Into<String>) -> Self {
        DecisionError::invalid(place, mend).into()
    }

    /// There is nothing at this path.
    pub(crate) fn no_such_endpoint() -> Self {
        Self::plain(StatusCode::NOT_FOUND, ErrorCode::InvalidRequest, "there is no such endpoint")
    }

    /// There is something at this path, but not for this method; the `Allow` header says for which.
    pub(crate) fn wrong_method() -> Self {
        Self::plain(
            StatusCode::METHOD_NOT_ALLOWED,
            ErrorCode::InvalidRequest,
            "this endpoint does not take this method; the header `Allow` lists those it takes",
        )
    }

    /// Names the request that it is about, where it names none yet.
    pub(crate) fn about(mut self, request: RequestId) -> Self {
        self.envelope.error.request_id.get_or_insert(request);
        self
    }

    /// Whether it says that there is no such thing, or that something failed on our side: then it is about nothing known.
    pub(crate) fn is_about_nothing(&self) -> bool {
        self.envelope.error.request_id.is_some()
            || self.status == StatusCode::NOT_FOUND
            || self.status == StatusCode::UNAUTHORIZED
            || self.status.is_server_error()
    }

    /// Something failed on our side; whoever noticed it has logged it.
    pub(crate) fn internal() -> Self {
        DecisionError::Internal.into()
    }

    pub(crate) fn plain(status: StatusCode, code: ErrorCode, message: &str) -> Self {
        Self { status, envelope: Box::new(ErrorEnvelope::plain(code, message)) }
    }
}

impl From<DecisionError> for Refusal {
    fn from(error: DecisionError) -> Self {
        Self { status: status(error.code()), envelope: Box::new(ErrorEnvelope::from(&error)) }
    }
}

impl From<UsedUp> for Refusal {
    fn from(_: UsedUp) -> Self {
        Self::plain(
            status(ErrorCode::RateLimited),
            ErrorCode::RateLimited,
            "this credential has no calls left in this minute; the header `Retry-After` says when to come back",
        )
    }
}

impl From<DecodeError> for Refusal {
    fn from(error: DecodeError) -> Self {
        DecisionError::from(error).into()
    }
}

impl From<IdentityError> for Refusal {
    fn from(error: IdentityError) -> Self {
        if let IdentityError::Store(StoreError::Unavailable(_)) = &error {
            // The store says so itself, once and not for every call.
            tracing::debug!(%error, "an identity operation found no store");
            return DecisionError::StoreUnavailable.into();
        }
        tracing::error!(%error, "an identity operation failed");
        Self::internal()
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        // An envelope is texts and ids alone, so it always has a JSON form; this is what remains if it had none.
        const BARE: &str = r#"{"error":{"code":"internal_error","message":"something failed on our side"}}"#;
        #[cfg(feature = "planted-faults")]
        if self.status == StatusCode::NOT_FOUND
            && handoff_protocol::planted::Fault::NotFoundWithoutEnvelope.is_planted()
        {
            return (self.status, "not found").into_response();
        }
        let mut response = match to_text(&*self.envelope) {
            Ok(json) => reply::text(self.status, json),
            Err(_) => reply::text(StatusCode::INTERNAL_SERVER_ERROR, BARE.to_owned()),
        };
        if self.status == StatusCode::SERVICE_UNAVAILABLE {
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static(SOON));
        }
        if self.status == StatusCode::UNAUTHORIZED {
            response.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response
    }
}
