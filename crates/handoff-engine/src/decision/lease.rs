//! Leased waiters: their signs of life, the end of their leases, and their return (W6, W7, X-10).
//!
//! Each poll is a sign of life, and writing each would cost a commit a poll. So a sign within half a minute of a written
//! one is remembered here, and the sweep writes the latest once that half minute is over: what counts as silence is
//! exact, and a waiter costs two writes a minute at the most.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use futures::future::try_join_all;
use handoff_protocol::{
    decision::{
        Context, DecisionError, Request, Waiter, WaiterRef, check_scope,
        lease::{self, SignOfLife, WaiterLoss},
        terms::Liveness,
        view::ReattachResult,
    },
    digest::Digest,
    id::{RequestId, TenantId},
    principal::{Principal, Scope},
    timestamp::Timestamp,
};

use super::{
    apply::{Before, Writes, json_text},
    held::Held,
    internal,
    keys::{self, TimerAction},
    tenant_of,
};
use crate::{
    document,
    engine::Engine,
    store::{IndexRead, IndexScan, Order, Reads, RecordKey, TimerKey, TimerWrite},
    transaction::{Halt, Outcome},
};

/// How many requests one commit takes up again, and one look gives up.
const BATCH: usize = 50;

/// The signs of life that this node remembers and did not write yet.
#[derive(Debug, Default)]
pub(crate) struct SignsOfLife {
    /// In an order that is the same in every run, in which they are written.
    latest: Mutex<BTreeMap<(TenantId, Digest), Remembered>>,
}

#[derive(Clone, Copy, Debug)]
struct Remembered {
    at: Timestamp,
    until: Timestamp,
}

impl SignsOfLife {
    fn remember(&self, waiter: (TenantId, Digest), at: Timestamp, until: Timestamp) {
        let mut latest = self.lock();
        let sign = latest.entry(waiter).or_insert(Remembered { at, until });
        sign.at = sign.at.max(at);
        sign.until = sign.until.min(until);
    }

    fn take_due(&self, now: Timestamp) -> Vec<((TenantId, Digest), Timestamp)> {
        let mut latest = self.lock();
        latest.extract_if(.., |_, sign| sign.until <= now).map(|(waiter, sign)| (waiter, sign.at)).collect()
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<(TenantId, Digest), Remembered>> {
        self.latest.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A waiter that is seen for as long as this lives: a poll that is held (rule X-10).
#[derive(Debug)]
pub(super) struct Seen<'a> {
    engine: &'a Engine,
    waiter: (TenantId, Digest),
    from: Timestamp,
    until: Timestamp,
}

impl Drop for Seen<'_> {
    fn drop(&mut self) {
        let now = self.engine.now();
        if now > self.from {
            self.engine.inner.signs.remember(self.waiter, now, self.until);
        }
    }
}

impl Engine {
    /// Notes that a waiter lives, and takes up what was orphaned. What comes back notes it again when it is dropped.
    pub(super) async fn show_life(&self, tenant: TenantId, waiter: &Waiter) -> Result<Option<Seen<'_>>, DecisionError> {
        let (now, key) = (self.now(), (tenant, waiter.waiter_ref.digest()));
        let until = match lease::sign_of_life(waiter, now) {
            SignOfLife::Ignore => return Ok(None),
            SignOfLife::Remember { until } => {
                self.inner.signs.remember(key, now, until);
                until
            }
            SignOfLife::Write => {
                self.write_sign_of_life(key, now).await?;
                lease::write_again(now)
            }
        };
        Ok(Some(Seen { engine: self, waiter: key, from: now, until }))
    }

    /// Writes the signs of life whose time to be written has come.
    pub(crate) async fn write_signs_of_life(&self) {
        let now = self.now();
        for (waiter, at) in self.inner.signs.take_due(now) {
            if self.write_sign_of_life(waiter, at).await.is_err() {
                self.inner.signs.remember(waiter, at, now);
            }
        }
    }

