//! What a request requires.

use std::collections::BTreeMap;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

use super::{AuthoritySpec, CapabilitySpec, FieldSpec, ValueSinkSpec};
use crate::{decision::limits, json::Json};

/// What an answer must be, and who may give it. Members whose names begin with `x-` are kept and served untouched.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[schemars(extend("additionalProperties" = false, "patternProperties" = { "^x-": {} }))]
#[non_exhaustive]
pub struct Requires {
    /// The version of this vocabulary.
    #[schemars(schema_with = "only_one")]
    pub v: u64,
    /// What the answer is made of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answer: Option<AnswerSpec>,
    /// What the answerer may use on the way, each under a grant of its own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = limits::CAPABILITIES))]
    pub capabilities: Vec<CapabilitySpec>,
    /// Who may answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub authority: Option<AuthoritySpec>,
    /// What the asker adds for itself, under names that begin with `x-`.
    #[serde(flatten)]
    #[schemars(skip)]
    pub extensions: BTreeMap<String, Json>,
}

/// What an answer is made of.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct AnswerSpec {
    /// The fields, by names that are distinct; none where it is enough that somebody answers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = limits::FIELDS))]
    pub fields: Vec<FieldSpec>,
    /// Where values go that are not part of the answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value_sink: Option<ValueSinkSpec>,
}

impl Requires {
    /// That somebody answers, and no more.
    #[must_use]
    pub fn new() -> Self {
        Self { v: 1, answer: None, capabilities: Vec::new(), authority: None, extensions: BTreeMap::new() }
    }

    /// Adds a field to the answer.
    #[must_use]
    pub fn field(mut self, field: FieldSpec) -> Self {
        self.answer.get_or_insert_default().fields.push(field);
        self
    }

    /// Adds something that the answerer may use on the way.
    #[must_use]
    pub fn capability(mut self, capability: CapabilitySpec) -> Self {
        self.capabilities.push(capability);
        self
    }

    /// Sets where values go that are not part of the answer.
    #[must_use]
    pub fn value_sink(mut self, sink: ValueSinkSpec) -> Self {
        self.answer.get_or_insert_default().value_sink = Some(sink);
        self
    }

    /// Sets who may answer.
    #[must_use]
    pub fn authority(mut self, authority: AuthoritySpec) -> Self {
        self.authority = Some(authority);
        self
    }
}

impl Default for Requires {
    fn default() -> Self {
        Self::new()
    }
}

fn only_one(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "integer", "const": 1 })
}
