//! Submitting values to a sink (section 17). They pass through and are kept nowhere.

use std::sync::Arc;

use handoff_protocol::{
    decision::{
        Context, DecisionError, Request,
        capability::Capabilities,
        idempotency::{self, IdempotencyKey, ReplayOutcome, ReplayScope},
        sink::{SinkSubmission, SubmittedNames, ValueSink, check_submission},
        view::SinkValuesResult,
    },
    digest::Digest,
    duration::ExactDuration,
    id::RequestId,
    json::Json,
    principal::Principal,
    secret::Secret,
};

use super::{
    apply::{Keyed, Writes, json_text, replayed},
    documents::ReplayRecord,
    keys, tenant_of,
};
use crate::{
    engine::Engine,
    identity::documents::{PRINCIPAL, PrincipalRecord},
    sink::SinkDelivery,
    store::{IndexRead, Reads, RecordKey},
    transaction::{Halt, Outcome, View},
};

/// Which request values are for.
#[derive(Clone, Copy)]
enum Whose {
    /// The newest that declares the place, pending ones first (rule K-S1).
    Newest,
    /// This one, which must declare it.
    Of(RequestId),
}

/// A key, and what came under it, before it is known which request it was for.
#[derive(Clone)]
struct Sent {
    key: IdempotencyKey,
    digest: Digest,
    ttl: ExactDuration,
}

impl Sent {
    /// What a repeat is known by, for one request (rule K-7).
    fn keyed(&self, principal: &Principal, request: RequestId, reference: &str) -> Keyed {
        let scope = ReplayScope::of_sink(principal, request, reference, &self.key);
        Keyed { scope, digest: self.digest, ttl: self.ttl }
    }
}

/// What a submission came to, before anything left the house.
enum Submission {
    /// It was made before.
    Made(SinkValuesResult),
    /// It may be made.
    Allowed { request: RequestId, sink: Option<ValueSink>, keyed: Option<Keyed>, result: SinkValuesResult },
}

impl Engine {
    /// Hands values to the sink that a request declares under a name, with the authority that an answer would need. Only
    /// their names are kept, and only under a key. Repeating it under the same key for the same request does nothing more.
    ///
    /// Of several requests that declare the name the newest is meant, pending ones first (rule K-S1). Whoever answers one
    /// request says so with [`submit_values_for`](Self::submit_values_for).
    ///
    /// # Errors
    ///
    /// [`DecisionError`]: the codes of `POST /sinks/{ref}/values`; after [`DecisionError::SinkUnavailable`] and
    /// [`DecisionError::Internal`] the sink may have the values, and a repeat under the same key is known to it by the
    /// same name.
    pub async fn submit_values(
        &self,
        principal: &Principal,
        reference: &str,
        body: Secret<Json>,
        key: Option<&IdempotencyKey>,
    ) -> Result<SinkValuesResult, DecisionError> {
        self.pass_through(principal, Whose::Newest, reference, body, key).await
    }

    /// The same for one request: the values go to its sink or to none, whatever other request declares the same name.
    ///
    /// # Errors
    ///
    /// As [`submit_values`](Self::submit_values); [`DecisionError::InvalidRequest`] for a request that does not declare
    /// the place.
    pub async fn submit_values_for(
        &self,
        principal: &Principal,
        request: RequestId,
        reference: &str,
        body: Secret<Json>,
        key: Option<&IdempotencyKey>,
    ) -> Result<SinkValuesResult, DecisionError> {
        self.pass_through(principal, Whose::Of(request), reference, body, key).await
    }

    async fn pass_through(
        &self,
        principal: &Principal,
        whose: Whose,
        reference: &str,
        body: Secret<Json>,
        key: Option<&IdempotencyKey>,
    ) -> Result<SinkValuesResult, DecisionError> {
        let submission = SinkSubmission::read(principal, body)?;
        let sent = match key {
            Some(key) => {
                let (key, digest) = (key.clone(), submission.digest(key)?);
                Some(Sent { key, digest, ttl: self.policy().idempotency_ttl })
            }
            None => None,
        };
        let allowed = self.allow(principal, (whose, reference), submission.names(), sent).await?;
        let (request, sink, keyed, result) = match allowed {
            Submission::Made(result) => return Ok(result),
            Submission::Allowed { request, sink, keyed, result } => (request, sink, keyed, result),
        };
        let delivery = SinkDelivery {
            tenant: principal.tenant,
            request,
            reference: reference.to_owned(),
            op: sink.as_ref().and_then(|sink| sink.op.clone()),
            submitted_by: principal.id(),
            submission: keyed.as_ref().map(|keyed| keyed.scope.id()),
            values: submission.into_values(),
        };
        #[cfg(feature = "planted-faults")]
        let result = crate::planted::indiscreet(result, &delivery.values);
        let provider = sink.as_ref().and_then(|sink| sink.provider.as_deref());
        self.inner.sinks.submit(provider, delivery).await.map_err(|error| {
            tracing::warn!(%error, %request, "a sink did not take values");
            DecisionError::SinkUnavailable { request_id: request }
        })?;
        match keyed {
            Some(keyed) => self.made(principal, keyed, result).await,
            None => Ok(result),
        }
    }

