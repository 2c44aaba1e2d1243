//! Waiting: long polls that wake on commit, and reattachment (sections 13 and 21). Reading consumes nothing.

use std::time::Duration;

use handoff_protocol::{
    decision::{
        DecisionError, Request, Signal, Waiter, WaiterRef, check_scope, limits,
        terms::{Liveness, WaiterState},
        view::{ReattachResult, RequestView, SignalList, SignalView, aggregate},
    },
    id::{RequestId, TenantId},
    principal::{Principal, Scope},
};

use super::{internal, keys, tenant_of};
use crate::{
    document,
    engine::Engine,
    store::{IndexName, IndexScan, Order},
};

/// How many signals one read brings.
const STEP: usize = 50;
/// How many signals one poll returns at the most.
const SIGNALS: usize = 1000;
/// How many bytes of signals one poll returns, unless its first alone is larger.
const SIGNAL_BYTES: usize = 4 << 20;

impl Engine {
    /// Ends every wait from now on: those that are held answer with what there is, later ones at once. For a server
    /// that stops and must not make its callers wait; nothing else changes, and there is no way back.
    pub fn stop_waiting(&self) {
        self.inner.hub.close();
    }

    /// Every signal of a waiter that is not acknowledged, oldest first. With a wait, holds until there is one or the
    /// wait is over; then the list is empty. Dropping the call has no effect.
    ///
    /// # Errors
    ///
    /// [`DecisionError::InsufficientScope`]; [`DecisionError::WaiterNotFound`], decided before holding (rule X-7).
    pub async fn signals(
        &self,
        principal: &Principal,
        waiter: &WaiterRef,
        wait: Duration,
    ) -> Result<SignalList, DecisionError> {
        self.signals_after(principal, waiter, 0, wait).await
    }

    /// The same, but only of signals behind a sequence: what brings the rest where a list has more than one call returns,
    /// and lets a waiter pass over what it will not acknowledge.
    ///
    /// # Errors
    ///
    /// The same as those of [`signals`](Self::signals).
    pub async fn signals_after(
        &self,
        principal: &Principal,
        waiter: &WaiterRef,
        sequence: u64,
        wait: Duration,
    ) -> Result<SignalList, DecisionError> {
        check_scope(principal, Scope::WaitersWait)?;
        let tenant = tenant_of(principal);
        let kept = self.document::<Waiter>(tenant, waiter.digest().hex()).await?;
        #[cfg(feature = "planted-faults")]
        if kept.is_none() && handoff_protocol::planted::Fault::UnknownWaiterIsEmpty.is_planted() {
            return Ok(SignalList { data: Vec::new(), has_more: false });
        }
        let kept = kept.ok_or(DecisionError::WaiterNotFound)?;
        let _seen = self.show_life(tenant, &kept).await?;
        let deadline = tokio::time::Instant::now() + wait.min(Duration::from_secs(limits::MAX_WAIT_SECONDS));
        let mut subscription = self.inner.hub.subscribe(tenant, keys::waiter_topic(waiter));
        loop {
            let list = self.unacked(tenant, waiter, sequence).await?;
            #[cfg(feature = "planted-faults")]
            let list = crate::planted::consumed(list);
            if !list.data.is_empty() || wait.is_zero() {
                return Ok(list);
            }
            #[cfg(feature = "planted-faults")]
            if handoff_protocol::planted::Fault::SubscribesAfterReading.is_planted() {
                subscription = self.inner.hub.subscribe(tenant, keys::waiter_topic(waiter));
            }
            if !subscription.changed_before(deadline).await {
                return Ok(list);
            }
        }
    }

    /// A request as soon as it has ended, or as it stands when the wait is over. Dropping the call has no effect.
    ///
    /// # Errors
    ///
    /// [`DecisionError::InsufficientScope`], [`DecisionError::RequestNotFound`].
    pub async fn request_settled(
        &self,
        principal: &Principal,
        id: RequestId,
        wait: Duration,
    ) -> Result<RequestView, DecisionError> {
        check_scope(principal, Scope::RequestsRead)?;
        let tenant = tenant_of(principal);
        let deadline = tokio::time::Instant::now() + wait.min(Duration::from_secs(limits::MAX_WAIT_SECONDS));
        let mut subscription = self.inner.hub.subscribe(tenant, keys::request_topic(id));
        let mut request = self.request_view(tenant, id).await?;
        let waiter = if request.liveness == Liveness::Leased && !wait.is_zero() {
            self.document::<Waiter>(tenant, request.waiter_ref.digest().hex()).await?
        } else {
            None
        };
        // Whoever asked and waits here shows that it lives as well as one that polls its signals.
        let owned = waiter.filter(|waiter| principal.id().is_some_and(|id| waiter.is_owned_by(id)));
        let _seen = match &owned {
            Some(waiter) => self.show_life(tenant, waiter).await?,
            None => None,
        };
        loop {
            if request.state.is_final() || wait.is_zero() {
                return Ok(request);
            }
            if !subscription.changed_before(deadline).await {
                return Ok(request);
            }
            request = self.request_view(tenant, id).await?;
        }
    }

