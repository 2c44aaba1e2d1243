//! What comes in without deciding anything, and what happened to a request.

use handoff_protocol::{
    decision::{
        ChannelMessage, Context, DecisionError, Effects, Observation, Request, capability::Capabilities, observe,
        receive, terms::RequestState,
    },
    id::{OrgId, RequestId, TenantId},
};

use super::{
    apply::{Before, Writes},
    internal, keys,
};
use crate::{
    document::Document,
    engine::Engine,
    store::{IndexRow, Reads, RecordKey, RecordKind, StoredEvent},
    transaction::{Halt, Outcome},
};

/// How many events one read brings.
const EVENTS: usize = 1_000;

/// What was recorded about a request.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Noted {
    /// The record.
    pub id: String,
    /// The request that it is about.
    pub request_id: RequestId,
    /// How that stands: as it did before.
    pub state: RequestState,
}

impl Document for ChannelMessage {
    const KIND: RecordKind = keys::CHANNEL_MESSAGE;

    fn id(&self) -> String {
        self.id.to_string()
    }

    fn index(&self) -> Vec<IndexRow> {
        Vec::new()
    }
}

impl Document for Observation {
    const KIND: RecordKind = keys::OBSERVATION;

    fn id(&self) -> String {
        self.id.to_string()
    }

    fn index(&self) -> Vec<IndexRow> {
        Vec::new()
    }
}

impl Engine {
    /// Records words that came in about a request through a channel (rule S-10). They settle nothing, whatever they say.
    ///
    /// # Errors
    ///
    /// [`DecisionError::RequestNotFound`]; [`DecisionError::InvalidRequest`] for a channel without a name.
    pub async fn receive_message(
        &self,
        tenant: OrgId,
        id: RequestId,
        channel: &str,
        text: &str,
    ) -> Result<Noted, DecisionError> {
        let (channel, text) = (channel.to_owned(), text.to_owned());
        self.note(tenant, id, move |request, context| receive(request, &channel, &text, context)).await
    }

    /// Records that a page changed which a request is about (rule E-3). Nothing is inferred from it.
    ///
    /// # Errors
    ///
    /// [`DecisionError::RequestNotFound`].
    pub async fn observe_change(&self, tenant: OrgId, id: RequestId) -> Result<Noted, DecisionError> {
        self.note(tenant, id, |request, context| Ok(observe(request, context))).await
    }

    /// The tenant that a request is of, for operators, who have no tenant of their own.
    ///
    /// # Errors
    ///
    /// [`DecisionError::RequestNotFound`].
    pub async fn tenant_of_request(&self, id: RequestId) -> Result<OrgId, DecisionError> {
        for tenant in self.tenants().await.map_err(|error| internal(&error))? {
            if self.document::<Request>(TenantId::Org(tenant), id).await?.is_some() {
                return Ok(tenant);
            }
        }
        Err(DecisionError::RequestNotFound)
    }

    /// Everything that happened to a request, oldest first.
    ///
    /// # Errors
    ///
    /// [`DecisionError::Internal`].
    pub async fn history(&self, tenant: OrgId, id: RequestId) -> Result<Vec<StoredEvent>, DecisionError> {
        let (tenant, subject) = (TenantId::Org(tenant), id.to_string());
        let (mut history, mut after) = (Vec::new(), 0);
        loop {
            let events =
                self.inner.store.read_events(&tenant, after, EVENTS).await.map_err(|error| internal(&error))?;
            let Some(last) = events.last().map(|event| event.sequence) else { return Ok(history) };
            history.extend(events.into_iter().filter(|event| event.subject == subject));
            after = last;
        }
    }

    async fn note<D, F>(&self, tenant: OrgId, id: RequestId, noting: F) -> Result<Noted, DecisionError>
    where
        D: Document,
        F: Fn(&Request, &mut Context<'_>) -> Result<(D, Effects), DecisionError> + Send + Sync + 'static,
    {
        let tenant = TenantId::Org(tenant);
        let policy = self.policy_for(tenant).await?;
        self.decide(tenant, Reads::none().record(RecordKey::new(keys::REQUEST, id)), move |view, moment| {
            let kept = view.get::<Request, _>(id)?.ok_or(DecisionError::RequestNotFound)?;
            let mut mint = view.mint();
            let mut context =
                Context { now: moment.now, mint: &mut mint, policy: &policy, capabilities: &Capabilities::NONE };
            let (record, effects) = noting(&kept.document, &mut context)?;
            #[cfg(feature = "planted-faults")]
            let effects = crate::planted::infer(&D::KIND, view, effects, &mut context)?;
            let mut writes = Writes::default();
            writes.put(None, &record).map_err(Halt::Broken)?;
            let before = Before { request: Some(&kept), ..Before::default() };
            writes.effects(before, &effects, None).map_err(Halt::Broken)?;
            let noted = Noted { id: record.id(), request_id: id, state: effects.request.state };
            Ok(Outcome::Write(writes.finish(&mint), noted))
        })
        .await
    }
}
