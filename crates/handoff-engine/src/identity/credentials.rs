//! The tokens of a tenant, as whoever runs the server sees them: never the token, only the beginning of its digest.

use handoff_protocol::{
    id::{OrgId, PrincipalId},
    timestamp::Timestamp,
};

use super::{
    IdentityError,
    documents::{CREDENTIALS, CredentialRecord, credentials_of},
};
use crate::engine::{Engine, SYSTEM};

/// How many hexadecimal digits of a digest tell a tenant's tokens apart, and how many a revocation asks for.
const FINGERPRINT_DIGITS: usize = 12;

/// A bearer token, by what is kept of it (rule P-3).
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Credential {
    /// The first twelve hexadecimal digits of the token's SHA-256 digest.
    pub fingerprint: String,
    /// Whose it is; none for an anonymous link.
    pub holder: Option<PrincipalId>,
    /// The name of an anonymous link; none for the tokens of a member, who has a name.
    pub display: Option<String>,
    /// Whether it is for trying things out.
    pub test: bool,
    /// When it was issued.
    pub created_at: Timestamp,
    /// Until when it is valid; none for until revoked.
    pub expires_at: Option<Timestamp>,
    /// Since when it is worth nothing.
    pub revoked_at: Option<Timestamp>,
}

impl Engine {
    /// Every bearer token that a tenant has or had, sessions aside.
    ///
    /// # Errors
    ///
    /// If the store fails.
    pub async fn credentials(&self, tenant: OrgId) -> Result<Vec<Credential>, IdentityError> {
        let mut found: Vec<Credential> =
            self.credential_records(tenant).await?.into_iter().map(Credential::from).collect();
        found.sort_by(|one, other| (one.created_at, &one.fingerprint).cmp(&(other.created_at, &other.fingerprint)));
        Ok(found)
    }

    /// Makes a token worthless at once, found by the beginning of its digest: twelve digits of it or more. Repeating it
    /// is harmless.
    ///
    /// # Errors
    ///
    /// [`IdentityError::NotFound`] if no token of the tenant has this fingerprint,
    /// [`IdentityError::AmbiguousFingerprint`] if several have.
    pub async fn revoke_credential(&self, tenant: OrgId, fingerprint: &str) -> Result<(), IdentityError> {
        let wanted = fingerprint.to_ascii_lowercase();
        if wanted.len() < FINGERPRINT_DIGITS {
            return Err(IdentityError::NotFound("key"));
        }
        let mut records = self.credential_records(tenant).await?;
        records.retain(|record| record.digest.hex().starts_with(&wanted));
        match records.as_slice() {
            [] => Err(IdentityError::NotFound("key")),
            [only] => self.revoke_digest(only.digest).await,
            _ => Err(IdentityError::AmbiguousFingerprint),
        }
    }

    async fn credential_records(&self, tenant: OrgId) -> Result<Vec<CredentialRecord>, IdentityError> {
        self.everything_under(SYSTEM, CREDENTIALS, credentials_of(tenant)).await
    }
}

impl From<CredentialRecord> for Credential {
    fn from(record: CredentialRecord) -> Self {
        Self {
            fingerprint: record.digest.hex().chars().take(FINGERPRINT_DIGITS).collect(),
            holder: record.holder,
            display: record.link_display,
            test: record.test,
            created_at: record.created_at,
            expires_at: record.expires_at,
            revoked_at: record.revoked_at,
        }
    }
}
