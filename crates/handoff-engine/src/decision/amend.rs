//! Amending a request.

use handoff_protocol::{
    decision::{
        Amend, DecisionError, amend,
        idempotency::{IdempotencyKey, Operation, ReplayOutcome, ReplayScope},
        view::RequestView,
    },
    id::RequestId,
    json::{Json, from_text},
    principal::Principal,
};

use super::{
    internal,
    operate::{Done, Operate},
};
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
        mut body: Json,
        key: Option<&IdempotencyKey>,
    ) -> Result<RequestView, DecisionError> {
        let command = match Amend::read_from(principal, &mut body, self.policy()) {
            Ok(command) => command,
            Err(refusal) => {
                let scope = key.map(|key| ReplayScope::new(principal, Operation::Amend, Some(id), key));
                return match self.taken_before(principal, scope, &mut body, refusal).await? {
                    ReplayOutcome::Body(text) => from_text(&text).map_err(|error| internal(&error)),
                    ReplayOutcome::Request(_) | ReplayOutcome::Session(_) => Err(DecisionError::Internal),
                };
            }
        };
        let radii = self.blast_radii(principal, command.capabilities()).await?;
        let command = command.with_blast_radii(radii);
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
