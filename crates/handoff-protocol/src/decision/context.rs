//! What a transition is given besides the state and the command.

use std::sync::Arc;

use super::{
    error::{DecisionError, MissingScope},
    limits,
    schemas::{NoSchemas, Schemas},
};
use crate::{
    duration::ExactDuration,
    id::Mint,
    principal::{Principal, Scope},
    timestamp::Timestamp,
};

/// The moment at which a transition runs, the ids that it may mint, and what the deployment chose.
#[derive(Debug)]
pub struct Context<'a> {
    /// The time, read once for the whole transaction (rule B-5).
    pub now: Timestamp,
    /// Where fresh ids come from.
    pub mint: &'a mut Mint,
    /// What the deployment chose.
    pub policy: &'a Policy,
}

/// What a deployment chooses.
#[derive(Clone, Debug)]
pub struct Policy {
    /// Whether a link alone may answer (rule A-6).
    pub link_only_permitted: bool,
    /// The largest quorum that a request may ask for (rule A-8).
    pub max_quorum: u64,
    /// How long an authorization can be redeemed (rule Z-1).
    pub authorization_ttl: ExactDuration,
    /// How long a repeat under an idempotency key is recognized (section 4).
    pub idempotency_ttl: ExactDuration,
    /// The JSON Schemas that documents are checked against.
    pub schemas: Arc<dyn Schemas>,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            link_only_permitted: false,
            max_quorum: limits::MAX_QUORUM,
            authorization_ttl: ExactDuration::from_seconds(limits::AUTHORIZATION_TTL_SECONDS),
            idempotency_ttl: ExactDuration::from_seconds(limits::IDEMPOTENCY_TTL_SECONDS),
            schemas: Arc::new(NoSchemas),
        }
    }
}

/// Checks that the principal's credential carries a scope (section 3).
///
/// # Errors
///
/// [`DecisionError::InsufficientScope`]; links answer and do nothing else.
pub fn check_scope(principal: &Principal, scope: Scope) -> Result<(), DecisionError> {
    if principal.id().is_none() {
        return Err(DecisionError::InsufficientScope(MissingScope::NotForLinks));
    }
    if principal.scopes.allow(scope) {
        return Ok(());
    }
    Err(DecisionError::InsufficientScope(MissingScope::Scope(scope)))
}

/// Checks that the principal is a machine whose credential carries a scope (rule P-8).
///
/// # Errors
///
/// [`DecisionError::InsufficientScope`].
pub fn check_machine(principal: &Principal, scope: Scope) -> Result<(), DecisionError> {
    if !principal.is_machine() {
        return Err(DecisionError::InsufficientScope(MissingScope::MachineOnly));
    }
    check_scope(principal, scope)
}
