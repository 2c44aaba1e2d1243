//! Who owns a request: whoever raised it, or raised under the same waiter (section 9).

use super::{
    error::{DecisionError, MissingScope},
    request::Request,
    waiter::Waiter,
};
use crate::principal::Principal;

/// Checks that a test key touches nothing but what was raised to try things out (section 3).
///
/// # Errors
///
/// [`DecisionError::InsufficientScope`].
pub(super) fn check_test_key(principal: &Principal, is_test: bool) -> Result<(), DecisionError> {
    if principal.test && !is_test {
        return Err(DecisionError::InsufficientScope(MissingScope::TestMode));
    }
    Ok(())
}

/// Checks that the principal owns the request.
pub(super) fn check_owner(request: &Request, principal: &Principal, waiter: &Waiter) -> Result<(), DecisionError> {
    check_test_key(principal, request.test_mode)?;
    #[cfg(feature = "planted-faults")]
    if crate::planted::Fault::AnyoneCancels.is_planted() {
        return Ok(());
    }
    let owns = principal.id().is_some_and(|id| request.raised_by == id || waiter.is_owned_by(id));
    if owns { Ok(()) } else { Err(DecisionError::InsufficientScope(MissingScope::OwnerOnly(request.id))) }
}
