//! Listing requests: oldest first, stable under writes (section 21).

use handoff_protocol::{
    decision::{
        DecisionError, Request, WaiterRef, check_scope, limits,
        terms::{RequestState, TargetKind},
        view::{Listing, RequestView},
    },
    id::{PrincipalId, RequestId, Ulid},
    principal::{Principal, Scope},
    timestamp::Timestamp,
};

use super::{internal, keys, tenant_of};
use crate::{
    document,
    engine::Engine,
    store::{IndexName, IndexScan, Order},
};

/// How many bytes of requests a page holds, unless its first alone is larger: a page is bounded however large requests
/// are, and whoever follows the cursor gets the rest.
const PAGE_BYTES: usize = 4 << 20;
/// How many rows one read brings.
const STEP: usize = 64;

/// Which requests are wanted, and which page of them.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct RequestFilter {
    /// Only these states; empty for all.
    pub states: Vec<RequestState>,
    /// Only this waiter's.
    pub waiter_ref: Option<WaiterRef>,
    /// Only those with a delivery for this principal by its id.
    pub assignee: Option<PrincipalId>,
    /// Only those with a delivery through this channel.
    pub channel: Option<String>,
    /// Only those raised in this span.
    pub created: Span,
    /// Only requests after this one, from the cursor of the page before.
    pub after: Option<RequestId>,
    /// How many at the most; clamped to 1 to 200, 50 if absent.
    pub limit: Option<usize>,
}

/// A span of time, open where there is no bound.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Span {
    /// Its beginning, which is part of it.
    pub from: Option<Timestamp>,
    /// Its end, which is not.
    pub before: Option<Timestamp>,
}

impl Span {
    /// Whether an instant lies in it.
    #[must_use]
    pub fn contains(&self, time: Timestamp) -> bool {
        self.from.is_none_or(|from| from <= time) && self.before.is_none_or(|before| time < before)
    }
}

impl Engine {
    /// Lists requests, oldest first.
    ///
    /// # Errors
    ///
    /// [`DecisionError::InsufficientScope`].
    pub async fn requests(
        &self,
        principal: &Principal,
        filter: &RequestFilter,
    ) -> Result<Listing<RequestView>, DecisionError> {
        check_scope(principal, Scope::RequestsRead)?;
        #[cfg(feature = "planted-faults")]
        let filter = &crate::planted::widened(filter);
        let tenant = tenant_of(principal);
        let limit = filter.limit.unwrap_or(limits::PAGE).clamp(1, limits::MAX_PAGE);
        let (index, prefix) = best_index(filter);
        let mut after = filter.start().map(|id| [prefix.as_slice(), &keys::by_id(id)].concat());
        let mut found: Vec<Request> = Vec::new();
        let mut exhausted = false;
        // How many the page can hold, once that is known to be fewer than wanted.
        let mut room = limit;
        let mut bytes = 0_usize;
        // What a filter leaves out is passed in larger steps.
        let mut step = STEP.min(limit.saturating_add(1));
        // One more than wanted tells whether more follow.
        while found.len() <= room && !exhausted {
            let scan = IndexScan {
                tenant,
                index: index.clone(),
                prefix: prefix.clone(),
                after: after.take(),
                order: Order::Ascending,
                limit: std::mem::replace(&mut step, STEP),
            };
            let page = self.inner.store.scan(scan).await.map_err(|error| internal(&error))?;
            exhausted = !page.more;
            for row in page.rows {
                let request: Request = document::read(&row.record).map_err(|error| internal(&error))?.document;
                after = Some(row.sort_key);
                if found.len() <= room && filter.wants(&request) {
                    bytes = bytes.saturating_add(row.record.document.len());
                    if bytes > PAGE_BYTES && !found.is_empty() {
                        room = room.min(found.len());
                    }
                    found.push(request);
                }
            }
        }
        let mut has_more = found.len() > room;
        found.truncate(room);
        let mut data: Vec<RequestView> = Vec::with_capacity(found.len());
        // Receipts and authorizations are found on the way, and count as well.
        let mut served = 0_usize;
        for request in found {
            let (view, size) = self.sized_view(tenant, request).await?;
            served = served.saturating_add(size);
            if served > PAGE_BYTES && !data.is_empty() {
                has_more = true;
                break;
            }
            data.push(view);
        }
        let next_cursor = data.last().filter(|_| has_more).map(|request| request.id.to_string());
        #[cfg(feature = "planted-faults")]
        let next_cursor = next_cursor.filter(|_| !handoff_protocol::planted::Fault::PagesEndEarly.is_planted());
        Ok(Listing { data, has_more, next_cursor })
    }
}

impl RequestFilter {
    /// What to begin after: the cursor, or the last number before the span if that is later. An id's time is never
    /// before its request's, so nothing of the span is skipped. It can be after it, where a clock stepped back; then
    /// ids have no say in where the span ends, and each request is looked at by its own time.
    fn start(&self) -> Option<RequestId> {
        let before_span = self.created.from.map(|from| {
            let first = Ulid::from_parts(from, 0).as_u128();
            RequestId::from_ulid(Ulid::from_u128(first.saturating_sub(1)))
        });
        self.after.max(before_span)
    }

    fn wants(&self, request: &Request) -> bool {
        #[cfg(feature = "planted-faults")]
        if request.attempt_notified && handoff_protocol::planted::Fault::LapseHides.is_planted() {
            return false;
        }
        (self.states.is_empty() || self.states.contains(&request.state))
            && self.waiter_ref.as_ref().is_none_or(|waiter| *waiter == request.waiter_ref)
            && self.created.contains(request.created_at)
            && self
                .channel
                .as_ref()
                .is_none_or(|channel| request.deliveries.iter().any(|delivery| delivery.channel == *channel))
            && self.assignee.is_none_or(|assignee| {
                let assignee = assignee.to_string();
                request
                    .deliveries
                    .iter()
                    .any(|delivery| delivery.target.kind == TargetKind::Principal && delivery.target.value == assignee)
            })
    }
}

/// The narrowest index whose order is that of ids.
fn best_index(filter: &RequestFilter) -> (IndexName, Vec<u8>) {
    match (&filter.waiter_ref, filter.states.as_slice()) {
        (Some(waiter), [RequestState::Pending]) => (keys::OPEN_BY_WAITER, keys::waiter_prefix(waiter)),
        (Some(waiter), _) => (keys::BY_WAITER, keys::waiter_prefix(waiter)),
        (None, [state]) => (keys::BY_STATE, keys::state_prefix(*state)),
        (None, _) => (keys::BY_ID, Vec::new()),
    }
}
