//! `/v1/requests`.

use handoff_protocol::{
    decision::{
        terms::RequestState,
        view::{AnswerResult, Listing, ReceiptView, RequestView},
        wire::{AmendBody, AnswerBody, AttemptBody, CancelBody, RaiseBody, SupersedeBody},
    },
    id::PrincipalId,
    principal::Scope,
};

use super::{
    document::Document,
    object,
    operation::{Callers, Operation},
};
use crate::routes::Deliveries;

const TAG: &str = "requests";
const READER: Callers = Callers::Holder(Scope::RequestsRead);
const ASKER: Callers = Callers::Machine(Scope::RequestsWrite);

pub(super) fn add(document: &mut Document) {
    raise_and_list(document);
    read(document);
    settle(document);
    mend(document);
}

fn raise_and_list(document: &mut Document) {
    let (body, request) = (document.schemas.read::<RaiseBody>(), document.schemas.served::<RequestView>());
    let raise = Operation::post("/v1/requests", "raiseRequest", TAG, "Raises a request")
        .description(
            "The same call again under the same `Idempotency-Key`, and the same question while it is pending, find the \
             request that is there.",
        )
        .callers(ASKER)
        .shared("IdempotencyKey")
        .body(body)
        .returns("201", "The request, raised by this call.", request.clone())
        .returns("200", "The request that was there, as it stands now.", request)
        .refuses(&["400", "409", "503"]);
    document.add(raise);
    let page = document.schemas.served::<Listing<RequestView>>();
    let state = document.schemas.read::<RequestState>();
    let assignee = document.schemas.read::<PrincipalId>();
    let text = || object([("type", "string".into())]);
    let list = Operation::get("/v1/requests", "listRequests", TAG, "Lists requests, oldest first")
        .callers(READER)
        .query(
            "state",
            "Only these states; may be given more than once.",
            object([("type", "array".into()), ("items", state)]),
        )
        .query("waiter_ref", "Only this waiter's.", object([("type", "string".into()), ("maxLength", 512.into())]))
        .query("assignee", "Only those with a delivery for this principal.", assignee)
        .query("channel", "Only those with a delivery through this channel.", text())
        .shared("CreatedAfter")
        .shared("CreatedBefore")
        .shared("Limit")
        .shared("Cursor")
        .returns("200", "A page of requests.", page)
        .refuses(&["400"]);
    document.add(list);
}

fn read(document: &mut Document) {
    let request = document.schemas.served::<RequestView>();
    let get = Operation::get("/v1/requests/{request_id}", "getRequest", TAG, "Reads a request")
        .description("With `wait`, as soon as it has ended, or as it stands when the time is over.")
        .callers(READER)
        .shared("Wait")
        .returns("200", "The request.", request)
        .refuses(&["400", "404"]);
    document.add(get);
    let receipt = document.schemas.served::<ReceiptView>();
    let receipt =
        Operation::get("/v1/requests/{request_id}/receipt", "getRequestReceipt", TAG, "Reads the receipt of a request")
            .callers(READER)
            .returns("200", "The receipt, byte for byte as it was sealed.", receipt)
            .refuses(&["404"]);
    document.add(receipt);
    let deliveries = document.schemas.served::<Deliveries>();
    let deliveries = Operation::get(
        "/v1/requests/{request_id}/deliveries",
        "listRequestDeliveries",
        TAG,
        "Lists the deliveries of a request, in the order of their making",
    )
    .callers(READER)
    .returns("200", "The deliveries.", deliveries)
    .refuses(&["404"]);
    document.add(deliveries);
}

fn settle(document: &mut Document) {
    let (body, result) = (document.schemas.read::<AnswerBody>(), document.schemas.served::<AnswerResult>());
    let answer = Operation::post("/v1/requests/{request_id}/answer", "answerRequest", TAG, "Answers a request")
        .description(
            "People only, by their role and by how strongly they are authenticated. A decision settles the request, once as \
             many agree as it asks for. A partial answer, a delegation and an inability are recorded and leave it pending: \
             receipt and authorization are null then.",
        )
        .callers(Callers::Person)
        .shared("IdempotencyKey")
        .body(body)
        .returns("200", "The answer is recorded.", result)
        .refuses(&["400", "404", "409", "422"]);
    document.add(answer);
    let (body, request) = (document.schemas.read::<CancelBody>(), document.schemas.served::<RequestView>());
    let cancel = Operation::post("/v1/requests/{request_id}/cancel", "cancelRequest", TAG, "Withdraws a request")
        .callers(ASKER)
        .shared("IdempotencyKey")
        .body(body)
        .returns("200", "The request, cancelled.", request.clone())
        .refuses(&["400", "404", "409"]);
    document.add(cancel);
    let body = document.schemas.read::<SupersedeBody>();
    let supersede = Operation::post(
        "/v1/requests/{request_id}/supersede",
        "supersedeRequest",
        TAG,
        "Lets another request take this one's place",
    )
    .callers(ASKER)
    .shared("IdempotencyKey")
    .body(body)
    .returns("200", "The request, superseded.", request)
    .refuses(&["400", "404", "409"]);
    document.add(supersede);
}

fn mend(document: &mut Document) {
    let (body, request) = (document.schemas.read::<AmendBody>(), document.schemas.served::<RequestView>());
    let amend = Operation::post("/v1/requests/{request_id}/amend", "amendRequest", TAG, "Mends the words of a request")
        .callers(ASKER)
        .shared("IdempotencyKey")
        .optional_body(body)
        .returns("200", "The request at its next version.", request.clone())
        .refuses(&["400", "404", "409", "503"]);
    document.add(amend);
    let body = document.schemas.read::<AttemptBody>();
    let attempt =
        Operation::post("/v1/requests/{request_id}/attempt", "armAttempt", TAG, "Arms an attempt to answer, afresh")
            .callers(Callers::Holder(Scope::RequestsWrite))
            .shared("IdempotencyKey")
            .optional_body(body)
            .returns("200", "The request.", request)
            .refuses(&["400", "404", "409"]);
    document.add(attempt);
}
