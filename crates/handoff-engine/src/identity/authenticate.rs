//! From a token to a principal, freshly read at each call (rules P-1 to P-3).

use handoff_protocol::{
    decision::DecisionError,
    id::{PrincipalId, TenantId},
    principal::{AuthStrength, Identity, Principal},
};

use super::{
    documents::{CredentialRecord, PrincipalRecord},
    tokens,
};
use crate::engine::{Engine, SYSTEM};

impl Engine {
    /// The principal that a token authenticates, as it stands now.
    ///
    /// The token is looked up by its digest, so how long this takes tells nothing about any token.
    ///
    /// # Errors
    ///
    /// [`DecisionError::AuthenticationRequired`] without a token; [`DecisionError::InvalidApiKey`] for any token that
    /// authenticates nobody, whatever the reason; [`DecisionError::Internal`] if the store fails, never "invalid".
    pub async fn authenticate(&self, token: Option<&str>) -> Result<Principal, DecisionError> {
        let token = token.ok_or(DecisionError::AuthenticationRequired)?;
        let digest = tokens::digest(token);
        let credential: Option<CredentialRecord> = self.document(SYSTEM, digest.hex()).await?;
        #[cfg(feature = "planted-faults")]
        if credential.is_none() && handoff_protocol::planted::Fault::UnknownTokenToldApart.is_planted() {
            return Err(DecisionError::AuthenticationRequired);
        }
        let credential = credential.ok_or(DecisionError::InvalidApiKey)?;
        let now = self.inner.clock.now();
        if credential.revoked_at.is_some() || credential.expires_at.is_some_and(|expires_at| now >= expires_at) {
            return Err(DecisionError::InvalidApiKey);
        }
        // A bearer token is presented anew with each call, a session was when it began.
        let presented_at = credential.presented_at.unwrap_or(now);
        let mut principal = Principal {
            tenant: credential.tenant,
            identity: match credential.holder {
                Some(PrincipalId::User(id)) => Identity::Human(id),
                Some(PrincipalId::ServiceAccount(id)) => Identity::Machine(id),
                Some(PrincipalId::Org(_)) => return Err(DecisionError::InvalidApiKey),
                None => Identity::Link(digest),
            },
            role: credential.link_role,
            strength: credential.strength,
            reauth_at: (credential.strength >= AuthStrength::Reauth).then_some(presented_at),
            mfa_at: (credential.strength == AuthStrength::Mfa).then_some(presented_at),
            scopes: credential.scopes,
            display: credential.link_display,
            on_behalf_of: credential.on_behalf_of,
            test: credential.test,
        };
        if let Some(holder) = credential.holder {
            let record: PrincipalRecord =
                self.document(TenantId::Org(credential.tenant), holder).await?.ok_or(DecisionError::InvalidApiKey)?;
            if credential.presented_at.is_some() && credential.session_epoch != record.session_epoch {
                return Err(DecisionError::InvalidApiKey);
            }
            record.refresh(&mut principal).ok_or(DecisionError::InvalidApiKey)?;
        }
        Ok(principal)
    }
}