    /// Writes that a waiter lived at a time, and takes its orphans up again (W7), a batch a commit.
    pub(super) async fn write_sign_of_life(
        &self,
        (tenant, waiter): (TenantId, Digest),
        at: Timestamp,
    ) -> Result<(), DecisionError> {
        let orphans = IndexRead { index: keys::ORPHANED, prefix: keys::digest_prefix(waiter), limit: BATCH };
        let leased = IndexRead { index: keys::LEASED, prefix: keys::digest_prefix(waiter), limit: 1 };
        let reads = Reads::none()
            .record(RecordKey::new(keys::WAITER, waiter.hex()))
            .index(orphans.clone())
            .index(leased.clone());
        loop {
            let (orphans, leased) = (orphans.clone(), leased.clone());
            let more = self
                .decide(tenant, reads.clone(), move |view, moment| {
                    let Some(kept) = view.get::<Waiter, _>(waiter.hex())? else { return Ok(Outcome::Nothing(false)) };
                    let orphaned = view.scan::<Request, _>(orphans.clone())?;
                    let mut waits = !view.scan::<Request, DecisionError>(leased.clone())?.is_empty();
                    let mut writes = Writes::default();
                    for request in &orphaned {
                        let Some(effects) = lease::rearm(&request.document) else { continue };
                        waits |= effects.request.liveness == Liveness::Leased;
                        let before = Before { request: Some(request), ..Before::default() };
                        writes.effects(before, &effects, None).map_err(Halt::Broken)?;
                    }
                    let next = lease::seen(&kept.document, at.min(moment.now));
                    let next = if waits { next } else { lease::released(&next) };
                    if next == kept.document && orphaned.is_empty() {
                        return Ok(Outcome::Nothing(false));
                    }
                    let more = orphaned.len() == BATCH;
                    let next = if more { lease::lost(&next) } else { next };
                    writes.put(Some(&kept), &next).map_err(Halt::Broken)?;
                    if let Some(due) = next.seen_at.map(lease::lease_end) {
                        let action = json_text(&TimerAction::LapseLease { waiter }).map_err(Halt::Broken)?;
                        writes.timer(TimerWrite::Put { key: keys::lease_timer(waiter), due, action });
                    }
                    Ok(Outcome::Write(writes.finish(&view.mint()), more))
                })
                .await?;
            if !more {
                return Ok(());
            }
        }
    }

    /// Gives up a waiter whose lease ran out, under the claim of its timer (W6).
    pub(crate) async fn lapse_lease(
        &self,
        tenant: TenantId,
        waiter: Digest,
        timer: TimerKey,
        epoch: u64,
    ) -> Result<(), DecisionError> {
        if !self.lease_is_over(tenant, waiter, timer.clone(), epoch).await? {
            return Ok(());
        }
        // A waiter may have left very much behind: a page at a time, so that other timers get their turn in between.
        let more = self.orphan_page(tenant, waiter, WaiterLoss::Silent, None).await?.is_some();
        self.decide(tenant, Reads::none(), move |view, moment| {
            let mut writes = Writes::default();
            writes.timer(TimerWrite::Settle { key: timer.clone(), epoch });
            if more {
                let action = json_text(&TimerAction::LapseLease { waiter }).map_err(Halt::Broken)?;
                writes.timer(TimerWrite::Put { key: timer.clone(), due: moment.now, action });
            }
            Ok(Outcome::Write(writes.finish(&view.mint()), ()))
        })
        .await
    }

    /// Marks the waiter as lost if its lease is over; otherwise settles the timer, or puts it off.
    async fn lease_is_over(
        &self,
        tenant: TenantId,
        waiter: Digest,
        timer: TimerKey,
        epoch: u64,
    ) -> Result<bool, DecisionError> {
        let leased = IndexRead { index: keys::LEASED, prefix: keys::digest_prefix(waiter), limit: 1 };
        let reads = Reads::none().record(RecordKey::new(keys::WAITER, waiter.hex())).index(leased.clone());
        let listening_since = self.inner.listening_since;
        self.decide(tenant, reads, move |view, moment| {
            let kept = view.get::<Waiter, _>(waiter.hex())?;
            let waits = !view.scan::<Request, DecisionError>(leased.clone())?.is_empty();
            let mut writes = Writes::default();
            let ends = kept.as_ref().and_then(|kept| lease::lease_ends(&kept.document, listening_since));
            let is_over = match (&kept, ends) {
                (Some(_), Some(due)) if waits && moment.now < due => {
                    let action = json_text(&TimerAction::LapseLease { waiter }).map_err(Halt::Broken)?;
                    writes.timer(TimerWrite::Settle { key: timer.clone(), epoch });
                    writes.timer(TimerWrite::Put { key: timer.clone(), due, action });
                    false
                }
                (Some(kept), Some(_)) if waits => {
                    writes.put_changed(Some(kept), &lease::lost(&kept.document)).map_err(Halt::Broken)?;
                    true
                }
                (Some(kept), _) => {
                    writes.put_changed(Some(kept), &lease::released(&kept.document)).map_err(Halt::Broken)?;
                    writes.timer(TimerWrite::Settle { key: timer.clone(), epoch });
                    false
                }
                (None, _) => {
                    writes.timer(TimerWrite::Settle { key: timer.clone(), epoch });
                    false
                }
            };
            Ok(Outcome::Write(writes.finish(&view.mint()), is_over))
        })
        .await
    }

