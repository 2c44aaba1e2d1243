//! Cancelling a request.

use std::sync::Arc;

use handoff_protocol::{
    decision::{
        Cancel, Context, DecisionError, Request, Waiter, cancel,
        idempotency::{self, IdempotencyKey, Operation, ReplayOutcome, ReplayScope},
        view::RequestView,
    },
    id::RequestId,
    json::Json,
    principal::Principal,
};

use super::{
    apply::{Keyed, Writes, json_text, replayed},
    documents::ReplayRecord,
    keys, tenant_of,
};
use crate::{
    engine::Engine,
    store::{Reads, RecordKey},
    transaction::{Halt, Outcome},
};

impl Engine {
    /// Withdraws a pending request. A person's answer that landed first stands. Repeating it under the same key returns
    /// the first result.
    ///
    /// # Errors
    ///
    /// [`DecisionError`]: the codes of `POST /requests/{id}/cancel`. None of them has an effect.
    pub async fn cancel(
        &self,
        principal: &Principal,
        id: RequestId,
        body: Json,
        key: Option<&IdempotencyKey>,
    ) -> Result<RequestView, DecisionError> {
        let command = Cancel::read(principal, body)?;
        let keyed = key.map(|key| Keyed {
            scope: ReplayScope::new(principal, Operation::Cancel, Some(id), key),
            digest: command.digest(),
            ttl: self.policy().idempotency_ttl,
        });
        let mut reads = Reads::none().record(RecordKey::new(keys::REQUEST, id));
        if let Some(keyed) = &keyed {
            reads = reads.record(RecordKey::new(keys::REPLAY, keyed.scope.id()));
        }
        let (owner, policy) = (principal.clone(), Arc::clone(&self.inner.policy));
        let base = self.public_base().to_owned();
        self.decide(tenant_of(principal), reads, move |view, moment| {
            let stored = match &keyed {
                Some(keyed) => view.get::<ReplayRecord, _>(keyed.scope.id())?,
                None => None,
            };
            let request = view.get::<Request, _>(id)?;
            if let Some(keyed) = &keyed {
                let replay = stored.as_ref().map(|kept| &kept.document.replay);
                let known = request.as_ref().map(|kept| kept.document.id);
                if let Some(ReplayOutcome::Body(text)) = idempotency::find(replay, keyed.digest, known, moment.now)? {
                    return Ok(Outcome::Nothing(replayed(text)?));
                }
            }
            let request = request.ok_or(DecisionError::RequestNotFound)?;
            let waiter =
                view.get::<Waiter, _>(request.document.waiter_ref.digest().hex())?.ok_or(DecisionError::Internal)?;
            let mut mint = view.mint();
            let mut context = Context { now: moment.now, mint: &mut mint, policy: &policy };
            let effects = cancel(&request.document, &command, &owner, &waiter.document, &mut context)?;
            let mut writes = Writes::default();
            writes.effects(Some(&request), Some(&waiter), &effects, None).map_err(Halt::Broken)?;
            let served = RequestView::new(effects.request, None, None, &base)?;
            if let Some(keyed) = &keyed {
                let text = json_text(&served).map_err(Halt::Broken)?.to_string();
                writes.replay(keyed, stored.as_ref(), ReplayOutcome::Body(text), moment.now).map_err(Halt::Broken)?;
            }
            Ok(Outcome::Write(writes.finish(&mint), served))
        })
        .await
    }
}
