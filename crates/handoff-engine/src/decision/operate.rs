//! One operation on one request, under an idempotency key: the frame that answer, cancel, amend, supersede and the rest
//! share (rules K-6, K-7).

use std::sync::Arc;

use handoff_protocol::{
    decision::{
        Context, DecisionError, Effects, Request, Waiter,
        idempotency::{self, IdempotencyKey, Operation, ReplayOutcome, ReplayScope},
        view::RequestView,
    },
    digest::Digest,
    id::RequestId,
    principal::Principal,
};
use serde::{Serialize, de::DeserializeOwned};

use super::{
    apply::{Before, Keyed, Writes, json_text, replayed},
    documents::ReplayRecord,
    held::{Held, Seen},
    keys, tenant_of,
};
use crate::{
    document::Kept,
    engine::Engine,
    store::{Reads, RecordKey},
    transaction::{Halt, Outcome, ReadBefore, View},
};

/// Which operation of whom on what, and under which key.
pub(super) struct Operate<'a> {
    pub(super) principal: &'a Principal,
    pub(super) operation: Operation,
    pub(super) id: RequestId,
    pub(super) key: Option<&'a IdempotencyKey>,
    /// The digest of the body, which a repeat must equal.
    pub(super) digest: Digest,
    /// What the transition reads besides the request.
    pub(super) reads: Reads,
}

/// What a transition came to.
pub(super) struct Done<R> {
    pub(super) effects: Effects,
    pub(super) reply: R,
    /// The successor as it was read, where the effects change it.
    pub(super) successor: Option<Kept<Request>>,
    /// Where a test build may fail.
    pub(super) label: Option<&'static str>,
}

impl<R> Done<R> {
    /// Effects on the request alone.
    pub(super) fn new(effects: Effects, reply: R) -> Self {
        Self { effects, reply, successor: None, label: None }
    }
}

impl Done<RequestView> {
    /// Effects on the request alone, whose reply is the request as they leave it.
    pub(super) fn served(effects: Effects, base: &str) -> Result<Self, DecisionError> {
        let served = RequestView::new(effects.request.clone(), None, None, base)?;
        Ok(Self::new(effects, served))
    }
}

