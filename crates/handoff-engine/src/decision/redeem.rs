//! Redeeming an authorization.

use handoff_protocol::{
    decision::{Authorization, DecisionError, Redeem, Redeemed, redeem, view::RedeemResult},
    id::AuthorizationId,
    json::Json,
    principal::Principal,
};

use super::{apply::Writes, keys, tenant_of};
use crate::{
    engine::Engine,
    store::{Reads, RecordKey},
    transaction::{Halt, Outcome},
};

impl Engine {
    /// Spends an authorization on an effect. Of any number of callers one gets `first_redemption: true`; only that one
    /// may let the effect happen. Repeating it for the same effect is harmless.
    ///
    /// # Errors
    ///
    /// [`DecisionError`]: the codes of `POST /authorizations/{id}/redeem`.
    pub async fn redeem(
        &self,
        principal: &Principal,
        id: AuthorizationId,
        body: &Json,
    ) -> Result<RedeemResult, DecisionError> {
        let command = Redeem::read(principal, body)?;
        let reads = Reads::none().record(RecordKey::new(keys::AUTHORIZATION, id));
        let asker = principal.clone();
        #[cfg(feature = "planted-faults")]
        let early = self.authorization_early(tenant_of(principal), id).await?;
        self.decide(tenant_of(principal), reads, move |view, moment| {
            let kept = view.get::<Authorization, _>(id)?.ok_or(DecisionError::AuthorizationNotFound)?;
            #[cfg(feature = "planted-faults")]
            let kept = early
                .clone()
                .map_or_else(|| kept.clone(), |document| crate::document::Kept { document, ..kept.clone() });
            match redeem(&kept.document, &command, &asker, moment.now)? {
                Redeemed::Repeat { redeemed_at } => {
                    Ok(Outcome::Nothing(RedeemResult { redeemed_at, first_redemption: false }))
                }
                Redeemed::First { authorization, redeemed_at } => {
                    let mut writes = Writes::default();
                    writes.put(Some(&kept), &*authorization).map_err(Halt::Broken)?;
                    let result = RedeemResult { redeemed_at, first_redemption: true };
                    Ok(Outcome::Write(writes.finish(&view.mint()), result))
                }
            }
        })
        .await
    }
}
