//! The body of a raise.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{AuthoritySpec, FieldSpec, Prompt, Requires, RoutingSpec, is_not_set};
use crate::{
    decision::{
        WaiterRef, limits,
        terms::{Liveness, Mode, OnExpiry, PresentationBinding, Urgency, WaiterTerminal},
    },
    digest::AnyDigest,
    duration::ExactDuration,
    json::Object,
};

/// A question to a person, and everything that a program may say about it.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "RaiseRequest")]
#[non_exhaustive]
pub struct RaiseBody {
    /// Who waits, by a name of the program's own choosing: at most 512 bytes, matched byte for byte.
    pub waiter_ref: WaiterRef,
    /// Whether the waiter may be away for as long as it likes, or lives on a lease of 90 seconds that its calls renew;
    /// `durable` where it is left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub liveness: Option<Liveness>,
    /// How urgent it is; `normal` where it is left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub urgency: Option<Urgency>,
    /// What a person is shown.
    pub prompt: Prompt,
    /// What an answer must be, and who may give it.
    pub requires: Requires,
    /// How long until the deadline; never where it is left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ttl: Option<ExactDuration>,
    /// What happens at the deadline.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ttl_policy: Option<TtlPolicySpec>,
    /// How long an attempt to answer may take before the waiter is nudged; 15 minutes where it is left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attempt_ttl: Option<ExactDuration>,
    /// What becomes of the request if its waiter dies; where it is left out, `keep` for a durable waiter and `cancel` for
    /// a leased one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub on_waiter_terminal: Option<WaiterTerminal>,
    /// Who is reached, through which channels and when, where that is not for the server to choose. Needs a scope of its
    /// own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub routing: Option<RoutingSpec>,
    /// Whether the program redeems the authorization before it acts; `advisory` where it is left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mode: Option<Mode>,
    /// Whether an answer must echo what its person was shown; `advisory` where it is left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub presentation_binding: Option<PresentationBinding>,
    /// What makes two raises one question while the first is pending; made from what is asked where it is left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = limits::DEDUPE_KEY_CHARS))]
    pub dedupe_key: Option<String>,
    /// What the asker wants to keep with the request; served untouched and never looked at.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Object>,
    /// Whether this is to try things out: it reaches nobody.
    #[serde(default, skip_serializing_if = "is_not_set")]
    pub test_mode: bool,
    /// The digest of the one effect that the authorization will be good for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub effect_digest: Option<AnyDigest>,
}

/// What happens at the deadline.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "TtlPolicyRequest")]
#[non_exhaustive]
pub struct TtlPolicySpec {
    /// What happens.
    pub on_expiry: OnExpiry,
    /// The answer that counts under `default`: one that could settle the request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default_answer: Option<Object>,
    /// How often people are reminded under `park`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reminder_every: Option<ExactDuration>,
}

impl RaiseBody {
    /// A question in one line, under a waiter's reference, that anybody may answer without a field and that never expires.
    #[must_use]
    pub fn new(waiter_ref: WaiterRef, title: impl Into<String>) -> Self {
        Self {
            waiter_ref,
            liveness: None,
            urgency: None,
            prompt: Prompt::new(title),
            requires: Requires::new(),
            ttl: None,
            ttl_policy: None,
            attempt_ttl: None,
            on_waiter_terminal: None,
            routing: None,
            mode: None,
            presentation_binding: None,
            dedupe_key: None,
            metadata: None,
            test_mode: false,
            effect_digest: None,
        }
    }

    /// Sets everything that a person is shown.
    #[must_use]
    pub fn prompt(mut self, prompt: Prompt) -> Self {
        self.prompt = prompt;
        self
    }

    /// Adds a field to the answer.
    #[must_use]
    pub fn field(mut self, field: FieldSpec) -> Self {
        self.requires = self.requires.field(field);
        self
    }

    /// Sets who may answer.
    #[must_use]
    pub fn authority(mut self, authority: AuthoritySpec) -> Self {
        self.requires = self.requires.authority(authority);
        self
    }

    /// Sets how urgent it is.
    #[must_use]
    pub fn urgency(mut self, urgency: Urgency) -> Self {
        self.urgency = Some(urgency);
        self
    }

    /// Sets the deadline and what happens then.
    #[must_use]
    pub fn expires(mut self, ttl: ExactDuration, policy: TtlPolicySpec) -> Self {
        self.ttl = Some(ttl);
        self.ttl_policy = Some(policy);
        self
    }

    /// Sets who is reached, how and when.
    #[must_use]
    pub fn routing(mut self, routing: RoutingSpec) -> Self {
        self.routing = Some(routing);
        self
    }

    /// Sets what makes two raises one question.
    #[must_use]
    pub fn dedupe_key(mut self, key: impl Into<String>) -> Self {
        self.dedupe_key = Some(key.into());
        self
    }

    /// Sets what is kept with the request.
    #[must_use]
    pub fn metadata(mut self, metadata: Object) -> Self {
        self.metadata = Some(metadata);
        self
    }

    /// Binds the authorization to one effect.
    #[must_use]
    pub fn effect_digest(mut self, digest: AnyDigest) -> Self {
        self.effect_digest = Some(digest);
        self
    }
}

impl TtlPolicySpec {
    /// A policy that needs no answer.
    #[must_use]
    pub fn new(on_expiry: OnExpiry) -> Self {
        Self { on_expiry, default_answer: None, reminder_every: None }
    }

    /// The policy `park`: it waits for as long as it takes, and people are reminded.
    #[must_use]
    pub fn remind(every: ExactDuration) -> Self {
        Self { reminder_every: Some(every), ..Self::new(OnExpiry::Park) }
    }

    /// The policy `default`: this answer counts.
    #[must_use]
    pub fn answer(default_answer: Object) -> Self {
        Self { on_expiry: OnExpiry::Default, default_answer: Some(default_answer), reminder_every: None }
    }
}
