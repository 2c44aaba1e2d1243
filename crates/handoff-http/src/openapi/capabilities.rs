//! `/v1/grants` and `/v1/sinks`: what people use on the way to an answer.

use handoff_protocol::{
    decision::{
        capability::{GrantSessionView, GrantView, RenewResult},
        view::SinkValuesResult,
        wire::{ResolveBody, RevokeBody, SinkValuesBody},
    },
    id::RequestId,
};

use super::{
    document::Document,
    operation::{Callers, Operation},
};

const TAG: &str = "capabilities";

pub(super) fn add(document: &mut Document) {
    grants(document);
    sessions(document);
    sinks(document);
}

fn grants(document: &mut Document) {
    let grant = document.schemas.served::<GrantView>();
    let get = Operation::get("/v1/grants/{handle}", "getCapabilityGrant", TAG, "Reads a grant and what it may touch")
        .description(
            "People only. What a person reads here is what they accept when they open a session; no address is in it.",
        )
        .callers(Callers::Person)
        .returns("200", "The grant; one that was revoked says so.", grant)
        .refuses(&["404", "410"]);
    document.add(get);
    let body = document.schemas.read::<RevokeBody>();
    let revoke = Operation::delete("/v1/grants/{handle}", "revokeCapabilityGrant", TAG, "Takes a grant back")
        .description(
            "People only: whoever holds it, or whose role would let them. Its sessions end. Repeating it is harmless.",
        )
        .callers(Callers::Person)
        .optional_body(body)
        .returns_nothing("204", "It is revoked.")
        .refuses(&["400", "404"]);
    document.add(revoke);
}

fn sessions(document: &mut Document) {
    let (body, session) = (document.schemas.read::<ResolveBody>(), document.schemas.served::<GrantSessionView>());
    let resolve = Operation::post(
        "/v1/grants/{handle}/sessions",
        "resolveCapabilityGrant",
        TAG,
        "Opens a session under a grant",
    )
    .description(
        "People only. The address is new at every call, also at one that is repeated under its key, and is kept \
                 nowhere.",
    )
    .callers(Callers::Person)
    .shared("IdempotencyKey")
    .body(body)
    .returns("200", "The session, with its address.", session)
    .refuses(&["400", "404", "409", "410", "503"]);
    document.add(resolve);
    let renewed = document.schemas.served::<RenewResult>();
    let path = "/v1/grants/{handle}/sessions/{session_ref}";
    let release = Operation::delete(path, "releaseGrantSession", TAG, "Ends a session")
        .description("Its own person only. Repeating it is harmless.")
        .callers(Callers::Person)
        .returns_nothing("204", "It has ended.")
        .refuses(&["404"]);
    document.add(release);
    let path = "/v1/grants/{handle}/sessions/{session_ref}/renew";
    let renew = Operation::post(path, "renewGrantSession", TAG, "Renews the lease of a session")
        .callers(Callers::Person)
        .returns("200", "The lease from now on.", renewed)
        .refuses(&["404", "409", "410"]);
    document.add(renew);
}

fn sinks(document: &mut Document) {
    let (body, result) = (document.schemas.read::<SinkValuesBody>(), document.schemas.served::<SinkValuesResult>());
    let request = document.schemas.read::<RequestId>();
    let submit = Operation::post(
        "/v1/sinks/{sink_ref}/values",
        "submitSinkValues",
        TAG,
        "Hands values to the sink that a request declares",
    )
    .description(
        "People only, with the authority that an answer needs. The values go to the sink and are kept nowhere; the answer \
         then says `{\"provided\": true}`. A sink that does not take them is a 503: nothing was kept, and sending them again \
         is safe.",
    )
    .query(
        "request_id",
        "The request that is being answered. Several requests may declare one place; where this is left out, the newest is \
         meant, pending ones first. A repeat under an `Idempotency-Key` is one for the same request.",
        request,
    )
    .callers(Callers::Person)
    .shared("IdempotencyKey")
    .body(body)
    .returns("202", "The names that were submitted.", result)
    .refuses(&["400", "404", "409", "503"]);
    document.add(submit);
}
