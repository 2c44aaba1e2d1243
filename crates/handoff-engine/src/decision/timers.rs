//! What this domain's timers do when their time comes.

use std::sync::Arc;

use handoff_protocol::{
    decision::{Context, DecisionError, Fired, Policy, Request, Waiter, expire, lapse, tend},
    id::{RequestId, TenantId},
};

use super::{
    apply::{Before, Claimed, Writes, json_text},
    documents::ReplayRecord,
    held::Held,
    keys::{self, TimerAction},
};
use crate::{
    document::Kept,
    engine::Engine,
    store::{IndexRead, Reads, RecordKey, TimerKey, TimerWrite},
    transaction::{Halt, Outcome, View},
};

/// How many replay records one purge deletes in one commit.
const PURGE_BATCH: usize = 500;

/// A claimed timer of a request.
struct Claim {
    timer: TimerKey,
    epoch: u64,
    /// What to put back if nothing is due yet.
    action: TimerAction,
}

impl Engine {
    /// Expires a request under the claim of its deadline's timer (R6).
    pub(crate) async fn expire(
        &self,
        tenant: TenantId,
        id: RequestId,
        timer: TimerKey,
        epoch: u64,
    ) -> Result<(), DecisionError> {
        let reads = Reads::none().chain(keys::RECEIPTS);
        let claim = Claim { timer, epoch, action: TimerAction::Expire { request: id } };
        let policy = self.policy_for(tenant).await?;
        self.fire(policy, tenant, id, reads, claim, |view, request, waiter, context| {
            let head = view.chain(&keys::RECEIPTS)?;
            Ok(expire(request, waiter, &head, context)?)
        })
        .await
    }

    /// Tells a waiter that an attempt lapsed, under the claim of its timer (R3).
    pub(crate) async fn lapse(
        &self,
        tenant: TenantId,
        id: RequestId,
        timer: TimerKey,
        epoch: u64,
    ) -> Result<(), DecisionError> {
        let claim = Claim { timer, epoch, action: TimerAction::Lapse { request: id } };
        let policy = self.policy_for(tenant).await?;
        self.fire(policy, tenant, id, Reads::none(), claim, |_, request, waiter, context| {
            Ok(lapse(request, waiter, context)?)
        })
        .await
    }

    /// Does what reaching people asks for, under the claim of its timer (R4, V-9).
    pub(crate) async fn tend(
        &self,
        tenant: TenantId,
        id: RequestId,
        timer: TimerKey,
        epoch: u64,
    ) -> Result<(), DecisionError> {
        let claim = Claim { timer, epoch, action: TimerAction::Tend { request: id } };
        let policy = self.policy_for_claims(tenant).await?;
        self.fire(policy, tenant, id, Reads::none(), claim, |_, request, _, context| Ok(tend(request, context))).await
    }

    /// Runs what a request's timer comes to. The commit settles the claim, so of two workers one acts.
    async fn fire<F>(
        &self,
        policy: Arc<Policy>,
        tenant: TenantId,
        id: RequestId,
        reads: Reads,
        claim: Claim,
        transition: F,
    ) -> Result<(), DecisionError>
    where
        F: Fn(&View<'_>, &Request, &Waiter, &mut Context<'_>) -> Result<Fired, Halt<DecisionError>>
            + Send
            + Sync
            + 'static,
    {
        let signer = self.inner.signer.clone();
        #[cfg(feature = "planted-faults")]
        let early = self.swept_early(tenant, id).await?;
        self.decide(tenant, reads.record(RecordKey::new(keys::REQUEST, id)), move |view, moment| {
            let mut mint = view.mint();
            let mut writes = Writes::default();
            writes.timer(TimerWrite::Settle { key: claim.timer.clone(), epoch: claim.epoch });
            if let Some(request) = view.get::<Request, _>(id)? {
                let waiter = view
                    .get::<Waiter, _>(request.document.waiter_ref.digest().hex())?
                    .ok_or(DecisionError::Internal)?;
                #[cfg(feature = "planted-faults")]
                let (request, waiter) = early.in_place_of(request, waiter);
                let held = Held::load(view, &request.document)?;
                let capabilities = held.capabilities();
                let mut context =
                    Context { now: moment.now, mint: &mut mint, policy: &policy, capabilities: &capabilities };
                match transition(view, &request.document, &waiter.document, &mut context)? {
                    Fired::Acted(effects) => {
                        let claim = Claimed::Settled(&claim.timer);
                        let before = Before {
                            request: Some(&request),
                            waiter: Some(&waiter),
                            held: Some(&held),
                            claim,
                            ..Before::default()
                        };
                        writes.effects(before, &effects, signer.as_deref()).map_err(Halt::Broken)?;
                    }
                    // The clock stepped back, or the time was moved: the wait goes on.
                    Fired::NotDue { again: Some(due) } => {
                        let action = json_text(&claim.action).map_err(Halt::Broken)?;
                        #[cfg(feature = "planted-faults")]
                        if handoff_protocol::planted::Fault::PutOffForever.is_planted() {
                            return Ok(Outcome::Write(writes.finish(&mint), ()));
                        }
                        writes.timer(TimerWrite::Put { key: claim.timer.clone(), due, action });
                    }
                    Fired::NotDue { again: None } => {}
                }
            }
            Ok(Outcome::Write(writes.finish(&mint), ()))
        })
        .await
    }

    /// Deletes replay records that lapsed, a batch a commit, and settles the timer with the last.
    pub(crate) async fn purge_replays(
        &self,
        tenant: TenantId,
        timer: TimerKey,
        epoch: u64,
    ) -> Result<(), DecisionError> {
        let oldest = IndexRead { index: keys::REPLAYS, prefix: Vec::new(), limit: PURGE_BATCH };
        loop {
            let (oldest, timer) = (oldest.clone(), timer.clone());
            let more = self
                .decide(tenant, Reads::none().index(oldest.clone()), move |view, moment| {
                    let lapsed: Vec<Kept<ReplayRecord>> = view
                        .scan::<ReplayRecord, DecisionError>(oldest.clone())?
                        .into_iter()
                        .filter(|kept| {
                            let lapsed = kept.document.replay.expires_at <= moment.now;
                            #[cfg(feature = "planted-faults")]
                            let lapsed = lapsed || handoff_protocol::planted::Fault::PurgeTakesTheLiving.is_planted();
                            lapsed
                        })
                        .collect();
                    let more = lapsed.len() == PURGE_BATCH;
                    let mut writes = Writes::default();
                    lapsed.iter().for_each(|kept| writes.delete(kept));
                    if !more {
                        writes.timer(TimerWrite::Settle { key: timer.clone(), epoch });
                    }
                    Ok(Outcome::Write(writes.finish(&view.mint()), more))
                })
                .await?;
            if !more {
                return Ok(());
            }
        }
    }
}
