//! The document as a whole: what it says about itself, its paths, its components.

use handoff_protocol::json::{Json, Object};

use super::{
    components::{self, Schemas},
    object,
    operation::Operation,
};

const DESCRIPTION: &str = "What happens when work changes hands: a program raises a request, a person answers it, the \
program gets the answer as typed data and spends one authorization on one effect, and a receipt is kept that anyone can \
verify.\n\nA member that may be left out of a body may be sent as null, which means the same; what a request declares is served \
as it was sent, nulls included. New members may appear in \
what is served; ignore those that you do not know. Any refusal has the shape of `Error`.";

const TAGS: [(&str, &str); 8] = [
    ("requests", "Raising, answering and what else becomes of a request"),
    ("receipts", "The record"),
    ("waiters", "Getting the outcome"),
    ("deliveries", "What was sent"),
    ("authorizations", "Spending an answer on one effect"),
    ("capabilities", "What people use on the way to an answer, and where secrets go"),
    ("service", "What this server can do, and its published keys"),
    ("operation", "What operators ask"),
];

/// The document while operations are added to it.
pub(super) struct Document {
    pub(super) schemas: Schemas,
    paths: Object,
}

impl Document {
    pub(super) fn new() -> Self {
        Self { schemas: Schemas::new(), paths: Object::new() }
    }

    pub(super) fn add(&mut self, operation: Operation) {
        let (path, method, operation) = operation.finish();
        if let Some(Json::Object(methods)) = self.paths.get_mut(path) {
            methods.insert(method, operation);
        } else {
            self.paths.insert(path, object([(method, operation)]));
        }
    }

    pub(super) fn finish(self) -> Json {
        let tag = |(name, words): (&str, &str)| object([("name", name.into()), ("description", words.into())]);
        object([
            ("openapi", "3.1.0".into()),
            ("jsonSchemaDialect", "https://json-schema.org/draft/2020-12/schema".into()),
            (
                "info",
                object([
                    ("title", "Handoff".into()),
                    ("version", env!("CARGO_PKG_VERSION").into()),
                    ("description", DESCRIPTION.into()),
                    (
                        "license",
                        object([
                            ("name", "Apache-2.0 or MIT".into()),
                            ("identifier", env!("CARGO_PKG_LICENSE").into()),
                        ]),
                    ),
                ]),
            ),
            ("servers", vec![object([("url", "/".into())])].into()),
            ("tags", TAGS.map(tag).to_vec().into()),
            ("paths", Json::Object(self.paths)),
            ("components", components::all(self.schemas)),
        ])
    }
}
