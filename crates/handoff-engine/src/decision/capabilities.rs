//! Capabilities: grants read and revoked, sessions opened, renewed and ended (section 16). Providers are asked outside the
//! transaction; addresses are theirs, made for one call and kept nowhere.

use std::sync::Arc;

use handoff_protocol::{
    decision::{
        Context, DecisionError, Effects, Fired, Request,
        capability::{
            BlastRadius, Capability, Grant, GrantSession, GrantSessionView, GrantView, RenewResult, Resolve, Revoke,
            Usage, lapse_session, release, renew, reopen, resolve, revoke,
        },
        check_person,
        idempotency::{self, IdempotencyKey, Operation, ReplayOutcome, ReplayScope},
    },
    id::{GrantHandle, RequestId, SessionRef, TenantId},
    json::Json,
    principal::Principal,
};

use super::{
    apply::{Before, Keyed, Writes, json_text},
    documents::ReplayRecord,
    held::{self, Held},
    keys::{self, TimerAction},
    tenant_of,
};
use crate::{
    capability::CapabilityError,
    document::Kept,
    engine::Engine,
    identity::documents::{PRINCIPAL, PrincipalRecord},
    outbound::Sent,
    store::{ClaimedTimer, Moment, Reads, RecordKey, TimerKey, TimerWrite},
    transaction::{Halt, Outcome, View},
};

/// A provider failed, who is an outside party: the log has the words, the caller what to make of it.
fn unavailable(error: &CapabilityError, request_id: Option<RequestId>) -> DecisionError {
    tracing::warn!(%error, "a provider of a capability failed");
    DecisionError::ProviderUnavailable { request_id }
}

/// A grant with its request and everything that the request holds.
struct Loaded {
    request: Kept<Request>,
    grant: Kept<Grant>,
    held: Held,
}

impl Loaded {
    fn of(view: &View<'_>, handle: GrantHandle) -> Result<Self, Halt<DecisionError>> {
        let grant = view.get::<Grant, _>(handle)?.ok_or(DecisionError::CapabilityNotFound)?;
        let request = view.get::<Request, _>(grant.document.request_id)?.ok_or(DecisionError::Internal)?;
        let held = Held::load(view, &request.document)?.with_grant(grant.clone());
        Ok(Self { request, grant, held })
    }

    fn session(&self, session: SessionRef) -> Result<&GrantSession, DecisionError> {
        self.held.session(session).map(|kept| &kept.document).ok_or(DecisionError::CapabilityNotFound)
    }

    fn write(&self, effects: &Effects) -> Result<Writes, Halt<DecisionError>> {
        let mut writes = Writes::default();
        let before = Before { request: Some(&self.request), held: Some(&self.held), ..Before::default() };
        writes.effects(before, effects, None).map_err(Halt::Broken)?;
        Ok(writes)
    }
}

impl Engine {
    /// A grant as its person may see it: what it is, what it may touch, and no address (rules G-2, G-6).
    ///
    /// # Errors
    ///
    /// [`DecisionError::RequesterMayNotAnswer`] for a machine; [`DecisionError::CapabilityNotFound`];
    /// [`DecisionError::CapabilityExpired`].
    pub async fn grant(&self, principal: &Principal, handle: GrantHandle) -> Result<GrantView, DecisionError> {
        check_person(principal)?;
        let grant: Grant =
            self.document(tenant_of(principal), handle).await?.ok_or(DecisionError::CapabilityNotFound)?;
        grant.check_readable(self.now())?;
        Ok(grant.into())
    }

    /// Opens a session under a grant for a person, and gives it an address that nobody else ever had. Repeating it under
    /// the same key gives the same session, and another address (rule K-9).
    ///
    /// # Errors
    ///
    /// [`DecisionError`]: the codes of `POST /grants/{handle}/sessions`. None of them has an effect; after
    /// [`DecisionError::ProviderUnavailable`] the session is there without an address, and a repeat gives it one.
    pub async fn resolve_grant(
        &self,
        principal: &Principal,
        handle: GrantHandle,
        body: Json,
        key: Option<&IdempotencyKey>,
    ) -> Result<GrantSessionView, DecisionError> {
        let command = Resolve::read(principal, body)?;
        let keyed = key.map(|key| Keyed {
            scope: ReplayScope::of_grant(principal, Operation::Resolve, handle, key),
            digest: command.digest(),
            ttl: self.policy().idempotency_ttl,
        });
        let mut reads = held::reads(handle);
        if let Some(keyed) = &keyed {
            reads = reads.record(RecordKey::new(keys::REPLAY, keyed.scope.id()));
        }
        let opened = self.with_grant(principal, handle, reads, move |view, loaded, person, context| {
            let (request, grant) = (&loaded.request.document, &loaded.grant.document);
            let stored = match &keyed {
                Some(keyed) => view.get::<ReplayRecord, _>(keyed.scope.id())?,
                None => None,
            };
            if let Some(keyed) = &keyed {
                let replay = stored.as_ref().map(|kept| &kept.document.replay);
                let found = idempotency::find(replay, keyed.digest, Some(request.id), context.now)?;
                if let Some(ReplayOutcome::Session(session)) = found {
                    let session = reopen(request, grant, loaded.session(*session)?, person, context)?;
                    return Ok((None, (grant.clone(), session.clone())));
                }
            }
            let (effects, session) = resolve(request, grant, &command, person, context)?;
            let mut writes = loaded.write(&effects)?;
            if let Some(keyed) = &keyed {
                let outcome = ReplayOutcome::Session(session.session_ref);
                writes.replay(keyed, stored.as_ref(), outcome, context.now).map_err(Halt::Broken)?;
            }
            Ok((Some(writes), (grant.clone(), session)))
        });
        let (grant, session) = opened.await?;
        let transport = self.inner.providers.open(principal.tenant, &grant, &session).await;
        let transport = transport.map_err(|error| unavailable(&error, Some(session.request_id)))?;
        #[cfg(feature = "planted-faults")]
        if handoff_protocol::planted::Fault::SessionAddressLogged.is_planted() {
            tracing::info!(url = transport.url, "a session was opened");
        }
        Ok(GrantSessionView::new(&session, &grant, transport, self.now()))
    }