    /// What a runtime that comes back finds: its pending requests and its unacknowledged signals (rule X-9).
    ///
    /// # Errors
    ///
    /// [`DecisionError::InsufficientScope`], [`DecisionError::WaiterNotFound`].
    pub async fn reattach(&self, principal: &Principal, waiter: &WaiterRef) -> Result<ReattachResult, DecisionError> {
        check_scope(principal, Scope::WaitersWait)?;
        let tenant = tenant_of(principal);
        let kept =
            self.document::<Waiter>(tenant, waiter.digest().hex()).await?.ok_or(DecisionError::WaiterNotFound)?;
        self.show_life(tenant, &kept).await?;
        self.standing(tenant, waiter).await
    }

    /// Where a waiter stands across its requests.
    pub(super) async fn standing(&self, tenant: TenantId, waiter: &WaiterRef) -> Result<ReattachResult, DecisionError> {
        let open = self.open_requests(tenant, waiter).await?;
        let last = self.requests_of(tenant, keys::BY_WAITER, waiter, Order::Descending, None, 1).await?;
        let signals = self.unacked(tenant, waiter, 0).await?.data;
        #[cfg(feature = "planted-faults")]
        let signals =
            if handoff_protocol::planted::Fault::ReattachOmitsUnacked.is_planted() { Vec::new() } else { signals };
        let pending: Vec<WaiterState> = open.iter().map(|request| request.waiter.state).collect();
        let any_acked = last.requests.iter().any(|request| request.waiter.state == WaiterState::Acked);
        Ok(ReattachResult {
            waiter_ref: waiter.clone(),
            state: aggregate(!signals.is_empty(), &pending, any_acked),
            open_requests: open.iter().map(|request| request.id).collect(),
            signals,
        })
    }

    async fn unacked(&self, tenant: TenantId, waiter: &WaiterRef, sequence: u64) -> Result<SignalList, DecisionError> {
        let (signals, has_more) = self.unacked_signals(tenant, waiter, sequence).await?;
        let resumed = self.resumed(tenant, &signals).await?;
        let served =
            signals.into_iter().zip(resumed).filter_map(|(signal, resumed)| Some(SignalView::new(signal, resumed?)));
        Ok(SignalList { data: served.collect(), has_more })
    }

    async fn unacked_signals(
        &self,
        tenant: TenantId,
        waiter: &WaiterRef,
        sequence: u64,
    ) -> Result<(Vec<Signal>, bool), DecisionError> {
        let (mut signals, mut bytes) = (Vec::new(), 0_usize);
        let mut after = keys::unacked(waiter, sequence);
        loop {
            let scan = IndexScan {
                tenant,
                index: keys::UNACKED,
                prefix: keys::waiter_prefix(waiter),
                after: Some(after),
                order: Order::Ascending,
                limit: STEP,
            };
            let page = self.inner.store.scan(scan).await.map_err(|error| internal(&error))?;
            for row in &page.rows {
                bytes = bytes.saturating_add(row.record.document.len());
                if signals.len() == SIGNALS || (bytes > SIGNAL_BYTES && !signals.is_empty()) {
                    return Ok((signals, true));
                }
                signals.push(document::read::<Signal>(&row.record).map_err(|error| internal(&error))?.document);
            }
            match page.rows.last().filter(|_| page.more) {
                Some(last) => after = last.sort_key.clone(),
                None => return Ok((signals, false)),
            }
        }
    }

    /// Every pending request of a waiter, oldest first, however many.
    async fn open_requests(&self, tenant: TenantId, waiter: &WaiterRef) -> Result<Vec<Request>, DecisionError> {
        let mut found = Vec::new();
        let mut after = None;
        loop {
            let page = self.requests_of(tenant, keys::OPEN_BY_WAITER, waiter, Order::Ascending, after, STEP).await?;
            found.extend(page.requests);
            match page.next {
                Some(next) => after = Some(next),
                None => return Ok(found),
            }
        }
    }

    async fn requests_of(
        &self,
        tenant: TenantId,
        index: IndexName,
        waiter: &WaiterRef,
        order: Order,
        after: Option<Vec<u8>>,
        limit: usize,
    ) -> Result<RequestPage, DecisionError> {
        let scan = IndexScan { tenant, index, prefix: keys::waiter_prefix(waiter), after, order, limit };
        let page = self.inner.store.scan(scan).await.map_err(|error| internal(&error))?;
        let next = page.rows.last().filter(|_| page.more).map(|row| row.sort_key.clone());
        let requests = page
            .rows
            .iter()
            .map(|row| document::read::<Request>(&row.record).map(|kept| kept.document))
            .collect::<Result<_, _>>()
            .map_err(|error| internal(&error))?;
        Ok(RequestPage { requests, next })
    }
}

/// One page of a waiter's requests, and where the next begins.
struct RequestPage {
    requests: Vec<Request>,
    next: Option<Vec<u8>>,
}
