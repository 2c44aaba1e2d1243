//! What anyone may ask: what the server can do, its keys, this document, how it is.

use handoff_protocol::{json::Object, signature::Jwks};

use super::{document::Document, operation::Operation};
use crate::routes::Meta;

pub(super) fn add(document: &mut Document) {
    let meta = document.schemas.served::<Meta>();
    let meta = Operation::get("/v1/meta", "getMeta", "service", "Reads what this server can do").returns(
        "200",
        "What it can do.",
        meta,
    );
    document.add(meta);
    let keys = document.schemas.served::<Jwks>();
    let words = "Reads the public keys that ever signed a receipt";
    let published = [("/v1/keys", "getKeys"), ("/.well-known/handoff-keys.json", "getWellKnownKeys")];
    for (path, id) in published {
        let operation = Operation::get(path, id, "service", words).returns("200", "The keys.", keys.clone());
        document.add(operation);
    }
    let any = document.schemas.served::<Object>();
    let this = Operation::get("/v1/openapi.json", "getOpenApi", "service", "Reads this document").returns(
        "200",
        "An OpenAPI 3.1 document.",
        any,
    );
    document.add(this);
    let health = Operation::get("/healthz", "getHealth", "operation", "Tells that the process answers")
        .returns_text("200", "It does.");
    document.add(health);
    let readiness = Operation::get("/readyz", "getReadiness", "operation", "Tells whether the store answers")
        .returns_text("200", "It does.")
        .returns_text("503", "It does not, or not soon enough.");
    document.add(readiness);
    let metrics = Operation::get("/metrics", "getMetrics", "operation", "Reads what was counted")
        .returns_text("200", "The metrics, in the OpenMetrics format.");
    document.add(metrics);
}
