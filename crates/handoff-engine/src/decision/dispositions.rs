//! Reading what people did with a request besides deciding it (rule S-2).

use handoff_protocol::{
    decision::{DecisionError, RecordedDisposition, Request, check_scope, limits, view::Listing},
    id::RequestId,
    principal::{Principal, Scope},
};

use super::{internal, keys, tenant_of};
use crate::{
    document,
    engine::Engine,
    store::{IndexScan, Order},
};

impl Engine {
    /// The dispositions of a request that decided nothing, oldest first: after `after`, `limit` at the most, clamped to 1
    /// to 200 and 50 if absent.
    ///
    /// # Errors
    ///
    /// [`DecisionError::InsufficientScope`], [`DecisionError::RequestNotFound`].
    pub async fn dispositions(
        &self,
        principal: &Principal,
        id: RequestId,
        after: Option<u64>,
        limit: Option<usize>,
    ) -> Result<Listing<RecordedDisposition>, DecisionError> {
        check_scope(principal, Scope::RequestsRead)?;
        let after = after.map(|n| keys::disposition(id, n));
        let limit = limit.unwrap_or(limits::PAGE).clamp(1, limits::MAX_PAGE);
        let (data, more) = self.disposed(principal, id, after, Order::Ascending, limit).await?;
        let next_cursor = data.last().filter(|_| more).map(|last| last.n.to_string());
        Ok(Listing { data, has_more: more, next_cursor })
    }

    /// What people did last with a request besides deciding it, oldest first, for whoever can open its page.
    ///
    /// # Errors
    ///
    /// [`DecisionError::RequestNotFound`].
    pub async fn last_dispositions(
        &self,
        principal: &Principal,
        id: RequestId,
        count: usize,
    ) -> Result<Vec<RecordedDisposition>, DecisionError> {
        let (mut data, _) = self.disposed(principal, id, None, Order::Descending, count).await?;
        data.reverse();
        Ok(data)
    }

    async fn disposed(
        &self,
        principal: &Principal,
        id: RequestId,
        after: Option<Vec<u8>>,
        order: Order,
        limit: usize,
    ) -> Result<(Vec<RecordedDisposition>, bool), DecisionError> {
        let tenant = tenant_of(principal);
        self.document::<Request>(tenant, id).await?.ok_or(DecisionError::RequestNotFound)?;
        let scan = IndexScan { tenant, index: keys::DISPOSITIONS, prefix: keys::by_id(id), after, order, limit };
        let page = self.inner.store.scan(scan).await.map_err(|error| internal(&error))?;
        let documents = page.rows.iter().map(|row| document::read(&row.record).map(|kept| kept.document));
        let data: Vec<RecordedDisposition> = documents.collect::<Result<_, _>>().map_err(|error| internal(&error))?;
        Ok((data, page.more))
    }
}