    /// Tells that the runtime behind a waiter has ended: what waits under it is kept or cancelled, as each request
    /// declared (W6). Repeating it is harmless; if it comes back, it reattaches.
    ///
    /// # Errors
    ///
    /// [`DecisionError::InsufficientScope`], also for whoever never raised under the waiter;
    /// [`DecisionError::WaiterNotFound`].
    pub async fn waiter_ended(
        &self,
        principal: &Principal,
        waiter: &WaiterRef,
    ) -> Result<ReattachResult, DecisionError> {
        check_scope(principal, Scope::WaitersWait)?;
        let (tenant, digest) = (tenant_of(principal), waiter.digest());
        let asker = principal.clone();
        self.decide(tenant, Reads::none().record(RecordKey::new(keys::WAITER, digest.hex())), move |view, _| {
            let kept = view.get::<Waiter, _>(digest.hex())?.ok_or(DecisionError::WaiterNotFound)?;
            lease::check_waiter_owner(&kept.document, &asker)?;
            let mut writes = Writes::default();
            writes.put_changed(Some(&kept), &lease::lost(&kept.document)).map_err(Halt::Broken)?;
            Ok(Outcome::Write(writes.finish(&view.mint()), ()))
        })
        .await?;
        let mut after = None;
        loop {
            after = self.orphan_page(tenant, digest, WaiterLoss::Reported, after).await?;
            if after.is_none() {
                break;
            }
        }
        self.standing(tenant, waiter).await
    }

    /// Gives up a page of the requests of a lost waiter, each in a commit of its own, and says where the next page begins.
    /// There is none once the waiter shows itself.
    async fn orphan_page(
        &self,
        tenant: TenantId,
        waiter: Digest,
        loss: WaiterLoss,
        after: Option<Vec<u8>>,
    ) -> Result<Option<Vec<u8>>, DecisionError> {
        let index = match loss {
            WaiterLoss::Silent => keys::LEASED,
            WaiterLoss::Reported => keys::OPEN_BY_WAITER,
        };
        let prefix = keys::digest_prefix(waiter);
        let scan = IndexScan { tenant, index, prefix, after, order: Order::Ascending, limit: BATCH };
        let page = self.inner.store.scan(scan).await.map_err(|error| internal(&error))?;
        let mut orphaning = Vec::with_capacity(page.rows.len());
        for row in &page.rows {
            let id = document::read::<Request>(&row.record).map_err(|error| internal(&error))?.document.id;
            orphaning.push(self.orphan(tenant, id, waiter, loss));
        }
        // Side by side, so that they can share a physical commit.
        let is_lost = try_join_all(orphaning).await?.into_iter().all(|is_lost| is_lost);
        Ok(page.rows.last().filter(|_| page.more && is_lost).map(|last| last.sort_key.clone()))
    }

    /// Gives up the waiter of one request, and says whether it is lost still.
    async fn orphan(
        &self,
        tenant: TenantId,
        id: RequestId,
        waiter: Digest,
        loss: WaiterLoss,
    ) -> Result<bool, DecisionError> {
        let policy = Arc::clone(&self.inner.policy);
        let reads =
            Reads::none().record(RecordKey::new(keys::REQUEST, id)).record(RecordKey::new(keys::WAITER, waiter.hex()));
        self.decide(tenant, reads, move |view, moment| {
            let request = view.get::<Request, _>(id)?.ok_or(DecisionError::Internal)?;
            let kept = view.get::<Waiter, _>(waiter.hex())?.ok_or(DecisionError::Internal)?;
            if !kept.document.orphaned {
                return Ok(Outcome::Nothing(false));
            }
            let held = Held::load(view, &request.document)?;
            let capabilities = held.capabilities();
            let mut mint = view.mint();
            let mut context =
                Context { now: moment.now, mint: &mut mint, policy: &policy, capabilities: &capabilities };
            let Some(effects) = lease::orphan(&request.document, &kept.document, loss, &mut context) else {
                return Ok(Outcome::Nothing(true));
            };
            let mut writes = Writes::default();
            let before =
                Before { request: Some(&request), waiter: Some(&kept), held: Some(&held), ..Before::default() };
            writes.effects(before, &effects, None).map_err(Halt::Broken)?;
            Ok(Outcome::Write(writes.finish(&mint), true))
        })
        .await
    }
}
