//! Resolving: a person opens a session under a grant (rules G-7, G-8).

use super::{Capabilities, Grant, GrantSession};
use crate::{
    decision::{
        body,
        context::{Context, check_person},
        effects::{Effects, EventType, TimerChange},
        error::DecisionError,
        limits,
        request::Request,
        terms::CapabilityScope,
    },
    digest::{AnyDigest, Digest},
    json::{Json, ObjectReader},
    principal::Principal,
};

/// A resolve that can be carried out.
#[derive(Clone, Debug, PartialEq)]
pub struct Resolve {
    digest: Digest,
    scopes: Vec<CapabilityScope>,
    accepted: AnyDigest,
    constraints: Option<Json>,
}

impl Resolve {
    /// Reads the body of a resolve by a principal.
    ///
    /// # Errors
    ///
    /// [`DecisionError::RequesterMayNotAnswer`] for a machine (rule P-5), [`DecisionError::InsufficientScope`] for a
    /// link, then [`DecisionError::InvalidRequest`].
    pub fn read(principal: &Principal, mut body: Json) -> Result<Self, DecisionError> {
        check_person(principal)?;
        let digest = body::digest(&mut body)?;
        let reader = ObjectReader::new(&body, "")?;
        let array = reader.array("scopes")?;
        array.count_within(1, CapabilityScope::ALL.len())?;
        let mut scopes = array.items().map(|item| item.choice(CapabilityScope::ALL)).collect::<Result<Vec<_>, _>>()?;
        scopes.sort_unstable();
        scopes.dedup();
        let name = "accepted_blast_radius_digest";
        let accepted = AnyDigest::parse(reader.string(name)?)
            .map_err(|error| reader.error(name, format!("is not a digest: {error}")))?;
        let constraints = reader.optional_object("constraints")?.map(|object| Json::Object(object.json().clone()));
        reader.finish()?;
        Ok(Self { digest, scopes, accepted, constraints })
    }

    /// What a repeat under the same idempotency key must equal (rule K-5).
    #[must_use]
    pub fn digest(&self) -> Digest {
        self.digest
    }
}

/// Opens a session under a grant, and binds the grant to its person: rule G-7 in its order. Only success binds.
///
/// # Errors
///
/// The settled conflict of a request that ended; [`DecisionError::CapabilityNotFound`] for a grant that was revoked;
/// [`DecisionError::CapabilityExpired`]; [`DecisionError::InsufficientAuthority`]; [`DecisionError::GrantAlreadyHeld`];
/// [`DecisionError::BlastRadiusMismatch`]. None of them has an effect.
pub fn resolve(
    pending: &Request,
    grant: &Grant,
    resolve: &Resolve,
    principal: &Principal,
    context: &mut Context<'_>,
) -> Result<(Effects, GrantSession), DecisionError> {
    let now = context.now;
    pending.check_pending()?;
    grant.check_open(now)?;
    for scope in &resolve.scopes {
        grant.check_scope(*scope, principal)?;
    }
    grant.check_holder(principal)?;
    let differs = resolve.accepted.as_str() != grant.blast_radius_digest.to_string();
    #[cfg(feature = "planted-faults")]
    let differs = differs && !crate::planted::Fault::BlastRadiusUnchecked.is_planted();
    if differs {
        return Err(DecisionError::BlastRadiusMismatch { request_id: pending.id });
    }
    if grant.sessions >= limits::GRANT_SESSIONS {
        return Err(DecisionError::invalid(
            "handle",
            "has had as many sessions as a grant may have; ask for a new one",
        ));
    }
    let principal_id = principal.id().ok_or(DecisionError::Internal)?;
    let session = GrantSession {
        session_ref: context.mint.unguessable(),
        handle: grant.handle,
        request_id: pending.id,
        principal_id,
        role_at_grant: principal.role,
        scopes: resolve.scopes.clone(),
        constraints: resolve.constraints.clone(),
        blast_radius_digest: grant.blast_radius_digest,
        resolved_at: now,
        lease_until: GrantSession::lease(grant, now),
        released_at: None,
        close_reason: None,
        usage: None,
    };
    let mut effects = Effects::of(pending.clone());
    effects.grants.push(Grant {
        bound_principal_id: grant.bound_principal_id.or(Some(principal_id)),
        sessions: grant.sessions.saturating_add(1),
        ..grant.clone()
    });
    let scopes: Vec<Json> = session.scopes.iter().map(|scope| Json::from(scope.as_str())).collect();
    effects.event(
        EventType::GrantResolved,
        [
            ("handle", Json::from(grant.handle.to_string())),
            ("principal_id", Json::from(principal_id.to_string())),
            ("scopes", Json::from(scopes)),
        ],
    );
    effects.timers.push(TimerChange::SetSession(session.session_ref, session.lease_until));
    effects.sessions.push(session.clone());
    Ok((effects, session))
}

/// Finds the session of a resolve that is repeated under its key: the same session, if it may be used still. Its address
/// is a new one (rule K-9).
///
/// # Errors
///
/// As [`resolve()`] and [`renew()`](super::renew()) refuse.
pub fn reopen<'s>(
    pending: &Request,
    grant: &Grant,
    session: &'s GrantSession,
    principal: &Principal,
    context: &Context<'_>,
) -> Result<&'s GrantSession, DecisionError> {
    super::renew::check(pending, grant, session, principal, context.now)?;
    Ok(session)
}

impl Capabilities {
    /// The session of a name.
    #[must_use]
    pub fn session(&self, session_ref: crate::id::SessionRef) -> Option<&GrantSession> {
        self.sessions.iter().find(|session| session.session_ref == session_ref)
    }
}
