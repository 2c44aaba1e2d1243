//! Amending a request.

use handoff_protocol::{
    decision::{
        Amend, DecisionError, amend,
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
    /// Mends the wording of a pending request. Repeating it under the same key returns the first result.
    ///
    /// # Errors
    ///
    /// [`DecisionError`]: the codes of `POST /requests/{id}/amend`. None of them has an effect.
    pub async fn amend(
        &self,
        principal: &Principal,
        id: RequestId,
        body: Json,
        key: Option<&IdempotencyKey>,
    ) -> Result<RequestView, DecisionError> {
        let command = Amend::read(principal, body, self.policy())?;
        let (digest, reads) = (command.digest(), Reads::none());
        let operate = Operate { principal, operation: Operation::Amend, id, key, digest, reads };
        let (asker, base) = (principal.clone(), self.public_base().to_owned());
        self.operate(operate, move |_, request, waiter, context| {
            let effects = amend(request, &command, &asker, waiter, context)?;
            let served = RequestView::new(effects.request.clone(), None, None, &base)?;
            Ok(Done::new(effects, served))
        })
        .await
    }
}
