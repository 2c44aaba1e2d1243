//! The one table from error code to status (section 20).

use axum::http::StatusCode;
use handoff_protocol::decision::ErrorCode;

/// The status under which a code travels. Unknown paths and wrong methods carry `invalid_request` under 404 and 405;
/// the fallbacks make those two exceptions, and a store that cannot be reached makes the third: `internal_error` under 503.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_travels_under_a_status_of_its_own_family() {
        let under = |wanted: u16| {
            ErrorCode::ALL.into_iter().filter(|code| status(*code).as_u16() == wanted).map(ErrorCode::as_str).collect()
        };
        let table: [(u16, Vec<&str>); 10] =
            [400, 401, 403, 404, 409, 410, 422, 429, 500, 503].map(|status| (status, under(status)));
        let counts = table.each_ref().map(|(status, codes)| (*status, codes.len()));
        assert_eq!(
            counts,
            [(400, 4), (401, 2), (403, 6), (404, 5), (409, 12), (410, 1), (422, 1), (429, 1), (500, 1), (503, 1)]
        );
        assert_eq!(table.iter().map(|(_, codes)| codes.len()).sum::<usize>(), ErrorCode::ALL.len());
        for (status, codes) in table {
            match status {
                404 => assert!(codes.iter().all(|code| code.ends_with("_not_found")), "{codes:?}"),
                410 => assert_eq!(codes, ["capability_expired"]),
                422 => assert_eq!(codes, ["answer_validation_failed"]),
                429 => assert_eq!(codes, ["rate_limited"]),
                500 => assert_eq!(codes, ["internal_error"]),
                503 => assert_eq!(codes, ["delivery_unavailable"]),
                _ => {}
            }
        }
    }
}
