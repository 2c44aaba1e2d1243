//! Superseding a request by another.

use handoff_protocol::{
    decision::{
        DecisionError, Request, Supersede,
        idempotency::{IdempotencyKey, Operation},
        supersede,
        view::RequestView,
    },
    id::RequestId,
    json::Json,
    principal::Principal,
};

use super::{
    keys,
    operate::{Done, Operate},
};
use crate::{
    engine::Engine,
    store::{Reads, RecordKey},
};

impl Engine {
    /// Lets another pending request take the place of a pending one. Repeating it under the same key returns the first
    /// result.
    ///
    /// # Errors
    ///
    /// [`DecisionError`]: the codes of `POST /requests/{id}/supersede`; [`DecisionError::RequestNotFound`] also for a
    /// successor that this tenant does not have. None of them has an effect.
    pub async fn supersede(
        &self,
        principal: &Principal,
        id: RequestId,
        body: Json,
        key: Option<&IdempotencyKey>,
    ) -> Result<RequestView, DecisionError> {
        let command = Supersede::read(principal, body)?;
        let by = command.by();
        let mut reads = Reads::none();
        if let Some(by) = by {
            reads = reads.record(RecordKey::new(keys::REQUEST, by));
        }
        let digest = command.digest();
        let operate = Operate { principal, operation: Operation::Supersede, id, key, digest, reads };
        let (asker, base) = (principal.clone(), self.public_base().to_owned());
        self.operate(operate, move |view, request, waiter, context| {
            let successor = match by {
                Some(by) => view.get::<Request, _>(by)?,
                None => None,
            };
            let successor = successor.ok_or(DecisionError::RequestNotFound)?;
            let effects = supersede(request, &successor.document, &asker, waiter, context)?;
            Ok(Done { successor: Some(successor), ..Done::served(effects, &base)? })
        })
        .await
    }
}
