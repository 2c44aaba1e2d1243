//! Sessions: the times during which a person used a grant (rules G-8 to G-11).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Grant;
use crate::{
    decision::{
        limits,
        terms::{CapabilityScope, SessionEnd},
    },
    digest::Digest,
    id::{GrantHandle, PrincipalId, RequestId, SessionRef},
    json::Json,
    principal::Role,
    timestamp::Timestamp,
};

/// A session under a grant. It lives on a lease that its person renews, and carries no address (rule G-2).
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct GrantSession {
    /// Its name, drawn at random.
    pub session_ref: SessionRef,
    /// The grant.
    pub handle: GrantHandle,
    /// The grant's request.
    pub request_id: RequestId,
    /// Whose it is.
    pub principal_id: PrincipalId,
    /// The role that this person had when it was opened.
    pub role_at_grant: Role,
    /// What it may be used for.
    pub scopes: Vec<CapabilityScope>,
    /// What the person asked the provider to hold it to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub constraints: Option<Json>,
    /// What the person accepted.
    pub blast_radius_digest: Digest,
    /// When it was opened.
    pub resolved_at: Timestamp,
    /// Until when it lives unless it is renewed.
    pub lease_until: Timestamp,
    /// When it ended.
    pub released_at: Option<Timestamp>,
    /// Why.
    pub close_reason: Option<SessionEnd>,
    /// What its provider saw of it, the latest that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
}

/// What a provider saw of a session: counts and places, never what was typed or shown (rule G-11).
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub struct Usage {
    /// How many inputs came.
    pub input_events: u64,
    /// The origins that were visited, in order, each once in a row.
    pub navigations: Vec<String>,
}

/// A session as a receipt lists it.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct CapabilityExercised {
    /// The grant.
    pub handle: GrantHandle,
    /// The session.
    pub session_ref: SessionRef,
    /// What it could be used for.
    pub scopes: Vec<CapabilityScope>,
    /// The role that its person had when it was opened.
    pub role_at_grant: Role,
    /// When it was opened.
    pub resolved_at: Timestamp,
    /// When it ended.
    pub released_at: Option<Timestamp>,
    /// For how long it was held.
    #[schemars(range(min = 0))]
    pub held_ms: u64,
    /// Why it ended.
    pub close_reason: SessionEnd,
    /// How many inputs its provider counted; absent where no provider said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub input_events: Option<u64>,
    /// The origins that were visited; absent where no provider said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub navigations: Option<Vec<String>>,
    /// What its person accepted.
    pub blast_radius_digest: Digest,
}

impl GrantSession {
    /// Whether it is open still, also where its lease ran out and nobody noticed yet.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.released_at.is_none()
    }

    /// Whether it can be used at a time.
    #[must_use]
    pub fn is_live(&self, now: Timestamp) -> bool {
        self.is_open() && now < self.lease_until
    }

    /// The session once it ended, for a reason: or for the one that came first, where its lease or its grant ran out
    /// before. What ended stays as it is.
    pub(super) fn ended(&self, grant: Option<&Grant>, reason: SessionEnd, now: Timestamp) -> Self {
        if !self.is_open() {
            return self.clone();
        }
        let over = grant.map(|grant| grant.expires_at).filter(|expires_at| *expires_at <= self.lease_until);
        let (at, reason) = match over {
            Some(expires_at) if now >= expires_at => (expires_at, SessionEnd::Expired),
            None if now >= self.lease_until => (self.lease_until, SessionEnd::LeaseLapsed),
            Some(_) | None => (now, reason),
        };
        Self { released_at: Some(at), close_reason: Some(reason), ..self.clone() }
    }

    /// The lease from a time on: two minutes unless the tenant's policy says otherwise, and never beyond the grant's own
    /// time.
    pub(super) fn lease(grant: &Grant, now: Timestamp) -> Timestamp {
        let standing = crate::duration::ExactDuration::from_seconds(limits::SESSION_LEASE_SECONDS);
        let lease = grant.session_lease.unwrap_or(standing);
        now.saturating_add(lease).min(grant.expires_at)
    }

    /// How a receipt lists it; nothing while it is open.
    #[must_use]
    pub fn exercised(&self) -> Option<CapabilityExercised> {
        let (released_at, close_reason) = (self.released_at?, self.close_reason?);
        let held = released_at.since(self.resolved_at).as_millis();
        Some(CapabilityExercised {
            handle: self.handle,
            session_ref: self.session_ref,
            scopes: self.scopes.clone(),
            role_at_grant: self.role_at_grant,
            resolved_at: self.resolved_at,
            released_at: Some(released_at),
            held_ms: u64::try_from(held).unwrap_or(u64::MAX),
            close_reason,
            input_events: self.usage.as_ref().map(|usage| usage.input_events),
            navigations: self.usage.as_ref().map(|usage| usage.navigations.clone()),
            blast_radius_digest: self.blast_radius_digest,
        })
    }
}
