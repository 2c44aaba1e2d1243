//! Acknowledging a signal.

use handoff_protocol::{
    decision::{
        Acknowledge, Acknowledged, Continuation, DecisionError, Request, Signal, Waiter, acknowledge, check_scope,
        terms::{Liveness, WaiterState},
        view::AckResult,
    },
    id::SignalId,
    json::Json,
    principal::{Principal, Scope},
};

use super::{apply::Writes, keys, tenant_of};
use crate::{
    engine::Engine,
    store::{Reads, RecordKey, TimerWrite},
    transaction::{Halt, Outcome},
};

impl Engine {
    /// Takes a signal out of its waiter's queue. Repeating it is harmless and says that it was not the first.
    ///
    /// # Errors
    ///
    /// [`DecisionError`]: the codes of `POST /signals/{id}/ack`.
    pub async fn acknowledge(
        &self,
        principal: &Principal,
        id: SignalId,
        body: &Json,
    ) -> Result<AckResult, DecisionError> {
        check_scope(principal, Scope::WaitersWait)?;
        let command = Acknowledge::read(body)?;
        let tenant = tenant_of(principal);
        let reads = Reads::none().record(RecordKey::new(keys::SIGNAL, id));
        let step = self.decide(tenant, reads, move |view, moment| {
            let signal = view.get::<Signal, _>(id)?.ok_or(DecisionError::SignalNotFound)?;
            let request = view.get::<Request, _>(signal.document.request_id)?.ok_or(DecisionError::Internal)?;
            let shows_life =
                request.document.liveness == Liveness::Leased || request.document.waiter.state == WaiterState::Orphaned;
            let living = shows_life.then(|| request.document.waiter_ref.digest());
            match acknowledge(&signal.document, &request.document, &command, moment.now)? {
                Acknowledged::Repeat { acked_at } => {
                    let first_ack = false;
                    #[cfg(feature = "planted-faults")]
                    let first_ack = first_ack || handoff_protocol::planted::Fault::AckAlwaysFirst.is_planted();
                    Ok(Outcome::Nothing((AckResult { acked_at, first_ack }, living)))
                }
                Acknowledged::First { signal: taken, request: moved, acked_at } => {
                    let mut writes = Writes::default();
                    writes.put(Some(&signal), &*taken).map_err(Halt::Broken)?;
                    writes.put(Some(&request), &*moved).map_err(Halt::Broken)?;
                    if taken.push.is_some() {
                        writes.timer(TimerWrite::Remove { key: keys::push_timer(id) });
                    }
                    // What no signal will give back any more is not kept.
                    let last = moved.waiter.unacked == 0;
                    #[cfg(feature = "planted-faults")]
                    let last = last || handoff_protocol::planted::Fault::ContinuationDroppedEarly.is_planted();
                    if moved.continued
                        && moved.state.is_final()
                        && last
                        && let Some(continuation) = view.get::<Continuation, _>(moved.id)?
                    {
                        writes.delete(&continuation);
                    }
                    let result = AckResult { acked_at, first_ack: true };
                    Ok(Outcome::Write(writes.finish(&view.mint()), (result, living)))
                }
            }
        });
        let (result, living) = step.await?;
        if let Some(waiter) = living
            && let Some(waiter) = self.document::<Waiter>(tenant, waiter.hex()).await?
        {
            self.show_life(tenant, &waiter).await?;
        }
        Ok(result)
    }
}
