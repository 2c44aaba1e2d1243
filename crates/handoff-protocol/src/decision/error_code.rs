//! The codes of section 20, every one of the contract's and `internal_error`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The code of a refusal, as it travels.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, JsonSchema, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "each is the contract's own name; section 20 says what it means")]
pub enum ErrorCode {
    InvalidRequest,
    UnsupportedFieldType,
    UnsupportedCapabilityType,
    UnsupportedRequiresVersion,
    InvalidApiKey,
    AuthenticationRequired,
    InsufficientScope,
    ProductNotEntitled,
    InsufficientAuthority,
    RequesterMayNotAnswer,
    TenantMismatch,
    AuthStrengthNotPermitted,
    RequestNotFound,
    CapabilityNotFound,
    WaiterNotFound,
    SignalNotFound,
    AuthorizationNotFound,
    AlreadyAnswered,
    RequestExpired,
    RequestCancelled,
    RequestSuperseded,
    RequestInProgress,
    IdempotencyKeyReused,
    AuthorizationSpent,
    AuthorizationExpired,
    EffectDigestMismatch,
    BlastRadiusMismatch,
    GrantAlreadyHeld,
    PresentationStale,
    CapabilityExpired,
    AnswerValidationFailed,
    RateLimited,
    DeliveryUnavailable,
    InternalError,
}

impl ErrorCode {
    /// Every code, in the order of section 20's table.
    pub const ALL: [Self; 34] = [
        Self::InvalidRequest,
        Self::UnsupportedFieldType,
        Self::UnsupportedCapabilityType,
        Self::UnsupportedRequiresVersion,
        Self::InvalidApiKey,
        Self::AuthenticationRequired,
        Self::InsufficientScope,
        Self::ProductNotEntitled,
        Self::InsufficientAuthority,
        Self::RequesterMayNotAnswer,
        Self::TenantMismatch,
        Self::AuthStrengthNotPermitted,
        Self::RequestNotFound,
        Self::CapabilityNotFound,
        Self::WaiterNotFound,
        Self::SignalNotFound,
        Self::AuthorizationNotFound,
        Self::AlreadyAnswered,
        Self::RequestExpired,
        Self::RequestCancelled,
        Self::RequestSuperseded,
        Self::RequestInProgress,
        Self::IdempotencyKeyReused,
        Self::AuthorizationSpent,
        Self::AuthorizationExpired,
        Self::EffectDigestMismatch,
        Self::BlastRadiusMismatch,
        Self::GrantAlreadyHeld,
        Self::PresentationStale,
        Self::CapabilityExpired,
        Self::AnswerValidationFailed,
        Self::RateLimited,
        Self::DeliveryUnavailable,
        Self::InternalError,
    ];

    /// The wire name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::InvalidRequest => "invalid_request",
            Self::UnsupportedFieldType => "unsupported_field_type",
            Self::UnsupportedCapabilityType => "unsupported_capability_type",
            Self::UnsupportedRequiresVersion => "unsupported_requires_version",
            Self::InvalidApiKey => "invalid_api_key",
            Self::AuthenticationRequired => "authentication_required",
            Self::InsufficientScope => "insufficient_scope",
            Self::ProductNotEntitled => "product_not_entitled",
            Self::InsufficientAuthority => "insufficient_authority",
            Self::RequesterMayNotAnswer => "requester_may_not_answer",
            Self::TenantMismatch => "tenant_mismatch",
            Self::AuthStrengthNotPermitted => "auth_strength_not_permitted",
            Self::RequestNotFound => "request_not_found",
            Self::CapabilityNotFound => "capability_not_found",
            Self::WaiterNotFound => "waiter_not_found",
            Self::SignalNotFound => "signal_not_found",
            Self::AuthorizationNotFound => "authorization_not_found",
            Self::AlreadyAnswered => "already_answered",
            Self::RequestExpired => "request_expired",
            Self::RequestCancelled => "request_cancelled",
            Self::RequestSuperseded => "request_superseded",
            Self::RequestInProgress => "request_in_progress",
            Self::IdempotencyKeyReused => "idempotency_key_reused",
            Self::AuthorizationSpent => "authorization_spent",
            Self::AuthorizationExpired => "authorization_expired",
            Self::EffectDigestMismatch => "effect_digest_mismatch",
            Self::BlastRadiusMismatch => "blast_radius_mismatch",
            Self::GrantAlreadyHeld => "grant_already_held",
            Self::PresentationStale => "presentation_stale",
            Self::CapabilityExpired => "capability_expired",
            Self::AnswerValidationFailed => "answer_validation_failed",
            Self::RateLimited => "rate_limited",
            Self::DeliveryUnavailable => "delivery_unavailable",
            Self::InternalError => "internal_error",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_names_every_code_once_by_its_wire_name() {
        let schema = serde_json::to_value(schemars::schema_for!(ErrorCode)).unwrap();
        let known: Vec<&str> = schema["enum"].as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect();
        assert_eq!(known, ErrorCode::ALL.map(ErrorCode::as_str));
    }
}
