//! `/v1/deliveries`, and what asks for more of them.

use handoff_protocol::{
    decision::{
        Delivery,
        view::RequestView,
        wire::{EscalateBody, GradeBody, ReassignBody},
    },
    principal::Scope,
};

use super::{
    document::Document,
    operation::{Callers, Operation},
};

const TAG: &str = "deliveries";
const ROUTER: Scope = Scope::RequestsRoute;

pub(super) fn add(document: &mut Document) {
    route(document);
    let delivery = document.schemas.served::<Delivery>();
    let get = Operation::get("/v1/deliveries/{delivery_id}", "getDelivery", TAG, "Reads a delivery")
        .callers(Callers::Holder(Scope::RequestsRead))
        .returns("200", "The delivery, with what was tried.", delivery.clone())
        .refuses(&["404"]);
    document.add(get);
    let body = document.schemas.read::<GradeBody>();
    let grade = Operation::post(
        "/v1/deliveries/{delivery_id}/grade",
        "reportDeliveryGrade",
        TAG,
        "Reports how far a delivery got",
    )
    .description("A grade only rises, and never above what the delivery's channel can prove.")
    .callers(Callers::Holder(Scope::DeliveriesGrade))
    .shared("IdempotencyKey")
    .body(body)
    .returns("200", "The delivery.", delivery)
    .refuses(&["400", "404", "409"]);
    document.add(grade);
}

fn route(document: &mut Document) {
    let (body, request) = (document.schemas.read::<EscalateBody>(), document.schemas.served::<RequestView>());
    let escalate =
        Operation::post("/v1/requests/{request_id}/escalate", "escalateRequest", "requests", "Fires a rung now")
            .description("The next rung of the request's ladder, or the named one. The request stays pending.")
            .callers(Callers::Machine(ROUTER))
            .shared("IdempotencyKey")
            .optional_body(body)
            .returns("200", "The request, with more deliveries.", request.clone())
            .refuses(&["400", "404", "409"]);
    document.add(escalate);
    let body = document.schemas.read::<ReassignBody>();
    let reassign =
        Operation::post("/v1/requests/{request_id}/reassign", "reassignRequest", "requests", "Asks somebody else")
            .description("What was not sent yet is cancelled. Whom it is passed on to may answer from then on.")
            .callers(Callers::Holder(ROUTER))
            .shared("IdempotencyKey")
            .body(body)
            .returns("200", "The request, with deliveries for them.", request)
            .refuses(&["400", "404", "409"]);
    document.add(reassign);
}
