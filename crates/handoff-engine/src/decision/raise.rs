//! Raising a request: rule K-1 in its order, atomically.

use std::sync::Arc;

use handoff_protocol::{
    decision::{
        Context, DecisionError, Policy, Raise, Request, Waiter,
        idempotency::{self, IdempotencyKey, Operation, ReplayOutcome, ReplayScope},
        join, raise,
        view::RequestView,
    },
    id::RequestId,
    json::Json,
    principal::Principal,
};

use super::{
    apply::{Before, Keyed, Writes},
    documents::ReplayRecord,
    held::Held,
    keys, tenant_of,
};
use crate::{
    document::Document as _,
    engine::Engine,
    store::{IndexRead, Reads, RecordKey},
    transaction::{Halt, Outcome},
};

/// What a raise came to.
#[derive(Clone, Debug, PartialEq)]
pub struct Raised {
    /// The request, as it stands now.
    pub request: RequestView,
    /// Whether this call created it (rule K-2).
    pub created: bool,
}

/// Which request a raise came to, inside the transaction.
enum Came {
    Fresh(Box<Request>, bool),
    /// Nowhere yet: the waiter had been given up, and whoever asks is there again (W7).
    Returned,
    /// Nowhere yet: nothing that is there answers the call, so the providers of its capabilities are to be asked.
    Asking,
    Replayed(RequestId),
}

impl Engine {
    /// Raises a request, or finds the one that this call asks for again (rule K-1). Durable on return; it never waits
    /// for a channel (rule D-6). Repeating it under the same key is safe.
    ///
    /// # Errors
    ///
    /// [`DecisionError`]: the codes of `POST /requests`.
    pub async fn raise(
        &self,
        principal: &Principal,
        mut body: Json,
        key: Option<&IdempotencyKey>,
    ) -> Result<Raised, DecisionError> {
        let tenant = tenant_of(principal);
        let policy = self.policy_for(tenant).await?;
        let scope = key.map(|key| ReplayScope::new(principal, Operation::Raise, None, key));
        #[cfg(feature = "planted-faults")]
        self.claim_key(principal, key)?;
        let mut command = match Raise::read_from(principal, &mut body, &policy) {
            Ok(command) => Arc::new(command),
            Err(refusal) => {
                #[cfg(feature = "planted-faults")]
                self.leave_a_row(principal, &body).await;
                return match self.taken_before(principal, scope, &mut body, refusal).await? {
                    ReplayOutcome::Request(id) => {
                        Ok(Raised { request: self.request_view(tenant, id).await?, created: false })
                    }
                    ReplayOutcome::Body(_) | ReplayOutcome::Session(_) => Err(DecisionError::Internal),
                };
            }
        };
        let ttl = self.policy().idempotency_ttl;
        let keyed = scope.map(|scope| Keyed { scope, digest: command.digest(), ttl });
        loop {
            match self.raise_once(principal, (Arc::clone(&command), Arc::clone(&policy)), keyed.clone()).await? {
                Came::Fresh(request, created) => {
                    return Ok(Raised {
                        request: RequestView::new(*request, None, None, self.public_base())?,
                        created,
                    });
                }
                #[cfg(feature = "planted-faults")]
                Came::Replayed(id) if handoff_protocol::planted::Fault::ReplayIsStale.is_planted() => {
                    return self.raised_as_it_was(tenant, id).await;
                }
                Came::Replayed(id) => {
                    return Ok(Raised { request: self.request_view(tenant, id).await?, created: false });
                }
                Came::Asking => {
                    let radii = self.blast_radii(principal, None, command.capabilities()).await?;
                    command = Arc::new(Arc::unwrap_or_clone(command).with_blast_radii(radii));
                }
                Came::Returned => {
                    self.write_sign_of_life((tenant, command.waiter_ref().digest()), self.now()).await?;
                }
            }
        }
    }

    async fn raise_once(
        &self,
        principal: &Principal,
        (command, policy): (Arc<Raise>, Arc<Policy>),
        keyed: Option<Keyed>,
    ) -> Result<Came, DecisionError> {
        let same_question = IndexRead {
            index: keys::BY_QUESTION,
            prefix: keys::question_prefix(command.waiter_ref(), command.dedupe_key()),
            limit: 1,
        };
        let waiter_id = Waiter::new(command.waiter_ref().clone()).id();
        let mut reads = Reads::none().index(same_question.clone()).record(RecordKey::new(keys::WAITER, &waiter_id));
        if let Some(keyed) = &keyed {
            reads = reads.record(RecordKey::new(keys::REPLAY, keyed.scope.id()));
        }
        let asker = principal.clone();
        self.decide(tenant_of(principal), reads, move |view, moment| {
            let stored = match &keyed {
                Some(keyed) => view.get::<ReplayRecord, _>(keyed.scope.id())?,
                None => None,
            };
            if let Some(keyed) = &keyed {
                let replay = stored.as_ref().map(|kept| &kept.document.replay);
                if let Some(ReplayOutcome::Request(id)) = idempotency::find(replay, keyed.digest, None, moment.now)? {
                    return Ok(Outcome::Nothing(Came::Replayed(*id)));
                }
            }
            if command.needs_blast_radii() {
                return Ok(Outcome::Nothing(Came::Asking));
            }
            let waiter = view.get::<Waiter, _>(&waiter_id)?;
            let before = waiter.as_ref().map(|kept| &kept.document);
            if before.is_some_and(|waiter| waiter.orphaned) {
                return Ok(Outcome::Nothing(Came::Returned));
            }
            let pending = view.scan::<Request, _>(same_question.clone())?.into_iter().next();
            #[cfg(feature = "planted-faults")]
            let pending = pending.filter(|_| !handoff_protocol::planted::Fault::AskOnceIgnored.is_planted());
            let held = match &pending {
                Some(pending) => Held::load(view, &pending.document)?,
                None => Held::default(),
            };
            let capabilities = held.capabilities();
            let mut mint = view.mint();
            let mut context =
                Context { now: moment.now, mint: &mut mint, policy: &policy, capabilities: &capabilities };
            let effects = match &pending {
                Some(pending) => join(&command, &asker, &pending.document, before, &mut context)?,
                None => raise(&command, &asker, before, &mut context)?,
            };
            let before_write =
                Before { request: pending.as_ref(), waiter: waiter.as_ref(), held: Some(&held), ..Before::default() };
            let mut writes = Writes::default();
            writes.effects(before_write, &effects, None).map_err(Halt::Broken)?;
            let keyed = keyed.as_ref();
            #[cfg(feature = "planted-faults")]
            let keyed = keyed.filter(|_| !handoff_protocol::planted::Fault::ReplayOfRaiseForgotten.is_planted());
            if let Some(keyed) = keyed {
                let outcome = ReplayOutcome::Request(effects.request.id);
                writes.replay(keyed, stored.as_ref(), outcome, moment.now).map_err(Halt::Broken)?;
            }
            let came = Came::Fresh(Box::new(effects.request), pending.is_none());
            Ok(Outcome::Write(writes.finish(&mint), came))
        })
        .await
    }
}
