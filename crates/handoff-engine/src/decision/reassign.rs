//! Passing a request on to somebody else.

use handoff_protocol::{
    decision::{
        DecisionError, Reassign,
        idempotency::{IdempotencyKey, Operation},
        reassign,
        view::RequestView,
    },
    id::RequestId,
    json::Json,
    principal::Principal,
};

use super::{
    known::check_person,
    operate::{Done, Operate},
};
use crate::{engine::Engine, store::Reads};

impl Engine {
    /// Asks somebody else, who may answer from then on. Repeating it under the same key returns the first result.
    ///
    /// # Errors
    ///
    /// [`DecisionError`]: the codes of `POST /requests/{id}/reassign`. None of them has an effect.
    pub async fn reassign(
        &self,
        principal: &Principal,
        id: RequestId,
        body: Json,
        key: Option<&IdempotencyKey>,
    ) -> Result<RequestView, DecisionError> {
        let command = Reassign::read(principal, body)?;
        let (digest, reads) = (command.digest(), Reads::none());
        let operate = Operate { principal, operation: Operation::Reassign, id, key, digest, reads };
        let (base, by) = (self.public_base().to_owned(), principal.clone());
        self.operate(operate, move |view, request, _, context| {
            check_person(view, command.to(), context.policy, "to")?;
            let effects = reassign(request, &command, &by, context)?;
            Ok(Done::served(effects, &base)?)
        })
        .await
    }
}
