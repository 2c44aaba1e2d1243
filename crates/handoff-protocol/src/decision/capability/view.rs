//! What is served of grants and sessions (fixtures 12 and 13 of the contract).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{BlastRadius, Grant, GrantSession};
use crate::{
    decision::{
        limits,
        terms::{CapabilityScope, CapabilityType, TransportKind},
    },
    digest::Digest,
    duration::ExactDuration,
    id::{GrantHandle, PrincipalId, ReceiptId, RequestId, SessionRef},
    json::{Json, Object},
    timestamp::Timestamp,
};

/// A grant as served: everything that a person should know before accepting it, and no address (rules G-2, G-6).
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[expect(missing_docs, reason = "the members of `Grant` and `Capability`, which document them")]
#[schemars(rename = "CapabilityGrant")]
pub struct GrantView {
    pub handle: GrantHandle,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<RequestId>,
    #[serde(rename = "type")]
    pub capability_type: CapabilityType,
    pub scope: CapabilityScope,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = limits::PROVIDER_CHARS))]
    pub provider: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = limits::RESOURCE_REF_CHARS))]
    pub resource_ref: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = limits::LABEL_CHARS))]
    pub label: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = limits::PURPOSE_CHARS))]
    pub purpose: Option<String>,
    pub optional: bool,
    pub ttl: ExactDuration,
    pub blast_radius_digest: Digest,
    pub blast_radius: BlastRadius,
    pub expires_at: Timestamp,
    pub revoked_at: Option<Timestamp>,
    #[schemars(range(min = 1))]
    pub max_holders: u32,
    pub bound_principal_id: Option<PrincipalId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Object>")]
    pub constraints: Option<Json>,
}

/// A session as it is handed to its person. The address is theirs alone and new each time (rule G-8).
#[derive(Clone, Deserialize, JsonSchema, PartialEq, Serialize)]
#[schemars(rename = "GrantSession")]
pub struct GrantSessionView {
    /// The session.
    pub session_ref: SessionRef,
    /// What it may be used for.
    pub scopes: Vec<CapabilityScope>,
    /// Until when it lives unless it is renewed.
    pub lease_until: Timestamp,
    /// When it is best renewed, in milliseconds from now.
    #[schemars(range(min = 0))]
    pub renew_after_ms: u64,
    /// What its person accepted.
    pub blast_radius: BlastRadius,
    /// How it is reached.
    pub transport: Transport,
    /// Always null: what was used is on the receipt of the answer.
    pub receipt_id: Option<ReceiptId>,
}

/// How a session is reached. Whoever has the address has the session, so nothing prints it.
#[derive(Clone, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[schemars(rename = "GrantTransport")]
pub struct Transport {
    /// How.
    pub kind: TransportKind,
    /// Where.
    #[schemars(extend("format" = "uri"))]
    pub url: String,
}

/// What a renewal returns.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct RenewResult {
    /// Until when the session lives unless it is renewed again.
    pub lease_until: Timestamp,
    /// When it is best renewed again, in milliseconds from now.
    #[schemars(range(min = 0))]
    pub renew_after_ms: u64,
}

impl From<Grant> for GrantView {
    fn from(grant: Grant) -> Self {
        Self {
            handle: grant.handle,
            request_id: Some(grant.request_id),
            capability_type: grant.capability.capability_type,
            scope: grant.capability.scope,
            provider: grant.capability.provider,
            resource_ref: grant.capability.resource_ref,
            label: grant.capability.label,
            purpose: grant.capability.purpose,
            optional: grant.capability.optional,
            ttl: grant.ttl,
            blast_radius_digest: grant.blast_radius_digest,
            blast_radius: grant.blast_radius,
            expires_at: grant.expires_at,
            revoked_at: grant.revoked_at,
            max_holders: grant.max_holders,
            bound_principal_id: grant.bound_principal_id,
            constraints: grant.capability.constraints,
        }
    }
}

impl GrantSessionView {
    /// What a person is handed, with an address that was made for this call.
    #[must_use]
    pub fn new(session: &GrantSession, grant: &Grant, transport: Transport, now: Timestamp) -> Self {
        Self {
            session_ref: session.session_ref,
            scopes: session.scopes.clone(),
            lease_until: session.lease_until,
            renew_after_ms: renew_after(session.lease_until, now),
            blast_radius: grant.blast_radius.clone(),
            transport,
            receipt_id: None,
        }
    }
}

impl RenewResult {
    /// What a renewal at a time returns.
    #[must_use]
    pub fn new(lease_until: Timestamp, now: Timestamp) -> Self {
        Self { lease_until, renew_after_ms: renew_after(lease_until, now) }
    }
}

impl std::fmt::Debug for Transport {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Transport").field("kind", &self.kind).finish_non_exhaustive()
    }
}

impl std::fmt::Debug for GrantSessionView {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("GrantSessionView").field("session_ref", &self.session_ref).finish_non_exhaustive()
    }
}

/// Well before the lease is over, also where the grant cuts it short.
fn renew_after(lease_until: Timestamp, now: Timestamp) -> u64 {
    let left = u64::try_from(lease_until.since(now).as_millis()).unwrap_or(u64::MAX);
    limits::SESSION_RENEW_MILLIS.min(left / 2)
}
