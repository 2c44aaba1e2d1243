//! Reaching somebody about a request: the one place that makes deliveries (section 12).

use super::{context::Context, delivery::Delivery, request::Request, target::Target};
use crate::id::{DeliveryId, RequestId};

/// Makes the delivery of a target at the request's current rung, and gives its id. One that is there already and could
/// still carry an answer is enough.
pub(super) fn reach(request: &mut Request, target: &Target, context: &mut Context<'_>) -> DeliveryId {
    let there =
        request.deliveries.iter().rfind(|delivery| delivery.target == *target && delivery.could_carry_an_answer());
    if let Some(delivery) = there {
        return delivery.id;
    }
    let rung = request.deliveries.iter().map(|delivery| delivery.rung).max().unwrap_or_default();
    let made = Delivery { rung, ..delivery(request.id, target, request.test_mode, context) };
    let id = made.id;
    request.deliveries.push(made);
    id
}

/// A delivery of a request to a target: through the in-app page, or to nobody where the request only tries things out
/// (section 3).
pub(super) fn delivery(request: RequestId, target: &Target, test_mode: bool, context: &mut Context<'_>) -> Delivery {
    let make = if test_mode { Delivery::sandbox } else { Delivery::in_app };
    make(context.mint.next(), request, target.clone(), context.now)
}
