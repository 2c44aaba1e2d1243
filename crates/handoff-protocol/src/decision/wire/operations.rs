//! The bodies of what a program does later: amend, cancel, supersede, arm an attempt, acknowledge, redeem.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Prompt, Requires};
use crate::{
    decision::limits,
    digest::AnyDigest,
    duration::ExactDuration,
    id::{RequestId, ResumeToken},
};

/// Better words for the same question: what is given replaces, what is left out stays.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "AmendRequest")]
pub struct AmendBody {
    /// What a person is shown from now on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompt: Option<Prompt>,
    /// What an answer must be from now on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requires: Option<Requires>,
}

/// Why a question is withdrawn.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "CancelRequest")]
pub struct CancelBody {
    /// Words that a person who is about to answer gets to read.
    #[schemars(length(min = 1, max = limits::REASON_CHARS))]
    pub reason: String,
}

/// What takes a question's place.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "SupersedeRequest")]
pub struct SupersedeBody {
    /// Another request, pending.
    pub by: RequestId,
}

/// How long an attempt may take.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "AttemptRequest")]
pub struct AttemptBody {
    /// Until the waiter is nudged; the request's own `attempt_ttl` where it is left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ttl: Option<ExactDuration>,
}

/// That a signal was taken, after the work.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "AckRequest")]
pub struct AckBody {
    /// The signal's own token.
    pub resume_token: ResumeToken,
    /// Whether the program acted on it.
    pub applied: bool,
    /// Words about that.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = limits::REASON_CHARS))]
    pub reason: Option<String>,
}

/// The effect that an authorization is spent on.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "RedeemRequest")]
pub struct RedeemBody {
    /// The program's name for it.
    #[schemars(length(min = 1, max = limits::EFFECT_KEY_CHARS))]
    pub effect_key: String,
    /// Its digest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub effect_digest: Option<AnyDigest>,
}

impl CancelBody {
    /// A withdrawal for a reason.
    #[must_use]
    pub fn new(reason: impl Into<String>) -> Self {
        Self { reason: reason.into() }
    }
}

impl RedeemBody {
    /// An effect by its name.
    #[must_use]
    pub fn new(effect_key: impl Into<String>) -> Self {
        Self { effect_key: effect_key.into(), effect_digest: None }
    }
}
