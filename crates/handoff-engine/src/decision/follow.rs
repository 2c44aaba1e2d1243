//! Following: what a page that is open learns of commits, without asking again and again.
//!
//! A feed says that something changed, and where it stands now; it never says what, so it can tell nobody more than the
//! page that it makes the browser fetch. Subscribe, then read, then wait: a commit in between is not missed.

use std::time::Duration;

use handoff_protocol::{
    decision::{DecisionError, Request, terms::RequestState},
    id::{RequestId, TenantId},
    principal::Principal,
};

use super::{internal, keys, tenant_of};
use crate::{
    engine::Engine,
    hub::Subscription,
    store::{Reads, Sequence},
    transaction::Outcome,
};

/// How many events one read brings.
const PAGE: usize = 500;

/// What a feed came to.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Change<T> {
    /// Something changed, and this is where it stands now.
    To(T),
    /// Nothing did.
    Nothing,
    /// The engine stops, and there will be nothing more.
    Closed,
}

/// Follows what is pending in a tenant.
pub struct InboxFeed {
    engine: Engine,
    tenant: TenantId,
    subscription: Subscription,
    /// The last event that the follower knows of.
    seen: Sequence,
}

/// Where a request stands, as far as a page that shows it is concerned.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Standing {
    /// The version that is shown.
    pub version: u64,
    /// The state.
    pub state: RequestState,
}

/// Follows one request.
pub struct RequestFeed {
    engine: Engine,
    tenant: TenantId,
    id: RequestId,
    subscription: Subscription,
    seen: Option<Standing>,
}

impl Engine {
    /// Where the tenant's events end now: what a follower that has just read the inbox goes on after. Read it before the
    /// inbox, so that nothing falls in between.
    ///
    /// # Errors
    ///
    /// [`DecisionError::Internal`] if the store fails.
    pub async fn event_head(&self, principal: &Principal) -> Result<Sequence, DecisionError> {
        self.decide(tenant_of(principal), Reads::none(), |view, _| Ok(Outcome::Nothing(view.sequence()))).await
    }

    /// Follows what is pending, from an event on. A place that does not exist yet counts as the end.
    ///
    /// # Errors
    ///
    /// [`DecisionError::Internal`] if the store fails.
    pub async fn follow_inbox(
        &self,
        principal: &Principal,
        after: Option<Sequence>,
    ) -> Result<InboxFeed, DecisionError> {
        let tenant = tenant_of(principal);
        let subscription = self.inner.hub.subscribe(tenant, keys::inbox_topic());
        let head = self.event_head(principal).await?;
        Ok(InboxFeed { engine: self.clone(), tenant, subscription, seen: after.unwrap_or(head).min(head) })
    }

    /// Follows a request, from where its page stands.
    ///
    /// # Errors
    ///
    /// [`DecisionError::RequestNotFound`].
    pub async fn follow_request(
        &self,
        principal: &Principal,
        id: RequestId,
        seen: Option<Standing>,
    ) -> Result<RequestFeed, DecisionError> {
        let tenant = tenant_of(principal);
        let subscription = self.inner.hub.subscribe(tenant, keys::request_topic(id));
        self.document::<Request>(tenant, id).await?.ok_or(DecisionError::RequestNotFound)?;
        Ok(RequestFeed { engine: self.clone(), tenant, id, subscription, seen })
    }
}

impl InboxFeed {
    /// Waits until some request changed, for so long at the most. Call it again for the next change.
    ///
    /// # Errors
    ///
    /// [`DecisionError::Internal`] if the store fails.
    pub async fn next(&mut self, within: Duration) -> Result<Change<Sequence>, DecisionError> {
        let deadline = tokio::time::Instant::now() + within;
        loop {
            if self.read_on().await? {
                return Ok(Change::To(self.seen));
            }
            if !self.subscription.changed_before(deadline).await {
                return Ok(if self.subscription.is_closed() { Change::Closed } else { Change::Nothing });
            }
        }
    }

    /// Reads to the end, and tells whether a request was among what it read.
    async fn read_on(&mut self) -> Result<bool, DecisionError> {
        let mut changed = false;
        loop {
            let events = self.engine.inner.store.read_events(&self.tenant, self.seen, PAGE).await;
            let events = events.map_err(|error| internal(&error))?;
            changed |= events.iter().any(|event| event.event_type.as_str().starts_with("request."));
            self.seen = events.last().map_or(self.seen, |event| event.sequence);
            if events.len() < PAGE {
                return Ok(changed);
            }
        }
    }
}

impl RequestFeed {
    /// Waits until the request stands elsewhere than the follower knows, for so long at the most.
    ///
    /// # Errors
    ///
    /// [`DecisionError::Internal`] if the store fails.
    pub async fn next(&mut self, within: Duration) -> Result<Change<Standing>, DecisionError> {
        let deadline = tokio::time::Instant::now() + within;
        loop {
            let request: Request =
                self.engine.document(self.tenant, self.id).await?.ok_or(DecisionError::RequestNotFound)?;
            let stands = Standing { version: request.version, state: request.state };
            if self.seen.replace(stands).is_some_and(|seen| seen != stands) {
                return Ok(Change::To(stands));
            }
            if !self.subscription.changed_before(deadline).await {
                return Ok(if self.subscription.is_closed() { Change::Closed } else { Change::Nothing });
            }
        }
    }
}

impl std::fmt::Debug for InboxFeed {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("InboxFeed").field("seen", &self.seen).finish_non_exhaustive()
    }
}

impl std::fmt::Debug for RequestFeed {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("RequestFeed").field("id", &self.id).finish_non_exhaustive()
    }
}
