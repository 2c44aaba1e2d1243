//! The API as an OpenAPI 3.1 document, made from the types that are read and served.
//!
//! | module | what lives there |
//! |---|---|
//! | `document` | paths and components, put together |
//! | `operation` | one operation, in the order in which one says it |
//! | `components` | schemas out of types, parameters, headers, refusals |
//! | `requests`, `dispositions`, `deliveries`, `receipts`, `waiters`, `capabilities`, `service` | the operations, by resource |

mod capabilities;
mod components;
mod deliveries;
mod dispositions;
mod document;
mod operation;
mod receipts;
mod requests;
mod service;
mod waiters;

use handoff_protocol::{
    decision::wire::PolicyDocument,
    json::{Json, Object},
};

use self::document::Document;

/// The API that this build serves, as an OpenAPI 3.1 document. `GET /v1/openapi.json` serves it.
#[must_use]
pub fn openapi() -> Json {
    described().finish()
}

fn described() -> Document {
    let mut document = Document::new();
    requests::add(&mut document);
    dispositions::add(&mut document);
    deliveries::add(&mut document);
    receipts::add(&mut document);
    waiters::add(&mut document);
    capabilities::add(&mut document);
    service::add(&mut document);
    // No call takes it: it is a file of the deployment, described where everything else is.
    document.schemas.read::<PolicyDocument>();
    document
}

/// An object of these members, in this order.
fn object<const N: usize>(members: [(&str, Json); N]) -> Json {
    Json::Object(members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect::<Object>())
}

/// A reference to a component.
fn component(kind: &str, name: &str) -> Json {
    object([("$ref", format!("#/components/{kind}/{name}").into())])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_is_read_and_served_means_one_thing() {
        let (read, served) = described().schemas.definitions();
        let both: Vec<&String> = read.keys().filter(|name| served.contains_key(*name)).collect();
        assert!(both.iter().any(|name| *name == "Prompt"), "what is declared is served: {both:?}");
        for name in both {
            assert_eq!(read.get(name), served.get(name), "{name}");
        }
    }
}
