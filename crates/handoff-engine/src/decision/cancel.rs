//! Cancelling a request.

use handoff_protocol::{
    decision::{
        Cancel, DecisionError, cancel,
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
        let (digest, reads) = (command.digest(), Reads::none());
        let operate = Operate { principal, operation: Operation::Cancel, id, key, digest, reads };
        let (asker, base) = (principal.clone(), self.public_base().to_owned());
        self.operate(operate, move |_, request, waiter, context| {
            let effects = cancel(request, &command, &asker, waiter, context)?;
            Ok(Done::served(effects, &base)?)
        })
        .await
    }
}
