//! Identity: tenants, people, machines, their credentials, one-time links and sessions.
//!
//! A token is shown once and kept as a digest (rule P-3). What must be found before a tenant is known, which token is
//! whose above all, is kept under the system tenant.

mod authenticate;
mod bootstrap;
mod credentials;
mod deployment;
pub(crate) mod documents;
mod entry;
mod keys;
mod members;
mod sessions;
mod tokens;

use handoff_protocol::id::TenantId;

pub use self::{
    bootstrap::{Bootstrap, Holder},
    credentials::Credential,
    documents::{MemberKind, SigningKeyStatus},
    entry::{Entered, Invitation},
    members::{Member, NewCredential},
};
use crate::{
    engine::Engine,
    entropy::EntropyError,
    store::{Moment, Reads, StoreError},
    transaction::{self, Failure, Halt, Outcome, View},
};

/// How an operation on identities fails.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum IdentityError {
    /// There is no such tenant, person or machine. The caller named one that does not exist.
    #[error("there is no such {0}")]
    NotFound(&'static str),
    /// The link was used, lapsed, or never existed; which of them is not told.
    #[error("this link is no longer valid; ask for a new one")]
    LinkNotValid,
    /// A key of this id is published with another public half.
    #[error("another key is already published under this key id; give the signing key an id of its own")]
    KeyIdTaken,
    /// More than one token of the tenant has a digest that begins like this.
    #[error("more than one key has this fingerprint; give more of its digest")]
    AmbiguousFingerprint,
    /// No token can be minted.
    #[error(transparent)]
    Entropy(#[from] EntropyError),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Engine {
    async fn change<R, F>(&self, tenant: TenantId, step: F) -> Result<R, IdentityError>
    where
        R: Send + 'static,
        F: Fn(&View<'_>, &Moment) -> Result<Outcome<R>, Halt<IdentityError>> + Send + Sync + 'static,
    {
        match transaction::run(self.inner.store.as_ref(), tenant, Reads::none(), step).await {
            Ok(reply) => Ok(reply),
            Err(Failure::Refused(refusal)) => Err(refusal),
            Err(Failure::Store(error)) => Err(IdentityError::Store(error)),
        }
    }
}
