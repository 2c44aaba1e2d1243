//! Amend (R2): the owner mends the wording of the same question. A change of substance is a supersede.

use super::{
    body,
    capability::{BlastRadius, Capability, Declared, GrantSession},
    context::{Context, Policy, check_machine},
    effects::Effects,
    error::DecisionError,
    owner::check_owner,
    prompt,
    request::Request,
    requires::{self, Requires},
    reword::reword,
    terms::CapabilityScope,
    waiter::Waiter,
};
use crate::{
    digest::Digest,
    json::{Json, ObjectReader},
    principal::{Principal, Scope},
};

/// An amendment that can be carried out: present parts replace, absent ones stay.
#[derive(Clone, Debug, PartialEq)]
pub struct Amend {
    digest: Digest,
    prompt: Option<Json>,
    declared: Option<Declared>,
}

impl Amend {
    /// Reads the body of an amendment by a principal, failing closed in the order of rule D-2.
    ///
    /// # Errors
    ///
    /// [`DecisionError::InsufficientScope`], then the contract's code for the first fault of the body.
    pub fn read(principal: &Principal, mut body: Json, policy: &Policy) -> Result<Self, DecisionError> {
        Self::read_from(principal, &mut body, policy)
    }

    /// Reads a body that its caller keeps, with its numbers brought into their stored spelling: whether an amendment that
    /// the configuration refuses now was taken before, under the same key (rule K-6), is told by its body.
    ///
    /// # Errors
    ///
    /// As [`read`](Self::read).
    pub fn read_from(principal: &Principal, body: &mut Json, policy: &Policy) -> Result<Self, DecisionError> {
        check_machine(principal, Scope::RequestsWrite)?;
        if let Some(declared) = body.get("requires").filter(|declared| !declared.is_null()) {
            requires::check_vocabulary(declared)?;
        }
        let digest = body::digest(body)?;
        let reader = ObjectReader::new(body, "")?;
        if let Some(shown) = reader.optional_value("prompt") {
            prompt::check(shown)?;
        }
        let amend = Self {
            digest,
            prompt: reader.optional("prompt").cloned(),
            declared: reader
                .optional("requires")
                .map(|declared| {
                    let parsed = Requires::read(declared)?;
                    parsed.authority.check_quorum(policy)?;
                    Ok::<_, DecisionError>(Declared::new(requires::served(declared.clone()), &parsed))
                })
                .transpose()?,
        };
        reader.finish()?;
        Ok(amend)
    }

    /// What a repeat under the same idempotency key must equal (rule K-5).
    #[must_use]
    pub fn digest(&self) -> Digest {
        self.digest
    }

    /// The capabilities that it asks for.
    #[must_use]
    pub fn capabilities(&self) -> &[Capability] {
        self.declared.as_ref().map(|declared| declared.capabilities.as_slice()).unwrap_or_default()
    }

    /// Whether its providers are still to be asked what its capabilities may touch.
    #[must_use]
    pub fn needs_blast_radii(&self) -> bool {
        self.declared.as_ref().is_some_and(Declared::needs_blast_radii)
    }

    /// Says what each capability may touch, in their order: what their providers said just now (rule G-5).
    #[must_use]
    pub fn with_blast_radii(mut self, blast_radii: Vec<BlastRadius>) -> Self {
        if let Some(declared) = &mut self.declared {
            declared.blast_radii = blast_radii;
        }
        self
    }
}

/// Checks that a request can be amended by a principal at all, before anybody is asked for its sake.
///
/// Somebody began to answer (section 11) who gave something, whose answer a delivery tells of (R2), or who is acting in a
/// session under a grant right now: an amendment would change the question under their hands, and could take away what
/// they hold. Who only looks does not answer yet.
///
/// # Errors
///
/// As [`amend`], but for the body.
pub fn check_amendable(
    pending: &Request,
    principal: &Principal,
    waiter: &Waiter,
    context: &Context<'_>,
) -> Result<(), DecisionError> {
    check_owner(pending, principal, waiter)?;
    pending.check_pending()?;
    let is_acting =
        |session: &GrantSession| session.is_live(context.now) && session.scopes.contains(&CapabilityScope::Drive);
    if pending.is_in_progress() || context.capabilities.sessions.iter().any(is_acting) {
        return Err(DecisionError::RequestInProgress { request_id: pending.id });
    }
    Ok(())
}

/// Amends a pending request (R2). An empty amendment changes nothing, not even the version.
///
/// # Errors
///
/// [`DecisionError::InsufficientScope`] for whoever never raised under the request's waiter; the settled conflict of a
/// request that ended; [`DecisionError::RequestInProgress`] once somebody began to answer;
/// [`DecisionError::InvalidRequest`] if the declared default answer could no longer settle the request.
pub fn amend(
    pending: &Request,
    amend: &Amend,
    principal: &Principal,
    waiter: &Waiter,
    context: &mut Context<'_>,
) -> Result<Effects, DecisionError> {
    check_amendable(pending, principal, waiter, context)?;
    if amend.prompt.is_none() && amend.declared.is_none() {
        return Ok(Effects::of(pending.clone()));
    }
    reword(pending, amend.prompt.as_ref(), amend.declared.as_ref(), "amended", context)
}