impl Engine {
    /// Runs a transition of a request: looks for a replay first (step 5 of section 8), then for the request, and keeps
    /// the reply under the key in the commit of its effect.
    pub(super) async fn operate<R, F>(&self, operate: Operate<'_>, transition: F) -> Result<R, DecisionError>
    where
        R: Serialize + DeserializeOwned + Send + 'static,
        F: Fn(&View<'_>, &Request, &Waiter, &mut Context<'_>) -> Result<Done<R>, Halt<DecisionError>>
            + Send
            + Sync
            + 'static,
    {
        let object = operate.id.to_string();
        self.operate_on(&object, operate, transition).await
    }

    /// The same for an operation whose object, as its idempotency key knows it, is something of the request.
    pub(super) async fn operate_on<R, F>(
        &self,
        object: &str,
        operate: Operate<'_>,
        transition: F,
    ) -> Result<R, DecisionError>
    where
        R: Serialize + DeserializeOwned + Send + 'static,
        F: Fn(&View<'_>, &Request, &Waiter, &mut Context<'_>) -> Result<Done<R>, Halt<DecisionError>>
            + Send
            + Sync
            + 'static,
    {
        let transition = Arc::new(transition);
        let mut seen = Seen::default();
        loop {
            let done = self.operate_with(object, &operate, &seen, Arc::clone(&transition)).await;
            match seen.ask(self).await {
                Some(answers) => seen = answers,
                None => return done,
            }
        }
    }

    /// Runs a transition with what providers saw of the request's open sessions, as far as they were asked.
    async fn operate_with<R, F>(
        &self,
        object: &str,
        operate: &Operate<'_>,
        seen: &Seen,
        transition: Arc<F>,
    ) -> Result<R, DecisionError>
    where
        R: Serialize + DeserializeOwned + Send + 'static,
        F: Fn(&View<'_>, &Request, &Waiter, &mut Context<'_>) -> Result<Done<R>, Halt<DecisionError>>
            + Send
            + Sync
            + 'static,
    {
        let Operate { principal, operation, id, key, digest, reads } = operate;
        let (operation, id, digest, reads, seen) = (*operation, *id, *digest, reads.clone(), seen.clone());
        let keyed = key.map(|key| Keyed {
            scope: ReplayScope::of(principal, operation, object, key),
            digest,
            ttl: self.policy().idempotency_ttl,
        });
        let mut reads = reads.record(RecordKey::new(keys::REQUEST, id));
        if let Some(keyed) = &keyed {
            reads = reads.record(RecordKey::new(keys::REPLAY, keyed.scope.id()));
        }
        let (policy, signer) = (self.policy_for(tenant_of(principal)).await?, self.inner.signer.clone());
        #[cfg(feature = "planted-faults")]
        let (early, kept_apart) = (self.read_early(tenant_of(principal), id).await?, keyed.clone());
        // Whose waiter it is only the request says, so the first run reads it and asks for the waiter.
        let read_before = ReadBefore::<Request>::new();
        let deciding = self.decide(tenant_of(principal), reads, move |view, moment| {
            let stored = match &keyed {
                Some(keyed) => view.get::<ReplayRecord, _>(keyed.scope.id())?,
                None => None,
            };
            let request = read_before.get(view, id)?;
            if let Some(keyed) = &keyed {
                let replay = stored.as_ref().map(|kept| &kept.document.replay);
                let known = request.as_ref().map(|kept| kept.document.id);
                if let Some(ReplayOutcome::Body(text)) = idempotency::find(replay, keyed.digest, known, moment.now)? {
                    return Ok(Outcome::Nothing(replayed(text)?));
                }
            }
            let request = request.ok_or(DecisionError::RequestNotFound)?;
            let waiter = match view.get::<Waiter, _>(request.document.waiter_ref.digest().hex()) {
                Err(Halt::Need(reads)) => {
                    read_before.keep(view, request);
                    return Err(Halt::Need(reads));
                }
                waiter => waiter?.ok_or(DecisionError::Internal)?,
            };
            #[cfg(feature = "planted-faults")]
            let (request, waiter) = early.in_place_of(request, waiter);
            let held = Held::load(view, &request.document)?;
            let mut capabilities = held.capabilities();
            seen.fill(&mut capabilities)?;
            let mut mint = view.mint();
            let mut context =
                Context { now: moment.now, mint: &mut mint, policy: &policy, capabilities: &capabilities };
            let done = transition(view, &request.document, &waiter.document, &mut context)?;
            let mut writes = Writes::default();
            let before = Before {
                request: Some(&request),
                waiter: Some(&waiter),
                successor: done.successor.as_ref(),
                held: Some(&held),
                ..Before::default()
            };
            writes.effects(before, &done.effects, signer.as_deref()).map_err(Halt::Broken)?;
            let kept_with_it = keyed.as_ref();
            #[cfg(feature = "planted-faults")]
            let kept_with_it =
                kept_with_it.filter(|_| !handoff_protocol::planted::Fault::ReplayInAnotherCommit.is_planted());
            if let Some(keyed) = kept_with_it {
                let text = json_text(&done.reply).map_err(Halt::Broken)?.to_string();
                writes.replay(keyed, stored.as_ref(), ReplayOutcome::Body(text), moment.now).map_err(Halt::Broken)?;
            }
            writes.label(done.label);
            Ok(Outcome::Write(writes.finish(&mint), done.reply))
        });
        let done = deciding.await;
        #[cfg(feature = "planted-faults")]
        self.keep_apart(tenant_of(principal), kept_apart, &done).await?;
        done
    }

    /// Keeps a reply under its key, in a commit of its own.
    #[cfg(feature = "planted-faults")]
    async fn keep_apart<R: Serialize>(
        &self,
        tenant: handoff_protocol::id::TenantId,
        keyed: Option<Keyed>,
        done: &Result<R, DecisionError>,
    ) -> Result<(), DecisionError> {
        let (Some(keyed), Ok(reply)) = (keyed, done) else { return Ok(()) };
        if !handoff_protocol::planted::Fault::ReplayInAnotherCommit.is_planted() {
            return Ok(());
        }
        let text = json_text(reply).map_err(|error| super::internal(&error))?.to_string();
        let reads = Reads::none().record(RecordKey::new(keys::REPLAY, keyed.scope.id()));
        self.decide(tenant, reads, move |view, moment| {
            let stored = view.get::<ReplayRecord, _>(keyed.scope.id())?;
            let mut writes = Writes::default();
            writes
                .replay(&keyed, stored.as_ref(), ReplayOutcome::Body(text.clone()), moment.now)
                .map_err(Halt::Broken)?;
            Ok(Outcome::Write(writes.finish(&view.mint()), ()))
        })
        .await
    }
}
