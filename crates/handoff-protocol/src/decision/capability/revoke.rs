//! Revoking: a person takes a grant back (rule G-12).

use super::Grant;
use crate::{
    decision::{
        context::{Context, check_person},
        effects::Effects,
        error::DecisionError,
        limits,
        request::Request,
    },
    json::{Json, ObjectReader},
    principal::Principal,
};

/// A revocation that can be carried out.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Revoke {
    reason: Option<String>,
}

impl Revoke {
    /// Reads the body of a revocation by a principal; an empty one gives no reason.
    ///
    /// # Errors
    ///
    /// [`DecisionError::RequesterMayNotAnswer`] for a machine (rule P-5), [`DecisionError::InsufficientScope`] for a
    /// link, then [`DecisionError::InvalidRequest`].
    pub fn read(principal: &Principal, body: &Json) -> Result<Self, DecisionError> {
        check_person(principal)?;
        let reader = ObjectReader::new(body, "")?;
        let reason = reader.optional_text("reason", 0, limits::REASON_CHARS)?.map(str::to_owned);
        reader.finish()?;
        Ok(Self { reason })
    }
}

/// Revokes one grant and ends its sessions; a grant that was revoked stays as it is (rule K-8).
///
/// Whoever holds the grant may, and whoever could: nobody else's session is ended by a person who could not open one.
///
/// # Errors
///
/// [`DecisionError::InsufficientAuthority`].
pub fn revoke(
    request: &Request,
    grant: &Grant,
    revoke: &Revoke,
    principal: &Principal,
    context: &Context<'_>,
) -> Result<Effects, DecisionError> {
    let holds = grant.bound_principal_id.is_some() && grant.bound_principal_id == principal.id();
    if !holds {
        grant.check_scope(grant.capability.scope, principal)?;
    }
    let mut effects = Effects::of(request.clone());
    if grant.revoked_at.is_none() {
        effects.revoke_grant(grant, context.capabilities, revoke.reason.as_deref(), "revoked", context.now);
    }
    Ok(effects)
}
