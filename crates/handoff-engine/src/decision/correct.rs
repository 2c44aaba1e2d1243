//! Correcting the receipt of a decision (E-4).

use handoff_protocol::{
    decision::{
        Correct, DecisionError, Receipt, correct, correctable,
        idempotency::{IdempotencyKey, Operation},
    },
    id::ReceiptId,
    json::{Json, from_json, read_str},
    principal::Principal,
};

use super::{
    documents::ReceiptPlace,
    internal, keys,
    operate::{Done, Operate},
    tenant_of,
};
use crate::{
    engine::Engine,
    identity::documents::{PRINCIPAL, PrincipalRecord},
    store::{Reads, RecordKey, StoreError},
    transaction::Halt,
};

impl Engine {
    /// Corrects the receipt of a person's decision and returns the receipt that says so, exactly as it was sealed. The
    /// decision, its signal and its authorization stay as they were. Repeating it under the same key returns the first
    /// result; the key counts for the request that was decided.
    ///
    /// # Errors
    ///
    /// [`DecisionError`]: the codes of `POST /receipts/{id}/corrections`. None of them has an effect.
    pub async fn correct(
        &self,
        principal: &Principal,
        id: ReceiptId,
        body: Json,
        key: Option<&IdempotencyKey>,
    ) -> Result<Json, DecisionError> {
        let tenant = tenant_of(principal);
        let place: Option<ReceiptPlace> = self.document(tenant, id).await?;
        let command = match (Correct::read(principal, body), &place) {
            (Ok(command), _) => command,
            (Err(refusal), Some(place)) => return Err(self.about(principal, place.request_id, refusal).await?),
            (Err(refusal), None) => return Err(refusal),
        };
        let place = place.ok_or(DecisionError::RequestNotFound)?;
        // What was sealed never changes, so it is read before the step.
        let sealed = read_str(&self.receipt_text(tenant, place.height).await?).map_err(|error| internal(&error))?;
        let decision: Receipt = from_json(sealed).map_err(|error| internal(&error))?;
        // Before any replay, since the key counts for the request and not for this id.
        correctable(&decision)?;

        let mut reads = Reads::none().chain(keys::RECEIPTS);
        if let Some(id) = principal.id() {
            reads = reads.record(RecordKey::new(PRINCIPAL, id));
        }
        let digest = command.digest();
        let operate = Operate { principal, operation: Operation::Correct, id: decision.request_id, key, digest, reads };
        let corrector = principal.clone();
        self.operate(operate, move |view, request, _, context| {
            // The person as it stands at this moment (rule A-1).
            let mut corrector = corrector.clone();
            if let Some(id) = corrector.id() {
                let record = view.get::<PrincipalRecord, _>(id)?.ok_or(DecisionError::InvalidApiKey)?;
                record.document.refresh(&mut corrector).ok_or(DecisionError::InvalidApiKey)?;
            }
            let head = view.chain(&keys::RECEIPTS)?;
            let effects = correct(request, &decision, &command, &corrector, &head, context)?;
            let sealed = effects.receipt.as_ref().ok_or(DecisionError::Internal)?;
            let unreadable = |_| Halt::Broken(StoreError::Conflict("a sealed receipt cannot be read again".to_owned()));
            let reply = read_str(&sealed.text).map_err(unreadable)?;
            Ok(Done::new(effects, reply))
        })
        .await
    }
}
