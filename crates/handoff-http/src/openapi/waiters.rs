//! `/v1/waiters`, `/v1/signals` and `/v1/authorizations`.

use handoff_protocol::{
    decision::{
        PushAttempts, Redelivery,
        view::{AckResult, AuthorizationView, ReattachResult, RedeemResult, SignalList},
        wire::{AckBody, RedeemBody},
    },
    json::{Json, Object},
    principal::Scope,
};

use super::{
    document::Document,
    operation::{Callers, Operation},
};

const WAITER: Callers = Callers::Holder(Scope::WaitersWait);

pub(super) fn add(document: &mut Document) {
    signals(document);
    authorizations(document);
}

fn signals(document: &mut Document) {
    let list = document.schemas.served::<SignalList>();
    let poll = Operation::get(
        "/v1/waiters/{waiter_ref}/signals",
        "pollWaiterSignals",
        "waiters",
        "Reads every signal that is not acknowledged, oldest first",
    )
    .description("Reading consumes nothing. With `wait`, the call is held until there is a signal.")
    .callers(WAITER)
    .shared("Wait")
    .query(
        "after",
        "Only signals behind this `sequence`: what brings the rest where `has_more` is true.",
        Json::object([("type", Json::from("integer")), ("minimum", Json::from(0)), ("default", Json::from(0))]),
    )
    .returns("200", "The signals.", list)
    .returns_nothing("204", "The wait ended without a signal.")
    .refuses(&["400", "404"]);
    document.add(poll);
    let (body, result) = (document.schemas.read::<Object>(), document.schemas.served::<ReattachResult>());
    let reattach = Operation::post(
        "/v1/waiters/{waiter_ref}/reattach",
        "reattachWaiter",
        "waiters",
        "Tells a program that comes back where it stands",
    )
    .callers(WAITER)
    .optional_body(body)
    .returns("200", "Where the waiter stands.", result)
    .refuses(&["400", "404"]);
    document.add(reattach);
    let (body, result) = (document.schemas.read::<Object>(), document.schemas.served::<ReattachResult>());
    let terminal = Operation::post(
        "/v1/waiters/{waiter_ref}/terminal",
        "endWaiter",
        "waiters",
        "Tells that the program which waits has ended",
    )
    .description(
        "What it waits for is kept, answerable still, or cancelled, as each request declared with \
         `on_waiter_terminal`. Repeating it is harmless; a program that comes back reattaches.",
    )
    .callers(WAITER)
    .optional_body(body)
    .returns("200", "Where the waiter stands.", result)
    .refuses(&["400", "404"]);
    document.add(terminal);
    let (body, result) = (document.schemas.read::<AckBody>(), document.schemas.served::<AckResult>());
    let ack = Operation::post("/v1/signals/{signal_id}/ack", "ackSignal", "waiters", "Takes a signal out of the queue")
        .description("After the work, never before. Repeating it is harmless.")
        .callers(WAITER)
        .body(body)
        .returns("200", "It is acknowledged.", result)
        .refuses(&["400", "404"]);
    document.add(ack);
    let attempts = document.schemas.served::<PushAttempts>();
    let attempts = Operation::get(
        "/v1/signals/{signal_id}/attempts",
        "listSignalAttempts",
        "waiters",
        "Lists the attempts to push a signal",
    )
    .description(
        "The last hundred, oldest first; none for a signal of a request without a callback. `push` says how the push stands: \
         its delivery, when the next attempt is due, and whether its endpoint fails or is disabled, so that signals rest. \
         Redelivering that delivery tries one at once; one that succeeds enables the endpoint.",
    )
    .callers(WAITER)
    .returns("200", "The attempts.", attempts)
    .refuses(&["404"]);
    document.add(attempts);
    let (body, result) = (document.schemas.read::<Object>(), document.schemas.served::<Redelivery>());
    let redeliver = Operation::post(
        "/v1/deliveries/{delivery_id}/redeliver",
        "redeliverDelivery",
        "deliveries",
        "Queues one more attempt of a delivery",
    )
    .description(
        "The push of a signal is a delivery: its id is the `Handoff-Delivery` of the push, and the \
         `push.delivery_id` of its attempts. One that succeeds enables an \
         endpoint that was disabled.",
    )
    .callers(Callers::Holder(Scope::RequestsRoute))
    .shared("IdempotencyKey")
    .optional_body(body)
    .returns("202", "It is queued.", result)
    .refuses(&["400", "404", "409"]);
    document.add(redeliver);
}

fn authorizations(document: &mut Document) {
    let authorization = document.schemas.served::<AuthorizationView>();
    let get = Operation::get(
        "/v1/authorizations/{authorization_id}",
        "getAuthorization",
        "authorizations",
        "Reads an authorization and what it is worth now",
    )
    .callers(Callers::Holder(Scope::RequestsRead))
    .returns("200", "The authorization.", authorization)
    .refuses(&["404"]);
    document.add(get);
    let (body, result) = (document.schemas.read::<RedeemBody>(), document.schemas.served::<RedeemResult>());
    let redeem = Operation::post(
        "/v1/authorizations/{authorization_id}/redeem",
        "redeemAuthorization",
        "authorizations",
        "Spends an authorization on one effect",
    )
    .description("Only where `first_redemption` is true may the effect happen.")
    .callers(Callers::Machine(Scope::AuthorizationsRedeem))
    .body(body)
    .returns("200", "It is redeemed for this effect.", result)
    .refuses(&["400", "404", "409"]);
    document.add(redeem);
}
