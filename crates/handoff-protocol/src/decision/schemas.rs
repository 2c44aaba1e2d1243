//! JSON Schemas that a deployment registered, for `document` fields (section 7). They are never fetched.

use std::fmt;

use crate::json::Json;

/// Checks documents against registered schemas. The rule is here; a library behind this trait does the checking.
pub trait Schemas: Send + Sync {
    /// Whether a document satisfies the schema registered under a reference; `None` if none is registered.
    fn check(&self, schema_ref: &str, document: &Json) -> Option<bool>;

    /// Where a document does not satisfy the schema registered under a reference, as JSON pointers into the document;
    /// empty if it does, if none is registered, or if the checker cannot tell. For people, who have to mend it.
    fn faults(&self, _schema_ref: &str, _document: &Json) -> Vec<String> {
        Vec::new()
    }
}

/// No schema is registered.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoSchemas;

impl Schemas for NoSchemas {
    fn check(&self, _: &str, _: &Json) -> Option<bool> {
        None
    }
}

impl fmt::Debug for dyn Schemas {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Schemas")
    }
}