    /// Renews the lease of a person's session (rule G-10).
    ///
    /// # Errors
    ///
    /// [`DecisionError`]: the codes of `POST /grants/{handle}/sessions/{session}/renew`.
    pub async fn renew_session(
        &self,
        principal: &Principal,
        handle: GrantHandle,
        session: SessionRef,
    ) -> Result<RenewResult, DecisionError> {
        check_person(principal)?;
        let usage = self.seen_of(tenant_of(principal), handle, session).await?;
        let renewing = self.with_grant(principal, handle, held::reads(handle), move |_, loaded, person, context| {
            let (request, grant) = (&loaded.request.document, &loaded.grant.document);
            let session = loaded.session(session)?;
            let (effects, renewed) = renew(request, grant, session, person, usage.clone(), context)?;
            Ok((Some(loaded.write(&effects)?), RenewResult::new(renewed.lease_until, context.now)))
        });
        renewing.await
    }

    /// Ends a person's session. Repeating it is harmless.
    ///
    /// # Errors
    ///
    /// [`DecisionError::RequesterMayNotAnswer`] for a machine; [`DecisionError::CapabilityNotFound`] for a session that
    /// this person never had.
    pub async fn release_session(
        &self,
        principal: &Principal,
        handle: GrantHandle,
        session: SessionRef,
    ) -> Result<(), DecisionError> {
        check_person(principal)?;
        let usage = self.seen_of(tenant_of(principal), handle, session).await?;
        let releasing = self.with_grant(principal, handle, held::reads(handle), move |_, loaded, person, context| {
            let (request, grant) = (&loaded.request.document, &loaded.grant.document);
            let effects = release(request, grant, loaded.session(session)?, person, usage.clone(), context)?;
            Ok((Some(loaded.write(&effects)?), ()))
        });
        releasing.await
    }

    /// Takes a grant back and ends its sessions (rule G-12). Repeating it is harmless.
    ///
    /// # Errors
    ///
    /// [`DecisionError`]: the codes of `DELETE /grants/{handle}`.
    pub async fn revoke_grant(
        &self,
        principal: &Principal,
        handle: GrantHandle,
        body: &Json,
    ) -> Result<(), DecisionError> {
        let command = Revoke::read(principal, body)?;
        let revoking = self.with_grant(principal, handle, held::reads(handle), move |_, loaded, person, context| {
            let effects = revoke(&loaded.request.document, &loaded.grant.document, &command, person, context)?;
            Ok((Some(loaded.write(&effects)?), ()))
        });
        revoking.await
    }

    /// Asks the providers what the declared capabilities may touch (rule G-5), before a transaction needs to know.
    pub(super) async fn blast_radii(
        &self,
        principal: &Principal,
        request_id: Option<RequestId>,
        capabilities: &[Capability],
    ) -> Result<Vec<BlastRadius>, DecisionError> {
        let asked =
            capabilities.iter().map(|capability| self.inner.providers.blast_radius(principal.tenant, capability));
        let described = futures::future::join_all(asked).await;
        let refused = |(place, described): (usize, Result<BlastRadius, CapabilityError>)| {
            described.map_err(|error| match error {
                CapabilityError::NoSuchResource => DecisionError::invalid(
                    format!("requires.capabilities[{place}].resource_ref"),
                    "is not a resource that the provider has",
                ),
                CapabilityError::Unavailable(_) => unavailable(&error, request_id),
            })
        };
        described.into_iter().enumerate().map(refused).collect()
    }

