//! Published keys: what anyone needs to check a receipt's signature (rule E-13).

use handoff_protocol::signature::{Jwks, PublicKey};

use super::{
    IdentityError,
    documents::{SIGNING_KEYS, SigningKeyStatus},
};
use crate::{
    decision::apply::Writes,
    engine::{Engine, SYSTEM},
    transaction::{Halt, Outcome},
};

impl Engine {
    /// Publishes a key. Repeating it is harmless.
    ///
    /// # Errors
    ///
    /// [`IdentityError::KeyIdTaken`] if its id is published with another public half.
    pub(crate) async fn publish_key(&self, key: &PublicKey) -> Result<(), IdentityError> {
        let (kid, jwk) = (key.kid().to_owned(), key.to_jwk());
        self.change(SYSTEM, move |view, moment| {
            if let Some(kept) = view.get::<SigningKeyStatus, _>(&kid)? {
                return if kept.document.jwk.x == jwk.x {
                    Ok(Outcome::Nothing(()))
                } else {
                    Err(Halt::Refuse(IdentityError::KeyIdTaken))
                };
            }
            let status = SigningKeyStatus { jwk: jwk.clone(), created_at: moment.now };
            let mut writes = Writes::default();
            writes.put(None, &status).map_err(Halt::Broken)?;
            Ok(Outcome::Write(writes.finish(&view.mint()), ()))
        })
        .await
    }

    /// Marks a key as no longer signing. It stays published, and what it signed stays valid. Repeating it is harmless.
    ///
    /// # Errors
    ///
    /// [`IdentityError::NotFound`].
    pub async fn retire_key(&self, kid: &str) -> Result<(), IdentityError> {
        let kid = kid.to_owned();
        self.change(SYSTEM, move |view, moment| {
            let kept = view.get::<SigningKeyStatus, _>(&kid)?.ok_or(IdentityError::NotFound("signing key"))?;
            if kept.document.jwk.retired_at.is_some() {
                return Ok(Outcome::Nothing(()));
            }
            let mut status = kept.document.clone();
            status.jwk.retired_at = Some(moment.now);
            let mut writes = Writes::default();
            writes.put(Some(&kept), &status).map_err(Halt::Broken)?;
            Ok(Outcome::Write(writes.finish(&view.mint()), ()))
        })
        .await
    }

    /// Every key that ever signed, with what became of it.
    ///
    /// # Errors
    ///
    /// If the store fails.
    pub async fn signing_keys(&self) -> Result<Vec<SigningKeyStatus>, IdentityError> {
        self.everything(SYSTEM, SIGNING_KEYS).await
    }

    /// The key set as it is published, retired keys included.
    ///
    /// # Errors
    ///
    /// If the store fails.
    pub async fn key_set(&self) -> Result<Jwks, IdentityError> {
        Ok(Jwks { keys: self.signing_keys().await?.into_iter().map(|status| status.jwk).collect() })
    }
}
