//! Who acts: a machine, a person, or whoever holds a link.
//!
//! What a principal may do follows from its [`Identity`] first (rule P-4: a machine never answers, whatever its role or
//! scopes), then from scopes for machines' operations and from role and strength for answers.

mod role;
mod scope;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use self::{
    role::{AuthStrength, Role},
    scope::{Scope, Scopes},
};
use crate::{
    digest::Digest,
    duration::ExactDuration,
    id::{OrgId, PrincipalId, ServiceAccountId, UserId},
    timestamp::Timestamp,
};

/// An authenticated caller, as it stands at this moment (rule A-1: never cached from an earlier one).
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Principal {
    /// The tenant that the credential is bound to (rule T-1).
    pub tenant: OrgId,
    /// Who it is.
    pub identity: Identity,
    /// Its role now.
    pub role: Role,
    /// How strongly its credential authenticates at best; [`grade`](Self::grade) says what it is worth at a time.
    pub strength: AuthStrength,
    /// When the credential was last presented again (rule A-5).
    pub reauth_at: Option<Timestamp>,
    /// When a second factor was last presented (rule A-5).
    pub mfa_at: Option<Timestamp>,
    /// What its credential may be used for.
    pub scopes: Scopes,
    /// A name for people to read.
    pub display: Option<String>,
    /// On whose behalf it acts (rule P-6).
    pub on_behalf_of: Option<PrincipalId>,
    /// Whether its credential is for trying things out, by its stored record (section 3).
    pub test: bool,
}

/// For how long a credential or second factor that was presented counts as fresh (rule A-5), in seconds.
pub const FRESH_SECONDS: u64 = 5 * 60;

/// The kind of a principal together with what identifies it.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Identity {
    /// A service account: it asks, waits and redeems, and never answers.
    Machine(ServiceAccountId),
    /// A person.
    Human(UserId),
    /// Whoever holds a link; the digest of the link's token stands in for an identity.
    Link(Digest),
}

/// The kind of a principal, as configuration spells it.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PrincipalKind {
    /// A service account.
    Machine,
    /// A person.
    Human,
    /// An anonymous link.
    AnonymousLink,
}

impl Principal {
    /// The principal's id; a link has none.
    #[must_use]
    pub fn id(&self) -> Option<PrincipalId> {
        self.identity.id()
    }

    /// What stands for this principal in the scope of an idempotency key: its id, or for a link its credential's
    /// digest (rule K-6).
    #[must_use]
    pub fn key_holder(&self) -> String {
        match self.identity {
            Identity::Machine(id) => id.to_string(),
            Identity::Human(id) => id.to_string(),
            Identity::Link(digest) => digest.to_string(),
        }
    }

    /// How strongly it is authenticated at a time, where that decides something.
    ///
    /// A link is worth `link_only`, whatever its credential says (section 3), so a mistake in a configuration does not
    /// make a session of it. `reauth` and `mfa` are worth that much for five minutes after they were presented and a
    /// session afterwards (rule A-5).
    #[must_use]
    pub fn grade(&self, now: Timestamp) -> AuthStrength {
        let fresh = |at: Option<Timestamp>| {
            at.is_some_and(|at| now <= at.saturating_add(ExactDuration::from_seconds(FRESH_SECONDS)))
        };
        match (self.identity, self.strength) {
            (Identity::Link(_), _) | (_, AuthStrength::LinkOnly) => AuthStrength::LinkOnly,
            (_, AuthStrength::Mfa) if fresh(self.mfa_at) => AuthStrength::Mfa,
            (_, AuthStrength::Mfa | AuthStrength::Reauth) if fresh(self.reauth_at) => AuthStrength::Reauth,
            (_, AuthStrength::Session | AuthStrength::Reauth | AuthStrength::Mfa) => AuthStrength::Session,
        }
    }

    /// Whether this is a machine.
    #[must_use]
    pub fn is_machine(&self) -> bool {
        matches!(self.identity, Identity::Machine(_))
    }
}

impl Identity {
    /// The kind.
    #[must_use]
    pub fn kind(&self) -> PrincipalKind {
        match self {
            Self::Machine(_) => PrincipalKind::Machine,
            Self::Human(_) => PrincipalKind::Human,
            Self::Link(_) => PrincipalKind::AnonymousLink,
        }
    }

    /// The id; a link has none.
    #[must_use]
    pub fn id(&self) -> Option<PrincipalId> {
        match self {
            Self::Machine(id) => Some(PrincipalId::ServiceAccount(*id)),
            Self::Human(id) => Some(PrincipalId::User(*id)),
            Self::Link(_) => None,
        }
    }
}
