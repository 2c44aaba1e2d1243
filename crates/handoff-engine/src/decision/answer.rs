//! Answering a request: section 8, steps 5 to 11.

use std::sync::Arc;

use handoff_protocol::{
    decision::{
        Answer, Context, DecisionError, Request, Waiter, answer,
        idempotency::{self, IdempotencyKey, Operation, ReplayOutcome, ReplayScope},
        view::{AnswerResult, MintedReceipt},
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
    identity::documents::PrincipalRecord,
    store::{Reads, RecordKey},
    transaction::{Halt, Outcome},
};

impl Engine {
    /// Settles a request by a person's answer. Of any number of answers, one succeeds; the others learn whose receipt
    /// stands. Repeating it under the same key returns the first result.
    ///
    /// # Errors
    ///
    /// [`DecisionError`]: the codes of `POST /requests/{id}/answer`. None of them has an effect.
    pub async fn answer(
        &self,
        principal: &Principal,
        id: RequestId,
        body: Json,
        key: Option<&IdempotencyKey>,
    ) -> Result<AnswerResult, DecisionError> {
        let command = Answer::read(principal, body)?;
        let keyed = key.map(|key| Keyed {
            scope: ReplayScope::new(principal, Operation::Answer, Some(id), key),
            digest: command.digest(),
            ttl: self.policy().idempotency_ttl,
        });
        let mut reads = Reads::none().record(RecordKey::new(keys::REQUEST, id)).chain(keys::RECEIPTS);
        if let Some(keyed) = &keyed {
            reads = reads.record(RecordKey::new(keys::REPLAY, keyed.scope.id()));
        }
        if let Some(id) = principal.id() {
            reads = reads.record(RecordKey::new(crate::identity::documents::PRINCIPAL, id));
        }
        let (answerer, policy, signer) = (principal.clone(), Arc::clone(&self.inner.policy), self.inner.signer.clone());
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
            // The answerer as it stands at this moment (rule A-1).
            let mut answerer = answerer.clone();
            if let Some(id) = answerer.id() {
                let record = view.get::<PrincipalRecord, _>(id)?.ok_or(DecisionError::InvalidApiKey)?;
                record.document.refresh(&mut answerer).ok_or(DecisionError::InvalidApiKey)?;
            }
            let head = view.chain(&keys::RECEIPTS)?;
            let mut mint = view.mint();
            let mut context = Context { now: moment.now, mint: &mut mint, policy: &policy };
            let effects = answer(&request.document, &command, &answerer, &waiter.document, &head, &mut context)?;
            let receipt = effects.receipt.as_ref();
            let minted = receipt.map(|receipt| MintedReceipt { id: receipt.id, digest: receipt.link.digest });
            let result = AnswerResult::new(&effects.request, minted, effects.authorization.as_ref());
            let mut writes = Writes::default();
            writes.effects(Some(&request), Some(&waiter), &effects, signer.as_deref()).map_err(Halt::Broken)?;
            if let Some(keyed) = &keyed {
                let text = json_text(&result).map_err(Halt::Broken)?.to_string();
                writes.replay(keyed, stored.as_ref(), ReplayOutcome::Body(text), moment.now).map_err(Halt::Broken)?;
            }
            writes.label("answer_after_state_write");
            Ok(Outcome::Write(writes.finish(&mint), result))
        })
        .await
    }
}
