//! Redeliver (V-12): one more attempt on the same delivery.

use super::{
    context::Context, effects::Effects, error::DecisionError, outreach::Again, owner::check_test_key, request::Request,
};
use crate::{id::DeliveryId, principal::Principal};

/// Queues one more attempt on a delivery. One that waits to be sent anyway is sent now instead of later; what lists the
/// request is listed already, and nothing follows.
///
/// # Errors
///
/// [`DecisionError::InsufficientScope`] for a test key on what is no test; the settled conflict of a request that ended; [`DecisionError::RequestNotFound`] for a delivery that is not there or
/// that nothing can follow.
pub fn redeliver(
    request: &Request,
    id: DeliveryId,
    principal: &Principal,
    context: &Context<'_>,
) -> Result<Effects, DecisionError> {
    let delivery = request.delivery(id).ok_or(DecisionError::RequestNotFound)?;
    check_test_key(principal, request.test_mode)?;
    request.check_pending()?;
    if delivery.state.is_final() {
        return Err(DecisionError::RequestNotFound);
    }
    let mut next = request.clone();
    let is_listed = context
        .policy
        .channels
        .get(&delivery.channel)
        .is_some_and(|facts| facts.addressing == super::channels::Addressing::Listing);
    let is_asked_for = request.outreach.again.iter().any(|again| again.delivery == id);
    let was_claimed = !delivery.attempts.is_empty();
    if was_claimed && !is_listed && !is_asked_for && delivery.in_flight().is_none() {
        next.outreach.again.push(Again { delivery: id, at: context.now });
    }
    Ok(Effects::of(next))
}
