//! What this domain's timers do when their time comes.

use std::sync::Arc;

use handoff_protocol::{
    decision::{Context, DecisionError, Expired, Request, Waiter, expire},
    id::{RequestId, TenantId},
};

use super::{
    apply::{Writes, json_text},
    documents::ReplayRecord,
    keys::{self, TimerAction},
};
use crate::{
    document::Kept,
    engine::Engine,
    store::{IndexRead, Reads, RecordKey, TimerKey, TimerWrite},
    transaction::{Halt, Outcome},
};

/// How many replay records one purge deletes in one commit.
const PURGE_BATCH: usize = 500;

impl Engine {
    /// Expires a request under the claim of its deadline's timer (R6). The commit settles the claim, so of two workers
    /// one acts.
    pub(crate) async fn expire(
        &self,
        tenant: TenantId,
        id: RequestId,
        timer: TimerKey,
        epoch: u64,
    ) -> Result<(), DecisionError> {
        let reads = Reads::none().record(RecordKey::new(keys::REQUEST, id)).chain(keys::RECEIPTS);
        let (policy, signer) = (Arc::clone(&self.inner.policy), self.inner.signer.clone());
        self.decide(tenant, reads, move |view, moment| {
            let mut mint = view.mint();
            let mut writes = Writes::default();
            writes.timer(TimerWrite::Settle { key: timer.clone(), epoch });
            if let Some(request) = view.get::<Request, _>(id)? {
                let waiter = view
                    .get::<Waiter, _>(request.document.waiter_ref.digest().hex())?
                    .ok_or(DecisionError::Internal)?;
                let head = view.chain(&keys::RECEIPTS)?;
                let mut context = Context { now: moment.now, mint: &mut mint, policy: &policy };
                match expire(&request.document, &waiter.document, &head, &mut context)? {
                    Expired::Expired(effects) => writes
                        .effects(Some(&request), Some(&waiter), &effects, signer.as_deref())
                        .map_err(Halt::Broken)?,
                    // The clock stepped back, or the deadline moved: the wait goes on.
                    Expired::NotDue { again: Some(due) } => {
                        let action = json_text(&TimerAction::Expire { request: id }).map_err(Halt::Broken)?;
                        writes.timer(TimerWrite::Put { key: timer.clone(), due, action });
                    }
                    Expired::NotDue { again: None } => {}
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
                        .filter(|kept| kept.document.replay.expires_at <= moment.now)
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
