//! `/v1/requests/{id}/dispositions`.

use handoff_protocol::{
    decision::{RecordedDisposition, view::Listing},
    principal::Scope,
};

use super::{
    document::Document,
    operation::{Callers, Operation},
};

pub(super) fn add(document: &mut Document) {
    let page = document.schemas.served::<Listing<RecordedDisposition>>();
    let list = Operation::get(
        "/v1/requests/{request_id}/dispositions",
        "listRequestDispositions",
        "requests",
        "Lists what people did with a request besides deciding it, oldest first",
    )
    .description(
        "Each delegation and each inability, with its person and their words. None of them settles the request.",
    )
    .callers(Callers::Holder(Scope::RequestsRead))
    .shared("Limit")
    .shared("Cursor")
    .returns("200", "A page of dispositions.", page)
    .refuses(&["400", "404"]);
    document.add(list);
}
