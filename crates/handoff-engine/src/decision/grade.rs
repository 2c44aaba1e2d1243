//! Single deliveries: reading one, sending it again, and how far it got.

use handoff_protocol::{
    decision::{
        Context, DecisionError, Delivery, Redelivery, ReportGrade, Request, bounce,
        capability::Capabilities,
        check_scope,
        idempotency::{IdempotencyKey, Operation},
        redeliver, report_grade, see,
    },
    digest::Digest,
    id::{DeliveryId, Mint, RequestId, TenantId, Ulid},
    json::Json,
    principal::{Principal, Scope},
};

use super::{
    apply::{Before, Writes},
    internal, keys,
    operate::{Done, Operate},
    tenant_of,
};
use crate::{
    document,
    engine::Engine,
    store::{IndexScan, Order, Reads, RecordKey},
    transaction::{Halt, Outcome},
};

impl Engine {
    /// A delivery by its id.
    ///
    /// # Errors
    ///
    /// [`DecisionError::InsufficientScope`], [`DecisionError::RequestNotFound`].
    pub async fn delivery(&self, principal: &Principal, id: DeliveryId) -> Result<Delivery, DecisionError> {
        check_scope(principal, Scope::RequestsRead)?;
        let request = self.request_of(tenant_of(principal), id).await?;
        request.delivery(id).cloned().ok_or(DecisionError::RequestNotFound)
    }

    /// Queues one more attempt on a delivery of a request to people.
    pub(super) async fn redeliver_to_people(
        &self,
        principal: &Principal,
        request: RequestId,
        id: DeliveryId,
        digest: Digest,
        key: Option<&IdempotencyKey>,
    ) -> Result<Redelivery, DecisionError> {
        let (reads, by) = (Reads::none(), principal.clone());
        let operate = Operate { principal, operation: Operation::Redeliver, id: request, key, digest, reads };
        self.operate_on(&id.to_string(), operate, move |_, request, _, context| {
            let effects = redeliver(request, id, &by, context)?;
            Ok(Done::new(effects, Redelivery { delivery_id: id, queued_at: context.now }))
        })
        .await
    }

    /// Takes a report of how far a delivery got (rule V-13). Repeating it changes nothing, with or without a key.
    ///
    /// # Errors
    ///
    /// [`DecisionError`]: the codes of `POST /deliveries/{id}/grade`. None of them has an effect.
    pub async fn report_grade(
        &self,
        principal: &Principal,
        id: DeliveryId,
        body: Json,
        key: Option<&IdempotencyKey>,
    ) -> Result<Delivery, DecisionError> {
        let command = ReportGrade::read(principal, body)?;
        let request = self.request_of(tenant_of(principal), id).await?.id;
        let (digest, reads, by) = (command.digest(), Reads::none(), principal.clone());
        let operate = Operate { principal, operation: Operation::Grade, id: request, key, digest, reads };
        self.operate_on(&id.to_string(), operate, move |_, request, _, context| {
            let effects = report_grade(request, id, &command, &by, context)?;
            let delivery = effects.request.delivery(id).cloned().ok_or(DecisionError::Internal)?;
            Ok(Done::new(effects, delivery))
        })
        .await
    }

    /// Notes that a person opened the page of a request, authenticated (rule V-3). Only the first time writes anything.
    ///
    /// # Errors
    ///
    /// [`DecisionError::Internal`] if it could not be noted; the page can be shown all the same.
    pub async fn page_opened(&self, principal: &Principal, id: RequestId) -> Result<(), DecisionError> {
        let tenant = tenant_of(principal);
        let policy = self.policy_for(tenant).await?;
        let Some(request) = self.document::<Request>(tenant, id).await? else { return Ok(()) };
        let mut mint = Mint::new(self.now(), Ulid::MIN, [0; 32]);
        if see(
            &request,
            principal,
            &Context { now: self.now(), mint: &mut mint, policy: &policy, capabilities: &Capabilities::NONE },
        )
        .is_none()
        {
            return Ok(());
        }
        let visitor = principal.clone();
        self.decide(tenant, Reads::none().record(RecordKey::new(keys::REQUEST, id)), move |view, moment| {
            let Some(kept) = view.get::<Request, _>(id)? else { return Ok(Outcome::Nothing(())) };
            let mut mint = view.mint();
            let context =
                Context { now: moment.now, mint: &mut mint, policy: &policy, capabilities: &Capabilities::NONE };
            let Some(effects) = see(&kept.document, &visitor, &context) else { return Ok(Outcome::Nothing(())) };
            let mut writes = Writes::default();
            let before = Before { request: Some(&kept), ..Before::default() };
            writes.effects(before, &effects, None).map_err(Halt::Broken)?;
            Ok(Outcome::Write(writes.finish(&mint), ()))
        })
        .await
    }

    /// Takes word from a channel that a delivery came back (rule V-1). Nothing follows unless it was out.
    ///
    /// # Errors
    ///
    /// [`DecisionError::RequestNotFound`], [`DecisionError::Internal`].
    pub async fn delivery_bounced(&self, tenant: TenantId, id: DeliveryId) -> Result<(), DecisionError> {
        let request = self.request_of(tenant, id).await?.id;
        let policy = self.policy_for(tenant).await?;
        self.decide(tenant, Reads::none().record(RecordKey::new(keys::REQUEST, request)), move |view, moment| {
            let Some(kept) = view.get::<Request, _>(request)? else { return Ok(Outcome::Nothing(())) };
            let mut mint = view.mint();
            let context =
                Context { now: moment.now, mint: &mut mint, policy: &policy, capabilities: &Capabilities::NONE };
            let Some(effects) = bounce(&kept.document, id, &context) else { return Ok(Outcome::Nothing(())) };
            let mut writes = Writes::default();
            let before = Before { request: Some(&kept), ..Before::default() };
            writes.effects(before, &effects, None).map_err(Halt::Broken)?;
            Ok(Outcome::Write(writes.finish(&mint), ()))
        })
        .await
    }

    /// The request that a delivery is about.
    pub(super) async fn request_of(&self, tenant: TenantId, id: DeliveryId) -> Result<Request, DecisionError> {
        let scan = IndexScan {
            tenant,
            index: keys::BY_DELIVERY,
            prefix: keys::by_delivery(id),
            after: None,
            order: Order::Ascending,
            limit: 1,
        };
        let page = self.inner.store.scan(scan).await.map_err(|error| internal(&error))?;
        let row = page.rows.into_iter().next().ok_or(DecisionError::RequestNotFound)?;
        Ok(document::read::<Request>(&row.record).map_err(|error| internal(&error))?.document)
    }
}
