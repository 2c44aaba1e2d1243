//! Capabilities and sinks: what a raise asks for, and the bodies with which a person uses them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::is_not_set;
use crate::{
    decision::{
        limits,
        terms::{CapabilityScope, CapabilityType},
    },
    digest::AnyDigest,
    duration::ExactDuration,
    id::{GrantHandle, SessionRef},
    json::Object,
};

/// What the answerer may use on the way.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "CapabilityDeclaration")]
#[non_exhaustive]
pub struct CapabilitySpec {
    /// The grant's name. It is the server's: what a client puts here is replaced.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<GrantHandle>")]
    pub handle: Option<String>,
    /// What it is.
    #[serde(rename = "type")]
    pub capability_type: CapabilityType,
    /// The most that it may be used for.
    pub scope: CapabilityScope,
    /// Whose it is; the deployment's default provider where it is left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = limits::PROVIDER_CHARS))]
    pub provider: Option<String>,
    /// Which one it is, in the provider's own words; never an address.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = limits::RESOURCE_REF_CHARS))]
    pub resource_ref: Option<String>,
    /// What people read.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = limits::LABEL_CHARS))]
    pub label: Option<String>,
    /// What it is for, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = limits::PURPOSE_CHARS))]
    pub purpose: Option<String>,
    /// Whether an answer can do without it.
    #[serde(default, skip_serializing_if = "is_not_set")]
    pub optional: bool,
    /// How long it may be used from each arming of the attempt; the request's `attempt_ttl` where it is left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ttl: Option<ExactDuration>,
    /// The digest of what using it may touch. It is the provider's: what a client puts here is replaced.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blast_radius_digest: Option<AnyDigest>,
    /// What the provider is to hold sessions to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub constraints: Option<Object>,
}

/// Where the values of an answer go that are not part of it.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "ValueSink")]
pub struct ValueSinkSpec {
    /// Whose it is; the deployment's default sink where it is left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = limits::SINK_NAME_CHARS))]
    pub provider: Option<String>,
    /// What the provider is to do with the values.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = limits::SINK_NAME_CHARS))]
    pub op: Option<String>,
    /// The provider's own name for the place; never an address.
    #[serde(rename = "ref")]
    #[schemars(length(min = 1, max = limits::SINK_REF_CHARS))]
    pub reference: String,
}

/// A session that an answer says it used.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct CapabilityUse {
    /// The grant.
    pub handle: GrantHandle,
    /// The session.
    pub session_ref: SessionRef,
}

/// What a person asks of a grant.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "CreateGrantSessionRequest")]
#[non_exhaustive]
pub struct ResolveBody {
    /// What the session may be used for.
    #[schemars(length(min = 1, max = 2))]
    pub scopes: Vec<CapabilityScope>,
    /// The digest of what using it may touch, as the grant shows it: the person has read that.
    pub accepted_blast_radius_digest: AnyDigest,
    /// What the provider is to hold this session to, beyond what was declared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub constraints: Option<Object>,
}

/// Why a grant is taken back.
#[derive(Clone, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "RevokeGrantRequest")]
pub struct RevokeBody {
    /// Words for the record.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = limits::REASON_CHARS))]
    pub reason: Option<String>,
}

/// Values for a sink, by the names of declared fields.
///
/// This is for the description of the API. A program that sends values builds the body where it holds them, so that it
/// can wipe them.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "SinkValuesRequest")]
pub struct SinkValuesBody {
    /// A value a field; they go to the sink and are kept nowhere.
    #[schemars(extend("maxProperties" = limits::ANSWER_MEMBERS))]
    pub values: Object,
}

impl CapabilitySpec {
    /// A capability of a type, up to a scope.
    #[must_use]
    pub fn new(capability_type: CapabilityType, scope: CapabilityScope) -> Self {
        Self {
            handle: None,
            capability_type,
            scope,
            provider: None,
            resource_ref: None,
            label: None,
            purpose: None,
            optional: false,
            ttl: None,
            blast_radius_digest: None,
            constraints: None,
        }
    }

    /// Sets which resource it is, and whose.
    #[must_use]
    pub fn of(mut self, provider: impl Into<String>, resource_ref: impl Into<String>) -> Self {
        self.provider = Some(provider.into());
        self.resource_ref = Some(resource_ref.into());
        self
    }

    /// Sets what people read.
    #[must_use]
    pub fn label(mut self, label: impl Into<String>) -> Self {
        self.label = Some(label.into());
        self
    }

    /// Sets what it is for, in words.
    #[must_use]
    pub fn purpose(mut self, purpose: impl Into<String>) -> Self {
        self.purpose = Some(purpose.into());
        self
    }

    /// Lets an answer do without it.
    #[must_use]
    pub fn optional(mut self) -> Self {
        self.optional = true;
        self
    }
}

impl ValueSinkSpec {
    /// A place of the deployment's default sink.
    #[must_use]
    pub fn new(reference: impl Into<String>) -> Self {
        Self { provider: None, op: None, reference: reference.into() }
    }
}

impl ResolveBody {
    /// A session of these scopes, by a person who read what the grant may touch.
    #[must_use]
    pub fn new(scopes: Vec<CapabilityScope>, accepted_blast_radius_digest: AnyDigest) -> Self {
        Self { scopes, accepted_blast_radius_digest, constraints: None }
    }
}