    /// Runs a step on a grant, for a person as they stand at this moment (rules A-1, G-10).
    async fn with_grant<R, F>(
        &self,
        principal: &Principal,
        handle: GrantHandle,
        reads: Reads,
        step: F,
    ) -> Result<R, DecisionError>
    where
        R: Send + 'static,
        F: Fn(&View<'_>, &Loaded, &Principal, &mut Context<'_>) -> Result<(Option<Writes>, R), Halt<DecisionError>>
            + Send
            + Sync
            + 'static,
    {
        let id = principal.id().ok_or(DecisionError::Internal)?;
        let (person, policy) = (principal.clone(), Arc::clone(&self.inner.policy));
        let reads = reads.record(RecordKey::new(PRINCIPAL, id));
        self.decide(tenant_of(principal), reads, move |view, moment| {
            let mut person = person.clone();
            let record = view.get::<PrincipalRecord, _>(id)?.ok_or(DecisionError::InvalidApiKey)?;
            record.document.refresh(&mut person).ok_or(DecisionError::InvalidApiKey)?;
            let loaded = Loaded::of(view, handle)?;
            let capabilities = loaded.held.capabilities();
            let mut mint = view.mint();
            let mut context =
                Context { now: moment.now, mint: &mut mint, policy: &policy, capabilities: &capabilities };
            let (writes, reply) = step(view, &loaded, &person, &mut context)?;
            Ok(match writes {
                Some(writes) => Outcome::Write(writes.finish(&mint), reply),
                None => Outcome::Nothing(reply),
            })
        })
        .await
    }

    /// What the provider of an open session saw of it.
    async fn seen_of(
        &self,
        tenant: TenantId,
        handle: GrantHandle,
        session: SessionRef,
    ) -> Result<Option<Usage>, DecisionError> {
        let Some(grant) = self.document::<Grant>(tenant, handle).await? else { return Ok(None) };
        match self.document::<GrantSession>(tenant, session).await? {
            Some(known) if known.handle == handle && known.is_open() => {
                Ok(self.inner.providers.usage(&grant, session).await)
            }
            Some(_) | None => Ok(None),
        }
    }

    /// Ends a session that nobody renewed, under the claim of its timer (rule G-11).
    pub(crate) async fn lapse_session(
        &self,
        tenant: TenantId,
        session: SessionRef,
        timer: TimerKey,
        epoch: u64,
    ) -> Result<(), DecisionError> {
        let known = self.document::<GrantSession>(tenant, session).await?.ok_or(DecisionError::Internal)?;
        let handle = known.handle;
        let usage = self.seen_of(tenant, handle, session).await?;
        let reads = held::reads(handle).record(RecordKey::new(keys::SESSION, session));
        self.decide(tenant, reads, move |view: &View<'_>, moment: &Moment| {
            let loaded = Loaded::of(view, handle)?;
            let mut known = loaded.session(session)?.clone();
            known.usage = usage.clone().or(known.usage);
            let settle = TimerWrite::Settle { key: timer.clone(), epoch };
            let fired = lapse_session(&loaded.request.document, &loaded.grant.document, &known, moment.now);
            let mut writes = match &fired {
                Fired::Acted(effects) => {
                    // The claim is settled first, since what follows puts another action under the same key.
                    let mut writes = Writes::default();
                    writes.timer(settle);
                    let before =
                        Before { request: Some(&loaded.request), held: Some(&loaded.held), ..Before::default() };
                    writes.effects(before, effects, None).map_err(Halt::Broken)?;
                    return Ok(Outcome::Write(writes.finish(&view.mint()), ()));
                }
                Fired::NotDue { .. } => Writes::default(),
            };
            writes.timer(settle);
            if let Fired::NotDue { again: Some(due) } = fired {
                let action = json_text(&TimerAction::LapseSession { session }).map_err(Halt::Broken)?;
                writes.timer(TimerWrite::Put { key: timer.clone(), due, action });
            }
            Ok(Outcome::Write(writes.finish(&view.mint()), ()))
        })
        .await
    }

    /// Tells the provider of a session that it ended, under the claim of its timer. A failure is tried again when the
    /// claim lapses.
    pub(super) async fn close_session(&self, timer: ClaimedTimer, session: SessionRef) -> Sent {
        let ClaimedTimer { tenant, key, epoch, .. } = timer;
        let closed = async {
            let Some(ended) = self.document::<GrantSession>(tenant, session).await? else { return Ok(Sent::Nothing) };
            let grant: Grant = self.document(tenant, ended.handle).await?.ok_or(DecisionError::Internal)?;
            let reason = ended.close_reason.ok_or(DecisionError::Internal)?;
            match self.inner.providers.close(&grant, session, reason).await {
                Ok(()) => Ok::<_, DecisionError>(Sent::Well),
                Err(error) => {
                    tracing::warn!(%error, "a provider did not hear that a session ended; it is told again");
                    Ok(Sent::Badly)
                }
            }
        };
        let sent = match closed.await {
            Ok(Sent::Badly) => return Sent::Badly,
            Ok(sent) => sent,
            Err(error) => {
                tracing::debug!(%key, %error, "a provider could not be told; it comes back when its claim lapses");
                return Sent::Nothing;
            }
        };
        let settled = self.decide(tenant, Reads::none(), move |view, _| {
            let mut writes = Writes::default();
            writes.timer(TimerWrite::Settle { key: key.clone(), epoch });
            Ok(Outcome::Write(writes.finish(&view.mint()), ()))
        });
        // Whether or not that is written, the provider has heard it; hearing it again is harmless.
        let _ = settled.await;
        sent
    }
}
