//! Authorizations: one answer, one effect.

use handoff_protocol::{
    decision::view::{AuthorizationView, RedeemResult},
    id::AuthorizationId,
    json::{Json, Object},
};

use crate::{address::path, call::Call, client::Client, error::ClientError};

impl Client {
    /// An authorization, worth what it is worth now.
    ///
    /// # Errors
    ///
    /// [`ClientError`].
    pub async fn authorization(&self, id: AuthorizationId) -> Result<AuthorizationView, ClientError> {
        self.call(Call::get(path(&["authorizations", &id.to_string()])?)).await
    }

    /// Redeems an authorization for one effect. Only when `first_redemption` is true may the effect happen.
    ///
    /// Repeating it for the same effect is harmless and returns the first time; another effect is refused with
    /// `authorization_spent` (rule Z-4).
    ///
    /// # Errors
    ///
    /// [`ClientError`].
    pub async fn redeem(
        &self,
        id: AuthorizationId,
        effect_key: &str,
        effect_digest: Option<&str>,
    ) -> Result<RedeemResult, ClientError> {
        let mut body = Object::new();
        body.insert("effect_key", effect_key);
        if let Some(digest) = effect_digest {
            body.insert("effect_digest", digest);
        }
        self.call(Call::post(path(&["authorizations", &id.to_string(), "redeem"])?, &Json::from(body))).await
    }
}
