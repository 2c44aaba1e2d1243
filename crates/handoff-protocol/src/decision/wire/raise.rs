//! The body of a raise.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{AuthoritySpec, CapabilitySpec, FieldSpec, Prompt, Requires, RoutingSpec, ValueSinkSpec, is_not_set};
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
    /// Where the signals are pushed as well, until they are acknowledged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub callback: Option<CallbackSpec>,
    /// What the program wants back with each signal, and nobody else gets to see.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = limits::RESUME_REF_CHARS))]
    pub resume_ref: Option<String>,
    /// State that the program wants back with each signal, and nobody else gets to see: canonical base64 of at most 64
    /// KiB, kept encrypted. It needs a server of level 2.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = limits::RESUME_PAYLOAD_CHARS), extend("contentEncoding" = "base64"))]
    pub resume_payload: Option<String>,
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

/// Where signals are pushed.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Callback")]
#[non_exhaustive]
pub struct CallbackSpec {
    /// The address: `http` or `https`, without user and fragment, of at most 2048 characters.
    #[schemars(extend("format" = "uri"))]
    pub url: String,
    /// Which of the server's callback secrets sign; those without a name where it is left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = limits::SECRET_REF_CHARS))]
    pub secret_ref: Option<String>,
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
            callback: None,
            resume_ref: None,
            resume_payload: None,
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

    /// Adds something that the answerer may use on the way.
    #[must_use]
    pub fn capability(mut self, capability: CapabilitySpec) -> Self {
        self.requires = self.requires.capability(capability);
        self
    }

    /// Sets where values go that are not part of the answer.
    #[must_use]
    pub fn value_sink(mut self, sink: ValueSinkSpec) -> Self {
        self.requires = self.requires.value_sink(sink);
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

    /// Has the signals pushed as well.
    #[must_use]
    pub fn callback(mut self, callback: CallbackSpec) -> Self {
        self.callback = Some(callback);
        self
    }

    /// Sets what comes back with each signal.
    #[must_use]
    pub fn resume_ref(mut self, reference: impl Into<String>) -> Self {
        self.resume_ref = Some(reference.into());
        self
    }

    /// Sets the state that comes back with each signal, of at most 64 KiB.
    #[must_use]
    pub fn resume_payload(mut self, payload: impl AsRef<[u8]>) -> Self {
        self.resume_payload = Some(STANDARD.encode(payload));
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

impl CallbackSpec {
    /// An address, signed with the server's secrets that have no name.
    #[must_use]
    pub fn new(url: impl Into<String>) -> Self {
        Self { url: url.into(), secret_ref: None }
    }

    /// Chooses the secrets that sign.
    #[must_use]
    pub fn signed_with(mut self, secret_ref: impl Into<String>) -> Self {
        self.secret_ref = Some(secret_ref.into());
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
