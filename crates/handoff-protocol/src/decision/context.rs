//! What a transition is given besides the state and the command.

use std::sync::Arc;

use super::{
    callback::CallbackPolicy,
    capability::Capabilities,
    channels::Channels,
    directory::Directory,
    error::{DecisionError, MissingScope},
    limits,
    routing::Routing,
    schemas::{NoSchemas, Schemas},
    tenant_policy::VersionedPolicy,
};
use crate::{
    continuation::Keyring,
    duration::ExactDuration,
    id::Mint,
    principal::{Principal, PrincipalKind, Scope},
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
    /// The grants and sessions of the request that the transition is about.
    pub capabilities: &'a Capabilities,
}

/// What a deployment chooses, and what it knows of the tenant that a transition is about.
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
    /// What each channel can do.
    pub channels: Arc<Channels>,
    /// The ladder of requests where neither they nor their tenant's policy say anything (rule V-10).
    pub ladder: Arc<Routing>,
    /// By how much an escalation puts the deadline off (rule CL-6).
    pub escalation_extension: ExactDuration,
    /// The people of the tenant, as they are now.
    pub directory: Arc<Directory>,
    /// The policy of the tenant, which holds for raises (section 24).
    pub tenant: Option<Arc<VersionedPolicy>>,
    /// Where signals are pushed, and who signs (section 19).
    pub callbacks: CallbackPolicy,
    /// What continuation data is sealed with; without it there is none (rule L-4).
    pub continuation: Option<Arc<Keyring>>,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            link_only_permitted: false,
            max_quorum: limits::MAX_QUORUM,
            authorization_ttl: ExactDuration::from_seconds(limits::AUTHORIZATION_TTL_SECONDS),
            idempotency_ttl: ExactDuration::from_seconds(limits::IDEMPOTENCY_TTL_SECONDS),
            schemas: Arc::new(NoSchemas),
            channels: Arc::new(Channels::default()),
            ladder: Arc::new(Routing::starter()),
            escalation_extension: ExactDuration::from_seconds(limits::ESCALATION_SECONDS),
            directory: Arc::new(Directory::default()),
            tenant: None,
            callbacks: CallbackPolicy::default(),
            continuation: None,
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
    #[cfg(feature = "planted-faults")]
    if crate::planted::Fault::ScopesUnchecked.is_planted() {
        return Ok(());
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
    #[cfg(feature = "planted-faults")]
    if crate::planted::Fault::PeopleMayRaiseAndRedeem.is_planted() {
        return check_scope(principal, scope);
    }
    if !principal.is_machine() {
        return Err(DecisionError::InsufficientScope(MissingScope::MachineOnly));
    }
    check_scope(principal, scope)
}

/// Checks that the principal is a person (rule P-5): capabilities and sinks are for people, by role and never by scope.
///
/// # Errors
///
/// [`DecisionError::RequesterMayNotAnswer`] for a machine, [`DecisionError::InsufficientScope`] for a link.
pub fn check_person(principal: &Principal) -> Result<(), DecisionError> {
    match principal.identity.kind() {
        PrincipalKind::Human => Ok(()),
        #[cfg(feature = "planted-faults")]
        PrincipalKind::Machine if crate::planted::Fault::MachineReadsGrants.is_planted() => Ok(()),
        PrincipalKind::Machine => Err(DecisionError::RequesterMayNotAnswer { request_id: None }),
        PrincipalKind::AnonymousLink => Err(DecisionError::InsufficientScope(MissingScope::NotForLinks)),
    }
}
