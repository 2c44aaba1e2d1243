//! The bodies of an answer and of a correction.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Assignee, AssigneeKind, Unavailable, is_not_set};
use crate::{
    decision::limits,
    digest::AnyDigest,
    id::DeliveryId,
    json::{Json, Object},
};

/// A person's answer.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "AnswerRequest")]
#[non_exhaustive]
pub struct AnswerBody {
    /// A value a field, by the fields' names.
    #[schemars(extend("maxProperties" = limits::ANSWER_MEMBERS))]
    pub values: Object,
    /// The delivery that the person came by.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = null))]
    pub via_delivery_id: Option<DeliveryId>,
    /// Whether more is to come: what is given is recorded, and the request stays pending and asks for the rest.
    #[serde(default, skip_serializing_if = "is_not_set")]
    pub partial: bool,
    /// What the person adds in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = limits::NOTE_CHARS))]
    pub note: Option<String>,
    /// What the person does with the request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disposition: Option<DispositionSpec>,
    /// Whom the person passes the request on to, for the disposition `delegate` and no other.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delegate_to: Option<Assignee>,
    /// What was used on the way; this server has nothing to offer, so the list is empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Vec<Json>", length(max = 0))]
    pub capability_uses: Vec<Unavailable>,
    /// The request's `rendered_digest` as it was shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rendered_digest: Option<AnyDigest>,
}

/// What a decision's values should have been.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "CorrectionRequest")]
#[non_exhaustive]
pub struct CorrectBody {
    /// All of them, a value a field.
    #[schemars(extend("maxProperties" = limits::ANSWER_MEMBERS))]
    pub values: Object,
    /// Why.
    #[schemars(length(min = 1, max = limits::NOTE_CHARS))]
    pub note: String,
}

/// What a person does with a request. Only a decision can settle it.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
#[non_exhaustive]
pub enum DispositionSpec {
    /// Decides it.
    Decide,
    /// Passes it on.
    Delegate,
    /// Says that they cannot.
    Unable,
}

impl AnswerBody {
    /// An answer of these values.
    #[must_use]
    pub fn new(values: Object) -> Self {
        Self { values, ..Self::default() }
    }

    /// Sets what the person adds in words.
    #[must_use]
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.note = Some(note.into());
        self
    }

    /// Gives a part: the request stays pending and asks for the rest.
    #[must_use]
    pub fn partial(mut self) -> Self {
        self.partial = true;
        self
    }

    /// Passes the request on to whom a value names; nothing is decided.
    #[must_use]
    pub fn delegate_to(mut self, kind: AssigneeKind, value: impl Into<String>) -> Self {
        self.disposition = Some(DispositionSpec::Delegate);
        self.delegate_to = Some(Assignee { kind, value: value.into() });
        self
    }

    /// Says that the person cannot answer; nothing is decided.
    #[must_use]
    pub fn unable(mut self) -> Self {
        self.disposition = Some(DispositionSpec::Unable);
        self
    }

    /// Sets what the person was shown.
    #[must_use]
    pub fn rendered_digest(mut self, digest: AnyDigest) -> Self {
        self.rendered_digest = Some(digest);
        self
    }
}

impl CorrectBody {
    /// A correction to these values, for a reason.
    #[must_use]
    pub fn new(values: Object, note: impl Into<String>) -> Self {
        Self { values, note: note.into() }
    }
}
