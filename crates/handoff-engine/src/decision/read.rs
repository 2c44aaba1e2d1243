//! Reading: requests, receipts, authorizations, the chain's head. Reading changes nothing.

use std::sync::Arc;

use handoff_protocol::{
    decision::{
        Authorization, DecisionError, Request, check_scope, limits,
        view::{AuthorizationView, ChainHeadView, Listing, RequestView},
    },
    digest::Digest,
    id::{AuthorizationId, ReceiptId, RequestId, TenantId},
    json::{Json, JsonText, from_text, read_str},
    principal::{Principal, Scope},
    signature::ReceiptSignature,
    timestamp::Timestamp,
};

use super::{documents::ReceiptPlace, internal, keys, list::Span, tenant_of};
use crate::{
    document::{self, Document},
    engine::Engine,
    store::{ChainEntry, HeightRange, RecordKey, StoreError},
};

/// How many receipts one read brings.
const BATCH: usize = 64;
/// How many bytes of receipts an answer holds, unless its first alone is larger; whoever follows the cursor gets the rest.
const RECEIPTS_BYTES: usize = 16 << 20;

/// Which page of the receipts is wanted.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct ReceiptFilter {
    /// How many at the most; none for the whole chain, up to 1000.
    pub limit: Option<usize>,
    /// Only receipts above this height, from the cursor of the page before.
    pub after_height: u64,
    /// Only those decided in this span.
    pub decided: Span,
}

impl Engine {
    /// A request as it stands now.
    ///
    /// # Errors
    ///
    /// [`DecisionError::InsufficientScope`], [`DecisionError::RequestNotFound`].
    pub async fn request(&self, principal: &Principal, id: RequestId) -> Result<RequestView, DecisionError> {
        check_scope(principal, Scope::RequestsRead)?;
        self.request_view(tenant_of(principal), id).await
    }

    /// A request as a person may see it who can open its page; answering is what needs authority.
    ///
    /// # Errors
    ///
    /// [`DecisionError::RequestNotFound`].
    pub async fn surface(&self, principal: &Principal, id: RequestId) -> Result<RequestView, DecisionError> {
        self.request_view(tenant_of(principal), id).await
    }

    /// What a request declared before partial answers took fields out of it, for whoever can open its page.
    ///
    /// # Errors
    ///
    /// [`DecisionError::RequestNotFound`].
    pub async fn declared(&self, principal: &Principal, id: RequestId) -> Result<Json, DecisionError> {
        let request: Request = self.document(tenant_of(principal), id).await?.ok_or(DecisionError::RequestNotFound)?;
        Ok(request.declared().clone())
    }

    /// Whether the principal's tenant has a request of this id. A store that fails says no.
    pub async fn has_request(&self, principal: &Principal, id: RequestId) -> bool {
        let key = RecordKey::new(keys::REQUEST, id);
        let found = self.inner.store.get(&tenant_of(principal), &[key]).await;
        found.is_ok_and(|found| found.iter().any(Option::is_some))
    }

    /// The receipt of a request, exactly as it was sealed (rule E-12).
    ///
    /// # Errors
    ///
    /// [`DecisionError::InsufficientScope`]; [`DecisionError::RequestNotFound`] until there is one.
    pub async fn request_receipt(&self, principal: &Principal, id: RequestId) -> Result<String, DecisionError> {
        check_scope(principal, Scope::RequestsRead)?;
        let tenant = tenant_of(principal);
        let request: Request = self.document(tenant, id).await?.ok_or(DecisionError::RequestNotFound)?;
        let pointer = request.receipt.ok_or(DecisionError::RequestNotFound)?;
        self.receipt_text(tenant, pointer.height).await
    }

    /// A receipt by its id, exactly as it was sealed.
    ///
    /// # Errors
    ///
    /// [`DecisionError::InsufficientScope`], [`DecisionError::RequestNotFound`].
    pub async fn receipt(&self, principal: &Principal, id: ReceiptId) -> Result<String, DecisionError> {
        check_scope(principal, Scope::ReceiptsRead)?;
        let tenant = tenant_of(principal);
        let place: ReceiptPlace = self.document(tenant, id).await?.ok_or(DecisionError::RequestNotFound)?;
        self.receipt_text(tenant, place.height).await
    }

