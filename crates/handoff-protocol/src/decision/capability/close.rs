//! What a transition is told of a request's grants and sessions, and how they end with it (rules G-4, G-12).

use super::{CapabilityExercised, Grant, GrantSession};
use crate::{
    decision::{
        effects::{Effects, EventType, TimerChange},
        terms::SessionEnd,
    },
    digest::Digest,
    id::GrantHandle,
    json::Json,
    timestamp::Timestamp,
};

/// The grants of a request that are open, and every session that any of its grants ever had.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Capabilities {
    /// The grants.
    pub grants: Vec<Grant>,
    /// The sessions, in the order of their opening.
    pub sessions: Vec<GrantSession>,
}

impl Capabilities {
    /// Of a request that never had any.
    pub const NONE: Self = Self { grants: Vec::new(), sessions: Vec::new() };

    /// The grant of a handle, if it is open.
    #[must_use]
    pub fn grant(&self, handle: GrantHandle) -> Option<&Grant> {
        self.grants.iter().find(|grant| grant.handle == handle)
    }

    /// What a receipt lists if the request ends now: every session, those that are open as the end leaves them.
    pub(in crate::decision) fn exercised(&self, now: Timestamp) -> Vec<CapabilityExercised> {
        let ended = self.sessions.iter().map(|session| self.ended(session, SessionEnd::Revoked, now));
        ended.filter_map(|session| session.exercised()).collect()
    }

    fn ended(&self, session: &GrantSession, reason: SessionEnd, now: Timestamp) -> GrantSession {
        session.ended(self.grant(session.handle), reason, now)
    }
}

impl Effects {
    /// Revokes every open grant of a request that ended, and ends its sessions (section 9, rule G-12).
    pub(in crate::decision) fn close_capabilities(&mut self, capabilities: &Capabilities, now: Timestamp) {
        #[cfg(feature = "planted-faults")]
        if crate::planted::Fault::GrantsOutliveRequests.is_planted() {
            return;
        }
        let cause = self.request.state.as_str();
        for grant in &capabilities.grants {
            self.revoke_grant(grant, capabilities, None, cause, now);
        }
    }

    /// Revokes one grant and ends its sessions.
    pub(in crate::decision) fn revoke_grant(
        &mut self,
        grant: &Grant,
        capabilities: &Capabilities,
        reason: Option<&str>,
        cause: &str,
        now: Timestamp,
    ) {
        self.request.open_grants.retain(|handle| *handle != grant.handle);
        let open = |session: &&GrantSession| session.handle == grant.handle && session.is_open();
        for session in capabilities.sessions.iter().filter(open) {
            self.end_session(grant, capabilities.ended(session, SessionEnd::Revoked, now), now);
        }
        let revoked = Grant { revoked_at: Some(now), revoke_reason: reason.map(str::to_owned), ..grant.clone() };
        self.grants.push(revoked);
        self.event(
            EventType::GrantRevoked,
            [("handle", Json::from(grant.handle.to_string())), ("cause", Json::from(cause))],
        );
    }

    /// Keeps a session that ended, and sees to it that its provider hears of it.
    pub(super) fn end_session(&mut self, grant: &Grant, session: GrantSession, now: Timestamp) {
        let provider = Digest::of(grant.capability.provider.as_deref().unwrap_or_default());
        self.timers.push(TimerChange::CloseSession { session: session.session_ref, provider, due: now });
        self.sessions.push(session);
    }

    /// Moves the end of every open grant on: an attempt was armed (rule G-4).
    pub(in crate::decision) fn renew_grants(&mut self, capabilities: &Capabilities, now: Timestamp) {
        let renewed = capabilities
            .grants
            .iter()
            .map(|grant| Grant { expires_at: now.saturating_add(grant.ttl), ..grant.clone() });
        self.grants.extend(renewed);
    }
}
