//! Reaching somebody whom a request was passed on to (section 12).

use super::{
    channels, context::Context, delivery::Delivery, error::DecisionError, ladder, request::Request, target::Target,
    terms::DeliveryState,
};
use crate::id::DeliveryId;

/// Makes deliveries for a target at the request's current rung, one for each of its channels, and gives the id of the
/// first. One that is there already and could still carry an answer is enough.
///
/// # Errors
///
/// [`DecisionError::InvalidRequest`] naming the member that names the target, if there is no room for them.
pub(super) fn reach(
    request: &mut Request,
    target: &Target,
    member: &str,
    context: &mut Context<'_>,
) -> Result<Option<DeliveryId>, DecisionError> {
    let there =
        request.deliveries.iter().rfind(|delivery| delivery.target == *target && delivery.could_carry_an_answer());
    if let Some(delivery) = there {
        return Ok(Some(delivery.id));
    }
    request.check_room(request.rows_for_one_target(), member)?;
    let made_after = request.deliveries.last().map(|delivery| delivery.id);
    ladder::mint_for(request, target, context);
    let fresh = |delivery: &&Delivery| Some(delivery.id) > made_after;
    Ok(request.deliveries.iter().find(fresh).map(|delivery| delivery.id))
}

/// Cancels what did not set out yet: whoever it was for is not asked any more. What is on its way is not called back.
pub(super) fn call_off(request: &mut Request, context: &Context<'_>) -> Vec<(DeliveryId, DeliveryState)> {
    let mut called_off = Vec::new();
    for delivery in &mut request.deliveries {
        // What lists the request is out already, noted or not.
        let waits = matches!(delivery.state, DeliveryState::Queued | DeliveryState::Retrying)
            && !channels::is_listing(&delivery.channel);
        if waits && delivery.in_flight().is_none() {
            called_off.push((delivery.id, delivery.state));
            delivery.close(context.now);
        }
    }
    for (id, _) in &called_off {
        request.outreach.forget(*id);
    }
    called_off
}
