//! Arming an attempt window.

use handoff_protocol::{
    decision::{
        Arm, DecisionError, arm,
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
    /// Arms a full fresh attempt window on a pending request. Repeating it under the same key returns the first result.
    ///
    /// # Errors
    ///
    /// [`DecisionError`]: the codes of `POST /requests/{id}/attempt`. None of them has an effect.
    pub async fn arm_attempt(
        &self,
        principal: &Principal,
        id: RequestId,
        body: Json,
        key: Option<&IdempotencyKey>,
    ) -> Result<RequestView, DecisionError> {
        let command = Arm::read(principal, body)?;
        let (digest, reads) = (command.digest(), Reads::none());
        let operate = Operate { principal, operation: Operation::Attempt, id, key, digest, reads };
        let base = self.public_base().to_owned();
        let asker = principal.clone();
        self.operate(operate, move |_, request, _, context| {
            let effects = arm(request, &command, &asker, context)?;
            Ok(Done::served(effects, &base)?)
        })
        .await
    }
}
