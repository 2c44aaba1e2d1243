//! The fields that an answer has.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::is_not_set;
use crate::{
    decision::limits,
    id::SinkRef,
    json::{Json, MAX_SAFE_INTEGER},
};

/// A field of the answer. `options` and `multi` belong to `choice` alone, which needs one option at the least; `min` must
/// not be above `max`.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Field")]
#[non_exhaustive]
pub struct FieldSpec {
    /// Its name, distinct within the request.
    #[schemars(regex(pattern = "^[a-z][a-z0-9_]{0,63}$"))]
    pub name: String,
    /// What people read; the name where it is left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = limits::LABEL_CHARS))]
    pub label: Option<String>,
    /// What an answer to it is.
    #[serde(rename = "type")]
    pub field_type: FieldType,
    /// Whether an answer must give it.
    #[serde(default, skip_serializing_if = "is_not_set")]
    pub required: bool,
    /// Words of help.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = limits::HELP_CHARS))]
    pub help: Option<String>,
    /// What a `choice` offers, each under an id of its own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = limits::OPTIONS))]
    pub options: Vec<OptionSpec>,
    /// Whether more than one option may be chosen.
    #[serde(default, skip_serializing_if = "is_not_set")]
    pub multi: bool,
    /// How many characters a `text` may have.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = MAX_SAFE_INTEGER))]
    pub max_len: Option<i64>,
    /// The least that a `number` may be.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = -MAX_SAFE_INTEGER, max = MAX_SAFE_INTEGER))]
    pub min: Option<i64>,
    /// The most that a `number` may be.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = -MAX_SAFE_INTEGER, max = MAX_SAFE_INTEGER))]
    pub max: Option<i64>,
    /// What is shown before a person types.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub initial: Option<Json>,
    /// The JSON Schema that a `document` must satisfy, where the deployment registered it; it is never fetched.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("format" = "uri"))]
    pub schema_ref: Option<String>,
    /// Where its value is submitted to, past the answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sink_ref: Option<SinkRef>,
}

/// What an answer to a field is.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum FieldType {
    /// The id of one option, or with `multi` an array of ids.
    Choice,
    /// A string.
    Text,
    /// An integer within +/-(2^53 - 1).
    Number,
    /// True or false.
    Boolean,
    /// `{"provided": true}` and nothing else: the value itself is submitted to a sink.
    Secret,
    /// True and nothing else.
    Attestation,
    /// Any JSON but null.
    Document,
    /// A string that names a file.
    FileRef,
}

/// One option of a choice.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "FieldOption")]
pub struct OptionSpec {
    /// What an answer carries.
    #[schemars(length(max = limits::OPTION_ID_CHARS))]
    pub id: String,
    /// What people read.
    #[schemars(length(max = limits::LABEL_CHARS))]
    pub label: String,
}

impl FieldSpec {
    /// A field of a type.
    #[must_use]
    pub fn new(name: impl Into<String>, field_type: FieldType) -> Self {
        Self {
            name: name.into(),
            label: None,
            field_type,
            required: false,
            help: None,
            options: Vec::new(),
            multi: false,
            max_len: None,
            min: None,
            max: None,
            initial: None,
            schema_ref: None,
            sink_ref: None,
        }
    }

    /// A choice among options, each an id and what people read.
    #[must_use]
    pub fn choice<I: Into<String>, L: Into<String>>(
        name: impl Into<String>,
        options: impl IntoIterator<Item = (I, L)>,
    ) -> Self {
        let options = options.into_iter().map(|(id, label)| OptionSpec { id: id.into(), label: label.into() });
        Self { options: options.collect(), ..Self::new(name, FieldType::Choice) }
    }

    /// Sets what people read.
    #[must_use]
    pub fn label(mut self, label: impl Into<String>) -> Self {
        self.label = Some(label.into());
        self
    }

    /// Sets the words of help.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Sets where its value is submitted to.
    #[must_use]
    pub fn sink(mut self, sink: SinkRef) -> Self {
        self.sink_ref = Some(sink);
        self
    }

    /// Makes every answer give it.
    #[must_use]
    pub fn required(mut self) -> Self {
        self.required = true;
        self
    }
}
