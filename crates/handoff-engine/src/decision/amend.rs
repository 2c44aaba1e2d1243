//! Amending a request.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use handoff_protocol::{
    decision::{
        Amend, DecisionError, amend, check_amendable,
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
        let mut command = match Amend::read_from(principal, &mut body, self.policy()) {
            Ok(command) => Arc::new(command),
            Err(refusal) => {
                let scope = key.map(|key| ReplayScope::new(principal, Operation::Amend, Some(id), key));
                return match self.taken_before(principal, scope, &mut body, refusal).await? {
                    ReplayOutcome::Body(text) => from_text(&text).map_err(|error| internal(&error)),
                    ReplayOutcome::Request(_) | ReplayOutcome::Session(_) => Err(DecisionError::Internal),
                };
            }
        };
        loop {
            // A repeat and what is refused anyway ask no provider: the step says when it misses what they say.
            let asking = Arc::new(AtomicBool::new(false));
            let done = self.amend_once(principal, id, &command, key, &asking).await;
            if !asking.load(Ordering::Relaxed) {
                return done;
            }
            let radii = self.blast_radii(principal, Some(id), command.capabilities()).await?;
            command = Arc::new(Arc::unwrap_or_clone(command).with_blast_radii(radii));
        }
    }

    async fn amend_once(
        &self,
        principal: &Principal,
        id: RequestId,
        command: &Arc<Amend>,
        key: Option<&IdempotencyKey>,
        asking: &Arc<AtomicBool>,
    ) -> Result<RequestView, DecisionError> {
        let (digest, reads) = (command.digest(), Reads::none());
        let operate = Operate { principal, operation: Operation::Amend, id, key, digest, reads };
        let (asker, base) = (principal.clone(), self.public_base().to_owned());
        let (command, asking) = (Arc::clone(command), Arc::clone(asking));
        self.operate(operate, move |_, request, waiter, context| {
            if command.needs_blast_radii() {
                check_amendable(request, &asker, waiter, context)?;
                asking.store(true, Ordering::Relaxed);
                return Err(DecisionError::Internal.into());
            }
            let effects = amend(request, &command, &asker, waiter, context)?;
            Ok(Done::served(effects, &base)?)
        })
        .await
    }
}
