//! Escalating a request by hand.

use handoff_protocol::{
    decision::{
        DecisionError, Escalate, escalate,
        idempotency::{IdempotencyKey, Operation},
        view::RequestView,
    },
    id::RequestId,
    json::Json,
    principal::Principal,
};

use super::operate::{Done, Operate};
use crate::{engine::Engine, store::Reads};

impl Engine {
    /// Fires the next rung of a pending request's ladder, or a named one. Repeating it under the same key returns the first
    /// result.
    ///
    /// # Errors
    ///
    /// [`DecisionError`]: the codes of `POST /requests/{id}/escalate`. None of them has an effect.
    pub async fn escalate(
        &self,
        principal: &Principal,
        id: RequestId,
        body: Json,
        key: Option<&IdempotencyKey>,
    ) -> Result<RequestView, DecisionError> {
        let command = Escalate::read(principal, body)?;
        let (digest, reads) = (command.digest(), Reads::none());
        let operate = Operate { principal, operation: Operation::Escalate, id, key, digest, reads };
        let (base, by) = (self.public_base().to_owned(), principal.clone());
        self.operate(operate, move |_, request, _, context| {
            let effects = escalate(request, &command, &by, context)?;
            Ok(Done::served(effects, &base)?)
        })
        .await
    }
}
