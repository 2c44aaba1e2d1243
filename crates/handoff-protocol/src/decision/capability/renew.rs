//! Renewing, releasing and lapsing of sessions (rules G-10, G-11).

use super::{Grant, GrantSession, Usage};
use crate::{
    decision::{
        context::Context,
        effects::{Effects, Fired, TimerChange},
        error::DecisionError,
        request::Request,
        terms::SessionEnd,
    },
    principal::Principal,
    timestamp::Timestamp,
};

/// Renews a session's lease (rule G-10): everything that could have changed since is looked at again.
///
/// # Errors
///
/// The settled conflict of a request that ended; [`DecisionError::CapabilityNotFound`] for a grant that was revoked and
/// for a session that is not this person's or that ended; [`DecisionError::CapabilityExpired`];
/// [`DecisionError::GrantAlreadyHeld`]; [`DecisionError::InsufficientAuthority`].
pub fn renew(
    pending: &Request,
    grant: &Grant,
    session: &GrantSession,
    principal: &Principal,
    usage: Option<Usage>,
    context: &Context<'_>,
) -> Result<(Effects, GrantSession), DecisionError> {
    check(pending, grant, session, principal, context.now)?;
    let renewed = GrantSession {
        lease_until: GrantSession::lease(grant, context.now),
        usage: usage.or_else(|| session.usage.clone()),
        ..session.clone()
    };
    let mut effects = Effects::of(pending.clone());
    effects.timers.push(TimerChange::SetSession(renewed.session_ref, renewed.lease_until));
    effects.sessions.push(renewed.clone());
    Ok((effects, renewed))
}

/// Ends a session of this person; one that ended stays as it is (rules G-10, K-8).
///
/// # Errors
///
/// [`DecisionError::CapabilityNotFound`] for a session of somebody else.
pub fn release(
    request: &Request,
    grant: &Grant,
    session: &GrantSession,
    principal: &Principal,
    usage: Option<Usage>,
    context: &Context<'_>,
) -> Result<Effects, DecisionError> {
    if principal.id() != Some(session.principal_id) || session.handle != grant.handle {
        return Err(DecisionError::CapabilityNotFound);
    }
    let mut effects = Effects::of(request.clone());
    if session.is_open() {
        let ended = session.ended(Some(grant), SessionEnd::Released, context.now);
        effects.end_session(grant, GrantSession { usage: usage.or(ended.usage), ..ended }, context.now);
    }
    Ok(effects)
}

/// Ends a session whose lease or whose grant ran out (rule G-11). Repeating this is harmless.
pub fn lapse_session(request: &Request, grant: &Grant, session: &GrantSession, now: Timestamp) -> Fired {
    if !session.is_open() {
        return Fired::NotDue { again: None };
    }
    if now < session.lease_until {
        return Fired::NotDue { again: Some(session.lease_until) };
    }
    let mut effects = Effects::of(request.clone());
    effects.end_session(grant, session.ended(Some(grant), SessionEnd::LeaseLapsed, now), now);
    Fired::Acted(Box::new(effects))
}

/// Whether a session may be used, by this person, now.
pub(super) fn check(
    pending: &Request,
    grant: &Grant,
    session: &GrantSession,
    principal: &Principal,
    now: Timestamp,
) -> Result<(), DecisionError> {
    pending.check_pending()?;
    grant.check_open(now)?;
    let own = principal.id() == Some(session.principal_id) && session.handle == grant.handle;
    if !own || !session.is_live(now) {
        return Err(DecisionError::CapabilityNotFound);
    }
    grant.check_holder(principal)?;
    session.scopes.iter().try_for_each(|scope| grant.check_scope(*scope, principal))
}
