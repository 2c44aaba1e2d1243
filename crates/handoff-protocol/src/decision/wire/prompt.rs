//! What a person is to be shown.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{decision::limits, json::Json};

/// What a person is shown: a title, words, evidence.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Prompt {
    /// The question in one line.
    #[schemars(length(min = 1, max = limits::TITLE_CHARS))]
    pub title: String,
    /// More words, in Markdown.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = limits::BODY_CHARS))]
    pub body: Option<String>,
    /// What a person should look at before deciding.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = limits::EVIDENCE_ITEMS))]
    pub evidence: Vec<Evidence>,
}

/// One thing to look at before deciding.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Evidence {
    /// How to show it.
    pub kind: EvidenceKind,
    /// What it is, in words.
    #[schemars(length(max = limits::LABEL_CHARS))]
    pub label: String,
    /// Where it is. The server never fetches it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("format" = "uri"))]
    pub url: Option<String>,
    /// The thing itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<Json>,
    /// A name for it that means something to the asker.
    #[serde(rename = "ref", skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = limits::REF_CHARS))]
    pub reference: Option<String>,
}

/// How evidence is shown.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum EvidenceKind {
    /// An address to open.
    Link,
    /// Rows and columns.
    Table,
    /// A picture.
    Image,
    /// A document.
    Document,
    /// Words.
    Text,
}

impl Prompt {
    /// A prompt with a title alone.
    #[must_use]
    pub fn new(title: impl Into<String>) -> Self {
        Self { title: title.into(), body: None, evidence: Vec::new() }
    }

    /// Sets the words, in Markdown.
    #[must_use]
    pub fn body(mut self, body: impl Into<String>) -> Self {
        self.body = Some(body.into());
        self
    }

    /// Adds a piece of evidence.
    #[must_use]
    pub fn evidence(mut self, evidence: Evidence) -> Self {
        self.evidence.push(evidence);
        self
    }
}

impl Evidence {
    /// Evidence of a kind, with what it is in words.
    #[must_use]
    pub fn new(kind: EvidenceKind, label: impl Into<String>) -> Self {
        Self { kind, label: label.into(), url: None, value: None, reference: None }
    }

    /// Sets where it is.
    #[must_use]
    pub fn url(mut self, url: impl Into<String>) -> Self {
        self.url = Some(url.into());
        self
    }

    /// Sets the thing itself.
    #[must_use]
    pub fn value(mut self, value: impl Into<Json>) -> Self {
        self.value = Some(value.into());
        self
    }

    /// Sets the asker's own name for it.
    #[must_use]
    pub fn reference(mut self, reference: impl Into<String>) -> Self {
        self.reference = Some(reference.into());
        self
    }
}
