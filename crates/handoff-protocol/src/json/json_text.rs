//! JSON that is text already and stays so.

use std::borrow::Cow;
use std::sync::Arc;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::ser::{Error as _, Serialize, Serializer};

use super::{Json, read_str};

/// The name of the newtype that carries such a text through serde; the protocol is that of `SPELLED_NUMBER`.
pub(super) const JSON_TEXT: &str = "$handoff::json::JsonText";

/// A JSON text that is served as it was kept, byte for byte: a sealed receipt (rule E-8).
///
/// In [`to_text`](super::to_text()) it stands as it is, without being read.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct JsonText(Arc<str>);

impl JsonText {
    /// Takes a text that is known to be one JSON value, because we wrote it.
    #[must_use]
    pub const fn of_written(text: Arc<str>) -> Self {
        Self(text)
    }

    /// Gives the text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Serialize for JsonText {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_newtype_struct(JSON_TEXT, &Content(&self.0))
    }
}

/// The content of the newtype: the text for our own serializers, the value for all others.
struct Content<'a>(&'a str);

impl Serialize for Content<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if serializer.is_human_readable() {
            read_str(self.0).map_err(S::Error::custom)?.serialize(serializer)
        } else {
            serializer.serialize_str(self.0)
        }
    }
}

impl JsonSchema for JsonText {
    fn inline_schema() -> bool {
        Json::inline_schema()
    }

    fn schema_name() -> Cow<'static, str> {
        Json::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        Json::json_schema(generator)
    }
}