    /// The detached signature of a receipt (rule E-13).
    ///
    /// # Errors
    ///
    /// [`DecisionError::InsufficientScope`]; [`DecisionError::RequestNotFound`] also for a receipt that was sealed by an
    /// engine without a signer.
    pub async fn receipt_signature(
        &self,
        principal: &Principal,
        id: ReceiptId,
    ) -> Result<ReceiptSignature, DecisionError> {
        check_scope(principal, Scope::ReceiptsRead)?;
        let tenant = tenant_of(principal);
        let place: ReceiptPlace = self.document(tenant, id).await?.ok_or(DecisionError::RequestNotFound)?;
        let entry = self.entry(tenant, place.height).await?;
        let text = entry.attestation.ok_or(DecisionError::RequestNotFound)?;
        from_text(&text).map_err(|error| internal(&error))
    }

    /// Receipts in chain order (rule E-9), each exactly as it was sealed.
    ///
    /// # Errors
    ///
    /// [`DecisionError::InsufficientScope`].
    pub async fn receipts(
        &self,
        principal: &Principal,
        filter: ReceiptFilter,
    ) -> Result<Listing<JsonText>, DecisionError> {
        check_scope(principal, Scope::ReceiptsRead)?;
        let limit = filter.limit.map_or(limits::WHOLE_CHAIN, |limit| limit.clamp(1, limits::MAX_PAGE));
        let (mut data, mut last, mut above) = (Vec::new(), filter.after_height, filter.after_height);
        let batch = limit.saturating_add(1).min(BATCH);
        let (mut has_more, mut bytes) = (false, 0_usize);
        // One more than wanted tells whether more follow. The times of a chain need not rise as its heights do, where a
        // clock stepped back, so each receipt is looked at.
        while !has_more {
            let range = HeightRange { from: above.saturating_add(1), limit: batch };
            let entries = self
                .inner
                .store
                .read_chain(&tenant_of(principal), &keys::RECEIPTS, range)
                .await
                .map_err(|error| internal(&error))?;
            let exhausted = entries.len() < batch;
            for entry in &entries {
                above = entry.height;
                let receipt = sealed(entry)?;
                if !filter.wants(receipt)? {
                    continue;
                }
                bytes = bytes.saturating_add(receipt.len());
                if data.len() == limit || (bytes > RECEIPTS_BYTES && !data.is_empty()) {
                    has_more = true;
                    break;
                }
                last = entry.height;
                data.push(JsonText::of_written(Arc::clone(receipt)));
            }
            if exhausted {
                break;
            }
        }
        #[cfg(feature = "planted-faults")]
        if handoff_protocol::planted::Fault::ReceiptsNewestFirst.is_planted() {
            data.reverse();
        }
        Ok(Listing { data, has_more, next_cursor: has_more.then(|| last.to_string()) })
    }

    /// The head of the receipts' chain (rule E-10): height 0 and zeros before the first.
    ///
    /// # Errors
    ///
    /// [`DecisionError::InsufficientScope`].
    pub async fn chain_head(&self, principal: &Principal) -> Result<ChainHeadView, DecisionError> {
        check_scope(principal, Scope::ReceiptsRead)?;
        let head = self
            .inner
            .store
            .chain_head(&tenant_of(principal), &keys::RECEIPTS)
            .await
            .map_err(|error| internal(&error))?;
        let height = head.map_or(0, |head| head.height);
        #[cfg(feature = "planted-faults")]
        let height = height.saturating_sub(handoff_protocol::planted::Fault::HeadLags.is_planted().into());
        Ok(ChainHeadView {
            org_id: principal.tenant,
            height,
            head_digest: head.map_or(Digest::zero(), |head| head.digest),
            as_of: self.inner.clock.now(),
        })
    }

    /// An authorization and what it is worth now.
    ///
    /// # Errors
    ///
    /// [`DecisionError::InsufficientScope`], [`DecisionError::AuthorizationNotFound`].
    pub async fn authorization(
        &self,
        principal: &Principal,
        id: AuthorizationId,
    ) -> Result<AuthorizationView, DecisionError> {
        check_scope(principal, Scope::RequestsRead)?;
        let kept: Option<Authorization> = self.document(tenant_of(principal), id).await?;
        let authorization = kept.ok_or(DecisionError::AuthorizationNotFound)?;
        Ok(AuthorizationView::new(authorization, self.inner.clock.now()))
    }

