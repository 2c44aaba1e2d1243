//! The one table from error code to status (section 20).

use axum::http::StatusCode;
use handoff_protocol::decision::ErrorCode;

/// The status under which a code travels. Unknown paths and wrong methods carry `invalid_request` under 404 and 405;
/// those two are the only exceptions, and the fallbacks make them.
pub(crate) const fn status(code: ErrorCode) -> StatusCode {
    match code {
        ErrorCode::InvalidRequest
        | ErrorCode::UnsupportedFieldType
        | ErrorCode::UnsupportedCapabilityType
        | ErrorCode::UnsupportedRequiresVersion => StatusCode::BAD_REQUEST,
        ErrorCode::InvalidApiKey | ErrorCode::AuthenticationRequired => StatusCode::UNAUTHORIZED,
        ErrorCode::InsufficientScope
        | ErrorCode::ProductNotEntitled
        | ErrorCode::InsufficientAuthority
        | ErrorCode::RequesterMayNotAnswer
        | ErrorCode::TenantMismatch
        | ErrorCode::AuthStrengthNotPermitted => StatusCode::FORBIDDEN,
        ErrorCode::RequestNotFound
        | ErrorCode::CapabilityNotFound
        | ErrorCode::WaiterNotFound
        | ErrorCode::SignalNotFound
        | ErrorCode::AuthorizationNotFound => StatusCode::NOT_FOUND,
        ErrorCode::AlreadyAnswered
        | ErrorCode::RequestExpired
        | ErrorCode::RequestCancelled
        | ErrorCode::RequestSuperseded
        | ErrorCode::RequestInProgress
        | ErrorCode::IdempotencyKeyReused
        | ErrorCode::AuthorizationSpent
        | ErrorCode::AuthorizationExpired
        | ErrorCode::EffectDigestMismatch
        | ErrorCode::BlastRadiusMismatch
        | ErrorCode::GrantAlreadyHeld
        | ErrorCode::PresentationStale => StatusCode::CONFLICT,
        ErrorCode::CapabilityExpired => StatusCode::GONE,
        ErrorCode::AnswerValidationFailed => StatusCode::UNPROCESSABLE_ENTITY,
        ErrorCode::RateLimited => StatusCode::TOO_MANY_REQUESTS,
        ErrorCode::DeliveryUnavailable => StatusCode::SERVICE_UNAVAILABLE,
        ErrorCode::InternalError => StatusCode::INTERNAL_SERVER_ERROR,
    }
}
