//! What a request requires.

use std::collections::BTreeMap;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

use super::{AuthoritySpec, FieldSpec};
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
    /// What the answerer may use on the way; this server has nothing to offer, so the list is empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Vec<Json>", length(max = 0))]
    pub capabilities: Vec<Unavailable>,
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
}

/// What this server does not have: there is no such value, so a list of them is empty.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub enum Unavailable {}

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
