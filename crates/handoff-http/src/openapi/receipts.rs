//! `/v1/receipts` and `/v1/export`.

use handoff_protocol::{
    bundle::Bundle,
    decision::{
        view::{ChainHeadView, Listing, ReceiptView},
        wire::CorrectBody,
    },
    principal::Scope,
    signature::ReceiptSignature,
};

use super::{
    document::Document,
    operation::{Callers, Operation},
};

const TAG: &str = "receipts";
const READER: Callers = Callers::Holder(Scope::ReceiptsRead);

pub(super) fn add(document: &mut Document) {
    let page = document.schemas.served::<Listing<ReceiptView>>();
    let list = Operation::get("/v1/receipts", "listReceipts", TAG, "Lists receipts, in the order of the chain")
        .description("Without `limit`, up to 1000: a verifier walks the first page against the head.")
        .callers(READER)
        .shared("CreatedAfter")
        .shared("CreatedBefore")
        .shared("Limit")
        .shared("Cursor")
        .returns("200", "A page of receipts.", page)
        .refuses(&["400"]);
    document.add(list);
    let head = document.schemas.served::<ChainHeadView>();
    let head = Operation::get("/v1/receipts/chain-head", "getReceiptChainHead", TAG, "Reads where the chain ends")
        .callers(READER)
        .returns("200", "The head; height 0 and zeros before the first receipt.", head);
    document.add(head);
    let receipt = document.schemas.served::<ReceiptView>();
    let get = Operation::get("/v1/receipts/{receipt_id}", "getReceipt", TAG, "Reads a receipt")
        .callers(READER)
        .returns("200", "The receipt, byte for byte as it was sealed.", receipt.clone())
        .refuses(&["404"]);
    document.add(get);
    let signature = document.schemas.served::<ReceiptSignature>();
    let signature = Operation::get(
        "/v1/receipts/{receipt_id}/signature",
        "getReceiptSignature",
        TAG,
        "Reads the detached signature of a receipt",
    )
    .callers(READER)
    .returns("200", "The signature; `GET /v1/keys` has the keys.", signature)
    .refuses(&["404"]);
    document.add(signature);
    let body = document.schemas.read::<CorrectBody>();
    let correct = Operation::post(
        "/v1/receipts/{receipt_id}/corrections",
        "correctReceipt",
        TAG,
        "Puts right what a decision's receipt records, in a receipt of its own",
    )
    .description("People only, with the authority that the decision needed. The decision stands.")
    .callers(Callers::Person)
    .shared("IdempotencyKey")
    .body(body)
    .returns("200", "The receipt of the correction.", receipt)
    .refuses(&["400", "404", "409", "422"]);
    document.add(correct);
    let bundle = document.schemas.served::<Bundle>();
    let export = Operation::get("/v1/export", "exportReceipts", TAG, "Reads all receipts with what proves them")
        .description("`handoff verify` checks it offline.")
        .callers(READER)
        .returns("200", "The bundle.", bundle);
    document.add(export);
}