    pub(crate) async fn request_view(&self, tenant: TenantId, id: RequestId) -> Result<RequestView, DecisionError> {
        let request: Request = self.document(tenant, id).await?.ok_or(DecisionError::RequestNotFound)?;
        self.view(tenant, request).await
    }

    /// What is served of a request: itself, its receipt from the chain, its authorization.
    pub(crate) async fn view(&self, tenant: TenantId, request: Request) -> Result<RequestView, DecisionError> {
        self.sized_view(tenant, request).await.map(|(view, _)| view)
    }

    /// What is served of a request, and about how many bytes of it are the receipt's and the authorization's.
    pub(crate) async fn sized_view(
        &self,
        tenant: TenantId,
        request: Request,
    ) -> Result<(RequestView, usize), DecisionError> {
        let mut size = 0;
        let receipt = match request.receipt {
            Some(pointer) => {
                let entry = self.entry(tenant, pointer.height).await?;
                // The authorization repeats the decided values.
                size = entry.body.as_ref().map_or(0, |body| body.len().saturating_mul(2));
                Some(body(&entry)?)
            }
            None => None,
        };
        #[cfg(feature = "planted-faults")]
        let (receipt, request) = (crate::planted::trimmed(receipt), crate::planted::remembered(request));
        let authorization = match request.authorization {
            Some(id) => self.document::<Authorization>(tenant, id).await?,
            None => None,
        };
        let now = self.inner.clock.now();
        let authorization = authorization.map(|authorization| AuthorizationView::new(authorization, now));
        let view = RequestView::new(request, receipt, authorization, self.public_base())?;
        Ok((view, size))
    }

    /// A document by its id, outside a transaction.
    pub(crate) async fn document<D: Document>(
        &self,
        tenant: TenantId,
        id: impl std::fmt::Display,
    ) -> Result<Option<D>, DecisionError> {
        let found =
            self.inner.store.get(&tenant, &[RecordKey::new(D::KIND, id)]).await.map_err(|error| internal(&error))?;
        let record = found.into_iter().next().flatten();
        record
            .map(|record| document::read::<D>(&record).map(|kept| kept.document))
            .transpose()
            .map_err(|error| internal(&error))
    }

    pub(super) async fn receipt_text(&self, tenant: TenantId, height: u64) -> Result<String, DecisionError> {
        let entry = self.entry(tenant, height).await?;
        entry.body.map(|body| body.to_string()).ok_or(DecisionError::RequestNotFound)
    }

    pub(super) async fn entry(&self, tenant: TenantId, height: u64) -> Result<ChainEntry, DecisionError> {
        let entries = self
            .inner
            .store
            .read_chain(&tenant, &keys::RECEIPTS, HeightRange::at(height))
            .await
            .map_err(|error| internal(&error))?;
        let missing = || internal(&StoreError::Corrupt(format!("no receipt at height {height}")));
        entries.into_iter().next().filter(|entry| entry.height == height).ok_or_else(missing)
    }
}

impl ReceiptFilter {
    fn wants(&self, receipt: &str) -> Result<bool, DecisionError> {
        if self.decided == Span::default() {
            return Ok(true);
        }
        let receipt = read_str(receipt).map_err(|error| internal(&error))?;
        let undated = || internal(&StoreError::Corrupt("a receipt does not say when it was decided".to_owned()));
        let decided_at = receipt.get("decided_at").and_then(Json::as_str).ok_or_else(undated)?;
        Ok(self.decided.contains(Timestamp::parse(decided_at).map_err(|_| undated())?))
    }
}

/// The sealed receipt of an entry, parsed only to be embedded: text and order of its members stay.
pub(super) fn body(entry: &ChainEntry) -> Result<Json, DecisionError> {
    read_str(sealed(entry)?).map_err(|error| internal(&error))
}

/// The text of an entry's receipt.
fn sealed(entry: &ChainEntry) -> Result<&Arc<str>, DecisionError> {
    let missing = || internal(&StoreError::Corrupt(format!("no receipt body at height {}", entry.height)));
    entry.body.as_ref().ok_or_else(missing)
}
