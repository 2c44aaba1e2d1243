//! Blast radii: what using a resource may touch, told to a person before it is used (rule G-5).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    decision::{limits, terms::SharedWith},
    digest::Digest,
    json::{Json, MAX_SAFE_INTEGER, to_json},
};

/// What using a resource may touch, in its provider's words.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct BlastRadius {
    /// One sentence for people.
    #[schemars(length(max = limits::BLAST_SUMMARY_CHARS))]
    pub summary: String,
    /// With whom the resource is shared.
    pub shared_with: SharedWith,
    /// How many people and machines use it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = MAX_SAFE_INTEGER))]
    pub principals: Option<u64>,
    /// Where it is signed in, and as whom.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = limits::BLAST_IDENTITIES))]
    pub identities: Vec<Identity>,
    /// Whether what is done there can be undone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reversible: Option<bool>,
    /// More words for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = limits::BLAST_NOTE_CHARS))]
    pub note: Option<String>,
}

/// An account that a resource is signed in to.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "BlastRadiusIdentity")]
pub struct Identity {
    /// Where.
    #[schemars(length(max = limits::ORIGIN_CHARS))]
    pub origin: String,
    /// As whom.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = limits::LABEL_CHARS))]
    pub label: Option<String>,
}

/// A provider described a resource beyond the limits of section 1.2. The provider's fault, not the caller's.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("`{0}` of a blast radius is beyond its limit")]
pub struct BlastRadiusFault(&'static str);

impl BlastRadius {
    /// What is known of a resource that nobody describes: nothing, so a person is told to expect everything.
    #[must_use]
    pub fn unknown() -> Self {
        Self {
            summary: "Nobody describes what this reaches. Expect it to be everything that your organization can reach."
                .to_owned(),
            shared_with: SharedWith::Org,
            principals: None,
            identities: Vec::new(),
            reversible: Some(false),
            note: None,
        }
    }

    /// Checks a description against the limits of section 1.2.
    ///
    /// # Errors
    ///
    /// [`BlastRadiusFault`] names the first member that is too large.
    pub fn checked(self) -> Result<Self, BlastRadiusFault> {
        let longer = |text: &str, most: usize| text.chars().nth(most).is_some();
        let safe = MAX_SAFE_INTEGER.unsigned_abs();
        let label =
            |identity: &Identity| identity.label.as_deref().is_some_and(|text| longer(text, limits::LABEL_CHARS));
        let faults = [
            ("summary", longer(&self.summary, limits::BLAST_SUMMARY_CHARS)),
            ("note", self.note.as_deref().is_some_and(|note| longer(note, limits::BLAST_NOTE_CHARS))),
            ("principals", self.principals.is_some_and(|count| count > safe)),
            ("identities", self.identities.len() > limits::BLAST_IDENTITIES),
            ("identities.origin", self.identities.iter().any(|one| longer(&one.origin, limits::ORIGIN_CHARS))),
            ("identities.label", self.identities.iter().any(label)),
        ];
        match faults.into_iter().find(|(_, beyond)| *beyond) {
            Some((member, _)) => Err(BlastRadiusFault(member)),
            None => Ok(self),
        }
    }

    /// The digest that a person accepts, over the description's canonical text.
    #[must_use]
    pub fn digest(&self) -> Digest {
        // Texts, truth values and a safe integer always have a canonical form.
        to_json(self).ok().and_then(|json: Json| Digest::of_json(&json).ok()).unwrap_or(Digest::zero())
    }
}
