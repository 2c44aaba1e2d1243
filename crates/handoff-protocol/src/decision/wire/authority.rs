//! Who may answer.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

use crate::{
    decision::limits,
    principal::{AuthStrength, Role},
};

/// Who may answer. Whoever asks never decides.
#[derive(Clone, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Authority")]
#[non_exhaustive]
pub struct AuthoritySpec {
    /// The lowest role that may answer; `viewer` where it is left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_role: Option<Role>,
    /// The weakest authentication that may answer; `session` where it is left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub auth_strength: Option<AuthStrength>,
    /// Who may answer; whoever satisfies the rest where there is none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = limits::ASSIGNEES))]
    pub assignees: Vec<Assignee>,
    /// How many must agree, up to what the deployment takes; one where it is left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub quorum: Option<u64>,
    /// Can only be true: a requester never decides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "only_true")]
    pub forbid_requester: Option<bool>,
    /// Why so much is asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = limits::REASON_CHARS))]
    pub reason: Option<String>,
}

/// One who may answer, or whom a request is passed on to.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Assignee {
    /// What the value names.
    pub kind: AssigneeKind,
    /// The name: an id, a role, or `*`.
    #[schemars(length(max = limits::TARGET_VALUE_CHARS))]
    pub value: String,
}

/// What an assignee's value names.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum AssigneeKind {
    /// One person.
    Principal,
    /// Everybody of a role or a higher one.
    Role,
    /// Anybody.
    Anyone,
}

impl AuthoritySpec {
    /// Whoever has a role or a higher one.
    #[must_use]
    pub fn of_role(role: Role) -> Self {
        Self { min_role: Some(role), ..Self::default() }
    }

    /// Sets the weakest authentication that may answer.
    #[must_use]
    pub fn auth_strength(mut self, strength: AuthStrength) -> Self {
        self.auth_strength = Some(strength);
        self
    }

    /// Sets how many must agree.
    #[must_use]
    pub fn quorum(mut self, quorum: u64) -> Self {
        self.quorum = Some(quorum);
        self
    }

    /// Adds one who may answer.
    #[must_use]
    pub fn assignee(mut self, kind: AssigneeKind, value: impl Into<String>) -> Self {
        self.assignees.push(Assignee { kind, value: value.into() });
        self
    }
}

fn only_true(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "boolean", "const": true })
}
