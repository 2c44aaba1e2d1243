//! Grants: one a declared capability, minted with the request (rules G-1 to G-6).

use serde::{Deserialize, Serialize};

use super::{BlastRadius, Capability, Declared};
use crate::{
    decision::{
        context::Context,
        error::{DecisionError, Lacking},
        tenant_policy::CapabilityLimits,
        terms::CapabilityScope,
    },
    digest::Digest,
    duration::ExactDuration,
    id::{GrantHandle, PrincipalId, RequestId},
    json::Json,
    principal::{Principal, Role},
    timestamp::Timestamp,
};

/// The right to open sessions on one resource for one request. It carries no address (rule G-2).
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Grant {
    /// Its name, drawn at random.
    pub handle: GrantHandle,
    /// The request that it belongs to.
    pub request_id: RequestId,
    /// What was declared.
    pub capability: Capability,
    /// What using it may touch, as its provider said when it was minted.
    pub blast_radius: BlastRadius,
    /// The digest of that, which a person accepts.
    pub blast_radius_digest: Digest,
    /// How long it lives from each arming of the attempt.
    pub ttl: ExactDuration,
    /// How long the leases of its sessions last, where its tenant's policy says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_lease: Option<ExactDuration>,
    /// Until when it can be used; each arming of the attempt moves it on (rule G-4).
    pub expires_at: Timestamp,
    /// When it was revoked, by a person or by the end of its request.
    pub revoked_at: Option<Timestamp>,
    /// Why, in the words of whoever revoked it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revoke_reason: Option<String>,
    /// How many people may hold it.
    pub max_holders: u32,
    /// The first person who opened a session: nobody else can any more (rule G-13).
    pub bound_principal_id: Option<PrincipalId>,
    /// How many sessions were opened.
    pub sessions: u32,
}

impl Grant {
    /// Whether it can be read at all: what expired cannot, what was revoked says so (rule G-6).
    ///
    /// # Errors
    ///
    /// [`DecisionError::CapabilityExpired`].
    pub fn check_readable(&self, now: Timestamp) -> Result<(), DecisionError> {
        if self.revoked_at.is_none() && now >= self.expires_at {
            return Err(self.expired());
        }
        Ok(())
    }

    /// Refuses a grant that was revoked or whose time is over (rule G-7, steps 2 and 3).
    pub(super) fn check_open(&self, now: Timestamp) -> Result<(), DecisionError> {
        let is_revoked = self.revoked_at.is_some();
        #[cfg(feature = "planted-faults")]
        let is_revoked = is_revoked && !crate::planted::Fault::RevokedGrantResolves.is_planted();
        if is_revoked {
            return Err(DecisionError::CapabilityNotFound);
        }
        self.check_readable(now)
    }

    /// Refuses a person whose role is too low for a scope, or a scope beyond the grant's own (rule G-7, step 4).
    pub(super) fn check_scope(&self, scope: CapabilityScope, principal: &Principal) -> Result<(), DecisionError> {
        let refuse = |lacking| Err(DecisionError::InsufficientAuthority { request_id: self.request_id, lacking });
        if scope > self.capability.scope {
            return refuse(Lacking::Scope(scope));
        }
        let needed = role_for(scope);
        #[cfg(feature = "planted-faults")]
        let needed = if crate::planted::Fault::ViewersDrive.is_planted() { Role::Viewer } else { needed };
        if principal.role < needed { refuse(Lacking::Role(needed)) } else { Ok(()) }
    }

    /// Refuses whoever comes after the person that holds it (rule G-7, step 5).
    pub(super) fn check_holder(&self, principal: &Principal) -> Result<(), DecisionError> {
        let held_by_another = self.bound_principal_id.is_some() && self.bound_principal_id != principal.id();
        #[cfg(feature = "planted-faults")]
        let held_by_another = held_by_another && !crate::planted::Fault::HeldGrantResolves.is_planted();
        if held_by_another && self.max_holders <= 1 {
            return Err(DecisionError::GrantAlreadyHeld { request_id: self.request_id });
        }
        Ok(())
    }

    fn expired(&self) -> DecisionError {
        DecisionError::CapabilityExpired { request_id: self.request_id, expired_at: self.expires_at }
    }
}

/// The role that a scope needs (rule G-7): to look, any; to act as every account that the resource holds, the highest.
const fn role_for(scope: CapabilityScope) -> Role {
    match scope {
        CapabilityScope::View => Role::Viewer,
        CapabilityScope::Drive => Role::Admin,
    }
}

