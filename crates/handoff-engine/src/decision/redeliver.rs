//! Delivering once more (rule V-12).

use handoff_protocol::{
    decision::{
        DecisionError, EndpointHealth, PushAttempts, PushLog, Redelivery, Signal, check_scope,
        idempotency::{self, IdempotencyKey, Operation, ReplayOutcome, ReplayScope},
        requeue,
    },
    digest::Digest,
    id::{DeliveryId, SignalId},
    json::{Json, ObjectReader},
    principal::{Principal, Scope},
};

use super::{
    apply::{Keyed, Writes, json_text, replayed},
    documents::ReplayRecord,
    internal, keys, tenant_of,
};
use crate::{
    engine::Engine,
    store::{Reads, RecordKey},
    transaction::{Halt, Outcome},
};

impl Engine {
    /// Queues one more attempt of a delivery, at once. Repeating it under the same key queues no other.
    ///
    /// The push of a signal is a delivery whose number is the signal's. One whose endpoint is disabled is tried all the
    /// same, and enables it if it succeeds (rule H-8).
    ///
    /// # Errors
    ///
    /// [`DecisionError`]: the codes of `POST /deliveries/{id}/redeliver`.
    pub async fn redeliver(
        &self,
        principal: &Principal,
        id: DeliveryId,
        body: &Json,
        key: Option<&IdempotencyKey>,
    ) -> Result<Redelivery, DecisionError> {
        let done = self.deliver_again(principal, id, body, key).await;
        // The same words for one that is final and for one that is not there, which may be somebody else's (rule T-3).
        done.map_err(|error| match error {
            DecisionError::RequestNotFound => DecisionError::NothingToSendAgain,
            error => error,
        })
    }

    async fn deliver_again(
        &self,
        principal: &Principal,
        id: DeliveryId,
        body: &Json,
        key: Option<&IdempotencyKey>,
    ) -> Result<Redelivery, DecisionError> {
        check_scope(principal, Scope::RequestsRoute)?;
        ObjectReader::new(body, "")?.finish()?;
        let digest = Digest::of_json(body).map_err(|error| internal(&error))?;
        match self.request_of(tenant_of(principal), id).await {
            Ok(request) => return self.redeliver_to_people(principal, request.id, id, digest, key).await,
            Err(DecisionError::RequestNotFound) => {}
            Err(error) => return Err(error),
        }
        let keyed = key.map(|key| Keyed {
            scope: ReplayScope::of(principal, Operation::Redeliver, &id.to_string(), key),
            digest,
            ttl: self.policy().idempotency_ttl,
        });
        let (tenant, signal) = (tenant_of(principal), SignalId::from_ulid(id.ulid()));
        let mut reads = Reads::none().record(RecordKey::new(keys::SIGNAL, signal));
        if let Some(keyed) = &keyed {
            reads = reads.record(RecordKey::new(keys::REPLAY, keyed.scope.id()));
        }
        self.decide(tenant, reads, move |view, moment| {
            let stored = match &keyed {
                Some(keyed) => view.get::<ReplayRecord, _>(keyed.scope.id())?,
                None => None,
            };
            if let Some(keyed) = &keyed {
                let replay = stored.as_ref().map(|kept| &kept.document.replay);
                if let Some(ReplayOutcome::Body(text)) = idempotency::find(replay, keyed.digest, None, moment.now)? {
                    return Ok(Outcome::Nothing(replayed(text)?));
                }
            }
            let signal = view.get::<Signal, _>(signal)?.ok_or(DecisionError::RequestNotFound)?;
            let (queued, redelivery) = requeue(&signal.document, moment.now)?;
            let mut writes = Writes::default();
            writes.put(Some(&signal), &queued).map_err(Halt::Broken)?;
            writes.push(&queued, moment.now).map_err(Halt::Broken)?;
            if let Some(keyed) = &keyed {
                let text = json_text(&redelivery).map_err(Halt::Broken)?.to_string();
                writes.replay(keyed, stored.as_ref(), ReplayOutcome::Body(text), moment.now).map_err(Halt::Broken)?;
            }
            Ok(Outcome::Write(writes.finish(&view.mint()), redelivery))
        })
        .await
    }

    /// The attempts to push a signal (rule H-7), none for one that goes nowhere, and how its push and its endpoint stand: that
    /// is where a tenant reads that an endpoint was disabled (rule H-8).
    ///
    /// # Errors
    ///
    /// [`DecisionError::InsufficientScope`], [`DecisionError::SignalNotFound`].
    pub async fn push_attempts(&self, principal: &Principal, id: SignalId) -> Result<PushAttempts, DecisionError> {
        check_scope(principal, Scope::WaitersWait)?;
        let tenant = tenant_of(principal);
        let signal: Signal = self.document(tenant, id).await?.ok_or(DecisionError::SignalNotFound)?;
        let log: Option<PushLog> = self.document(tenant, id).await?;
        let health: Option<EndpointHealth> = match &signal.push {
            Some(push) => self.document(tenant, push.callback.url_digest().hex()).await?,
            None => None,
        };
        Ok(PushAttempts::new(&signal, log, health.as_ref()))
    }
}
