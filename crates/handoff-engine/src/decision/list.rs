//! Listing requests: oldest first, stable under writes (section 21).

use handoff_protocol::{
    decision::{
        DecisionError, Request, WaiterRef, check_scope,
        terms::RequestState,
        view::{Listing, RequestView},
    },
    id::RequestId,
    principal::{Principal, Scope},
};

use super::{internal, keys, tenant_of};
use crate::{
    document,
    engine::Engine,
    store::{IndexName, IndexScan, Order},
};

/// The most requests that one page holds.
const MAX_PAGE: usize = 200;
/// How many a page holds unless the caller says otherwise.
const PAGE: usize = 50;

/// Which requests are wanted, and which page of them.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct RequestFilter {
    /// Only these states; empty for all.
    pub states: Vec<RequestState>,
    /// Only this waiter's.
    pub waiter_ref: Option<WaiterRef>,
    /// Only requests after this one, from the cursor of the page before.
    pub after: Option<RequestId>,
    /// How many at the most; clamped to 1 to 200, 50 if absent.
    pub limit: Option<usize>,
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
        let tenant = tenant_of(principal);
        let limit = filter.limit.unwrap_or(PAGE).clamp(1, MAX_PAGE);
        let (index, prefix) = best_index(filter);
        let mut after = filter.after.map(|id| [prefix.as_slice(), &keys::by_id(id)].concat());
        let mut found: Vec<Request> = Vec::new();
        let mut exhausted = false;
        // One more than wanted tells whether more follow.
        while found.len() <= limit && !exhausted {
            let scan = IndexScan {
                tenant,
                index: index.clone(),
                prefix: prefix.clone(),
                after: after.take(),
                order: Order::Ascending,
                limit: limit.saturating_add(1),
            };
            let page = self.inner.store.scan(scan).await.map_err(|error| internal(&error))?;
            exhausted = !page.more;
            for row in page.rows {
                let request: Request = document::read(&row.record).map_err(|error| internal(&error))?.document;
                after = Some(row.sort_key);
                if filter.wants(&request) {
                    found.push(request);
                }
            }
        }
        let has_more = found.len() > limit;
        found.truncate(limit);
        let next_cursor = found.last().filter(|_| has_more).map(|request| request.id.to_string());
        let mut data = Vec::with_capacity(found.len());
        for request in found {
            data.push(self.view(tenant, request).await?);
        }
        Ok(Listing { data, has_more, next_cursor })
    }
}

impl RequestFilter {
    fn wants(&self, request: &Request) -> bool {
        (self.states.is_empty() || self.states.contains(&request.state))
            && self.waiter_ref.as_ref().is_none_or(|waiter| *waiter == request.waiter_ref)
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