/// What a declaration comes to: what is served of it, the grants that it keeps, and those that it mints.
#[derive(Debug)]
pub(in crate::decision) struct Granted {
    /// The declaration with handles and digests (rule D-7).
    pub(in crate::decision) requires: Json,
    /// The handles of all its grants, in declared order.
    pub(in crate::decision) open: Vec<GrantHandle>,
    /// The grants that are new.
    pub(in crate::decision) minted: Vec<Grant>,
}

/// Grants what a declaration asks for: a grant that is there and fits is kept, and any other capability gets a new one
/// (rules G-1, R2).
///
/// # Errors
///
/// [`DecisionError::InvalidRequest`] names the first capability that goes beyond what the tenant's policy accepts;
/// [`DecisionError::Internal`] if the providers were not asked for every capability.
pub(in crate::decision) fn granted(
    declared: &Declared,
    there: &[Grant],
    request_id: RequestId,
    attempt_ttl: ExactDuration,
    limits: &CapabilityLimits,
    context: &mut Context<'_>,
) -> Result<Granted, DecisionError> {
    if declared.capabilities.len() != declared.blast_radii.len() {
        return Err(DecisionError::Internal);
    }
    let mut granted = Granted { requires: declared.json.clone(), open: Vec::new(), minted: Vec::new() };
    let mut digests = Vec::new();
    for (place, (capability, blast_radius)) in declared.capabilities.iter().zip(&declared.blast_radii).enumerate() {
        limits.check(place, capability, blast_radius)?;
        let digest = blast_radius.digest();
        let fits = |grant: &&Grant| {
            grant.revoked_at.is_none() && grant.capability == *capability && grant.blast_radius_digest == digest
        };
        let kept = there.iter().filter(fits).find(|grant| !granted.open.contains(&grant.handle));
        let handle = kept.map_or_else(|| context.mint.unguessable(), |grant| grant.handle);
        #[cfg(feature = "planted-faults")]
        let handle = clients_handle(&declared.json, place).unwrap_or(handle);
        if kept.is_none() {
            let ttl = limits.grant_ttl(capability.ttl, attempt_ttl);
            granted.minted.push(Grant {
                handle,
                request_id,
                capability: capability.clone(),
                blast_radius: blast_radius.clone(),
                blast_radius_digest: digest,
                ttl,
                session_lease: limits.session_lease,
                expires_at: context.now.saturating_add(ttl),
                revoked_at: None,
                revoke_reason: None,
                max_holders: 1,
                bound_principal_id: None,
                sessions: 0,
            });
        }
        granted.open.push(handle);
        digests.push(digest);
    }
    if let Some(Json::Array(items)) = granted.requires.as_object_mut().and_then(|all| all.get_mut("capabilities")) {
        for ((item, handle), digest) in items.iter_mut().zip(&granted.open).zip(&digests) {
            if let Some(members) = item.as_object_mut() {
                members.insert("handle", handle.to_string());
                members.insert("blast_radius_digest", digest.to_string());
            }
        }
    }
    Ok(granted)
}

/// The handle that a client wrote, where it could be one.
#[cfg(feature = "planted-faults")]
fn clients_handle(declared: &Json, place: usize) -> Option<GrantHandle> {
    let written = declared.get("capabilities")?.as_array()?.get(place)?.get("handle")?.as_str()?;
    GrantHandle::parse(written).ok().filter(|_| crate::planted::Fault::ClientHandleKept.is_planted())
}

impl CapabilityLimits {
    /// Refuses what goes beyond these limits: a longer time than grants may have, a wider blast radius than is accepted.
    fn check(&self, place: usize, capability: &Capability, blast_radius: &BlastRadius) -> Result<(), DecisionError> {
        if let (Some(asked), Some(most)) = (capability.ttl, self.grant_ttl)
            && asked > most
        {
            let problem = format!("must be at most {most}, which this tenant's policy allows");
            return Err(DecisionError::invalid(format!("requires.capabilities[{place}].ttl"), problem));
        }
        match self.max_shared_with {
            Some(most) if blast_radius.shared_with > most => Err(DecisionError::invalid(
                format!("requires.capabilities[{place}]"),
                format!(
                    "must name a resource that is shared with `{}` at the most, by this tenant's policy; its provider \
                     says that this one is shared with `{}`",
                    most.as_str(),
                    blast_radius.shared_with.as_str()
                ),
            )),
            _ => Ok(()),
        }
    }

    /// How long a grant lives (rule G-4): as declared, otherwise as an attempt, and never beyond the limit.
    fn grant_ttl(&self, declared: Option<ExactDuration>, attempt_ttl: ExactDuration) -> ExactDuration {
        let ttl = declared.unwrap_or(attempt_ttl);
        self.grant_ttl.map_or(ttl, |most| ttl.min(most))
    }
}
