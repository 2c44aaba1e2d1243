//! Redeliver (V-12): one more attempt on the same delivery.

use super::{
    context::Context, effects::Effects, error::DecisionError, outreach::Again, owner::check_test_key, request::Request,
};
use crate::{id::DeliveryId, principal::Principal};

/// Queues one more attempt on a delivery, beside those that it makes of its own accord. While one is on its way, the other
/// follows when that one ended; what waits for its first attempt gets that one; what lists the request is listed already,
/// and nothing follows.
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
    let was_tried = !delivery.attempts.is_empty();
    if was_tried && !is_listed && !request.outreach.is_asked_again(id) {
        next.outreach.again.push(Again { delivery: id, at: context.now });
    }
    Ok(Effects::of(next))
}