    /// Whether values may go to a sink: which request they are for, a replay, then its rules. The store sees names alone.
    async fn allow(
        &self,
        principal: &Principal,
        (whose, reference): (Whose, &str),
        names: SubmittedNames,
        sent: Option<Sent>,
    ) -> Result<Submission, DecisionError> {
        let id = principal.id().ok_or(DecisionError::Internal)?;
        let declared = IndexRead { index: keys::BY_SINK, prefix: keys::sink_prefix(reference), limit: 1 };
        let mut reads = Reads::none().record(RecordKey::new(PRINCIPAL, id));
        reads = match whose {
            Whose::Newest => reads.index(declared.clone()),
            Whose::Of(request) => reads.record(RecordKey::new(keys::REQUEST, request)),
        };
        let (person, policy, reference) = (principal.clone(), Arc::clone(&self.inner.policy), reference.to_owned());
        self.decide(tenant_of(principal), reads, move |view, moment| {
            let request = match whose {
                Whose::Newest => view.scan::<Request, _>(declared.clone())?.into_iter().next(),
                Whose::Of(request) => view.get::<Request, _>(request)?,
            };
            let request = request.ok_or(DecisionError::RequestNotFound)?.document;
            let keyed = sent.as_ref().map(|sent| sent.keyed(&person, request.id, &reference));
            if let Some(keyed) = &keyed
                && let Some(made) = find(view, keyed, Some(request.id), moment.now)?
            {
                return Ok(Outcome::Nothing(Submission::Made(made)));
            }
            let mut person = person.clone();
            let record = view.get::<PrincipalRecord, _>(id)?.ok_or(DecisionError::InvalidApiKey)?;
            record.document.refresh(&mut person).ok_or(DecisionError::InvalidApiKey)?;
            let mut mint = view.mint();
            let context =
                Context { now: moment.now, mint: &mut mint, policy: &policy, capabilities: &Capabilities::NONE };
            check_submission(&request, &reference, &names, &person, &context)?;
            let sink = request.requires()?.value_sink;
            let result = SinkValuesResult { accepted: names.iter().map(str::to_owned).collect(), state: request.state };
            Ok(Outcome::Nothing(Submission::Allowed { request: request.id, sink, keyed, result }))
        })
        .await
    }

    /// Keeps that a submission was made: its names, under its key. Of two at the same time, both say what the first did.
    async fn made(
        &self,
        principal: &Principal,
        keyed: Keyed,
        result: SinkValuesResult,
    ) -> Result<SinkValuesResult, DecisionError> {
        let reads = Reads::none().record(RecordKey::new(keys::REPLAY, keyed.scope.id()));
        self.decide(tenant_of(principal), reads, move |view, moment| {
            if let Some(made) = find(view, &keyed, None, moment.now)? {
                return Ok(Outcome::Nothing(made));
            }
            let lapsed = view.get::<ReplayRecord, DecisionError>(keyed.scope.id())?;
            let text = json_text(&result).map_err(Halt::Broken)?.to_string();
            let mut writes = Writes::default();
            writes.replay(&keyed, lapsed.as_ref(), ReplayOutcome::Body(text), moment.now).map_err(Halt::Broken)?;
            Ok(Outcome::Write(writes.finish(&view.mint()), result.clone()))
        })
        .await
    }
}

fn find(
    view: &View<'_>,
    keyed: &Keyed,
    request: Option<RequestId>,
    now: handoff_protocol::timestamp::Timestamp,
) -> Result<Option<SinkValuesResult>, Halt<DecisionError>> {
    let stored = view.get::<ReplayRecord, _>(keyed.scope.id())?;
    let replay = stored.as_ref().map(|kept| &kept.document.replay);
    match idempotency::find(replay, keyed.digest, request, now)? {
        Some(ReplayOutcome::Body(text)) => replayed(text).map(Some),
        Some(ReplayOutcome::Request(_) | ReplayOutcome::Session(_)) | None => Ok(None),
    }
}
