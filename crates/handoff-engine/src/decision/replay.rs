//! A refused call that was taken before: what a deployment takes changes with its configuration, and a repeat finds its
//! first reply all the same (rules K-1, K-6).

use handoff_protocol::{
    decision::{
        DecisionError,
        idempotency::{self, ReplayOutcome, ReplayScope},
    },
    json::Json,
    principal::Principal,
};

use super::{documents::ReplayRecord, tenant_of};
use crate::engine::Engine;

impl Engine {
    /// What the first call under a key came to whose body was the very same, if there was one and its entry lives; the
    /// refusal otherwise. Whoever lacks a scope now learns nothing of what they had.
    ///
    /// It is asked for a call that its reading refused alone, and so costs others nothing.
    pub(super) async fn taken_before(
        &self,
        principal: &Principal,
        scope: Option<ReplayScope>,
        body: &mut Json,
        refusal: DecisionError,
    ) -> Result<ReplayOutcome, DecisionError> {
        let by_configuration = matches!(refusal, DecisionError::InvalidRequest(_));
        let Some(scope) = scope.filter(|_| by_configuration) else { return Err(refusal) };
        let Ok(digest) = idempotency::digest_of(body) else { return Err(refusal) };
        let kept: Option<ReplayRecord> = self.document(tenant_of(principal), scope.id()).await?;
        match idempotency::find(kept.as_ref().map(|kept| &kept.replay), digest, None, self.now()) {
            Ok(Some(outcome)) => Ok(outcome.clone()),
            // Another body under the key: its own fault is what its sender has to mend first.
            Ok(None) | Err(_) => Err(refusal),
        }
    }
}
