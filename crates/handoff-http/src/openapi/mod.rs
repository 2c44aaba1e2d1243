//! The API as an OpenAPI 3.1 document, made from the types that are read and served.
//!
//! | module | what lives there |
//! |---|---|
//! | `document` | paths and components, put together |
//! | `operation` | one operation, in the order in which one says it |
//! | `components` | schemas out of types, parameters, headers, refusals |
//! | `requests`, `receipts`, `waiters`, `service` | the operations, by resource |

mod components;
mod document;
mod operation;
mod receipts;
mod requests;
mod service;
mod waiters;

use handoff_protocol::json::{Json, Object};

use self::document::Document;

/// The API that this build serves, as an OpenAPI 3.1 document. `GET /v1/openapi.json` serves it.
#[must_use]
pub fn openapi() -> Json {
    let mut document = Document::new();
    requests::add(&mut document);
    receipts::add(&mut document);
    waiters::add(&mut document);
    service::add(&mut document);
    document.finish()
}

/// An object of these members, in this order.
fn object<const N: usize>(members: [(&str, Json); N]) -> Json {
    Json::Object(members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect::<Object>())
}

/// A reference to a component.
fn component(kind: &str, name: &str) -> Json {
    object([("$ref", format!("#/components/{kind}/{name}").into())])
}
