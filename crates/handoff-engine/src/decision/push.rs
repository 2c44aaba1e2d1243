//! Pushing signals (section 19): one attempt under the claim of its timer, what came of it, and pushing once more.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use handoff_protocol::{
    callback::{
        CallbackSecret, DELIVERY_HEADER, IDEMPOTENCY_KEY_HEADER, SCHEME_VERSION, SEQUENCE_HEADER, SIGNAL_HEADER,
        SIGNATURE_HEADER, VERSION_HEADER, WEBHOOK_ID_HEADER, WEBHOOK_SIGNATURE_HEADER, WEBHOOK_TIMESTAMP_HEADER, sign,
        sign_standard, standard_time,
    },
    decision::{
        CallbackFormat, CallbackUrl, Context, DecisionError, EndpointHealth, NO_ACTIVE_SECRET, Push, PushAttempt,
        PushLog, PushResult, Request, Signal, capability::Capabilities, is_to_be_pushed, push_body, pushed, rest,
        terms::PushOutcome, view::SignalView, wake,
    },
    digest::Digest,
    id::{SignalId, TenantId},
    timestamp::Timestamp,
};

use super::{
    apply::{Writes, json_text},
    internal,
    keys::{self, TimerAction},
};
use crate::{
    callback::Post,
    engine::Engine,
    outbound::Sent,
    store::{ClaimedTimer, IndexRead, Reads, RecordKey, TimerKey, TimerWrite},
    transaction::{Halt, Outcome},
};

/// How long one attempt may take in all (rule H-6).
const ATTEMPT: Duration = Duration::from_secs(10);
/// How many signals go on in one commit once their endpoint works again.
const BATCH: usize = 50;

/// What is pushed when the push itself cannot be made.
const NO_SECRET: PushResult =
    PushResult { outcome: PushOutcome::PermanentFailure, status: None, error: Some(NO_ACTIVE_SECRET) };
const TIMEOUT: PushResult = PushResult { outcome: PushOutcome::Timeout, status: None, error: Some("timeout") };

impl Engine {
    /// Makes one attempt under the claim of a timer (W3), and records it.
    pub(super) async fn push(&self, timer: &ClaimedTimer, id: SignalId) -> Sent {
        match self.attempt(timer, id).await {
            Ok(sent) => sent,
            Err(error) => {
                tracing::debug!(key = %timer.key, %error, "a push could not be recorded; it comes back with its claim");
                Sent::Nothing
            }
        }
    }

    async fn attempt(&self, timer: &ClaimedTimer, id: SignalId) -> Result<Sent, DecisionError> {
        let tenant = timer.tenant;
        let signal: Option<Signal> = self.document(tenant, id).await?;
        let Some((signal, push)) = signal.and_then(|signal| Some((signal.clone(), signal.push?))) else {
            return self.rest(tenant, id, None).await;
        };
        let endpoint = push.callback.url_digest();
        let health: Option<EndpointHealth> = self.document(tenant, endpoint.hex()).await?;
        if !is_to_be_pushed(&signal, health.as_ref()) {
            return self.rest(tenant, id, Some(endpoint)).await;
        }
        #[cfg(feature = "planted-faults")]
        let early = signal.clone();
        #[cfg(feature = "planted-faults")]
        self.settle_early(timer).await?;
        let (started_at, began) = (self.now(), tokio::time::Instant::now());
        let Some(result) = self.post(tenant, signal, &push, started_at).await? else { return Ok(Sent::Nothing) };
        let attempt = PushAttempt {
            n: 0,
            started_at,
            ended_at: Some(self.now()),
            status_code: result.status,
            duration_ms: Some(u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX)),
            outcome: result.outcome,
            error: result.error.map(str::to_owned),
        };
        #[cfg(feature = "planted-faults")]
        let push = crate::planted::BeganWith { push, signal: early };
        self.record(timer, id, push, attempt).await?;
        Ok(if result.outcome == PushOutcome::Accepted { Sent::Well } else { Sent::Badly })
    }

    /// Signs and sends: fresh time, same delivery, same bytes (rules H-1 to H-3). Nothing comes of a signal that was
    /// acknowledged meanwhile.
    async fn post(
        &self,
        tenant: TenantId,
        signal: Signal,
        push: &Push,
        now: Timestamp,
    ) -> Result<Option<PushResult>, DecisionError> {
        let Some(transport) = &self.inner.callbacks else { return Ok(Some(NO_SECRET)) };
        let secrets = self.policy().callbacks.active(push.callback.secret_ref.as_deref());
        #[cfg(feature = "planted-faults")]
        let secrets = secrets
            .get(..1)
            .filter(|_| handoff_protocol::planted::Fault::OneSecretSigns.is_planted())
            .unwrap_or(secrets);
        #[cfg(feature = "planted-faults")]
        let push = &crate::planted::renamed(push, now);
        let mut resumed = self.resumed(tenant, std::slice::from_ref(&signal)).await?;
        let Some(resumed) = resumed.pop().flatten() else { return Ok(None) };
        let view = SignalView::new(signal, resumed);
        let (id, sequence) = (view.id, view.sequence);
        let body = push_body(&view).map_err(|error| internal(&error))?;
        #[cfg(feature = "planted-faults")]
        let body = crate::planted::naming(tenant, body);
        let Some(mut headers) = signatures(push, secrets, now, body.as_bytes()) else {
            return Ok(Some(NO_SECRET));
        };
        headers.push(("Content-Type", "application/json".to_owned()));
        if push.callback.format == CallbackFormat::Handoff {
            headers.extend([
                (DELIVERY_HEADER, push.delivery_id.to_string()),
                (IDEMPOTENCY_KEY_HEADER, push.delivery_id.to_string()),
                (SIGNAL_HEADER, id.to_string()),
                (SEQUENCE_HEADER, sequence.to_string()),
                (VERSION_HEADER, SCHEME_VERSION.to_owned()),
            ]);
        }
        #[cfg(feature = "planted-faults")]
        let body = crate::planted::missent(&mut headers, body);
        let post = Post { url: push.callback.url.clone(), headers, body: Bytes::from(body) };
        Ok(Some(tokio::time::timeout(ATTEMPT, transport.post(&post)).await.unwrap_or(TIMEOUT)))
    }

    async fn record(
        &self,
        timer: &ClaimedTimer,
        id: SignalId,
        #[cfg(not(feature = "planted-faults"))] began_with: Push,
        #[cfg(feature = "planted-faults")] began_with: crate::planted::BeganWith,
        attempt: PushAttempt,
    ) -> Result<(), DecisionError> {
        #[cfg(feature = "planted-faults")]
        let crate::planted::BeganWith { push: began_with, signal: early } = began_with;
        let ClaimedTimer { tenant, key, action, .. } = timer.clone();
        let endpoint = began_with.callback.url_digest();
        let host = host(&began_with.callback.url);
        let policy = Arc::clone(&self.inner.policy);
        let reads = Reads::none()
            .record(RecordKey::new(keys::SIGNAL, id))
            .record(RecordKey::new(keys::PUSH_LOG, id))
            .record(RecordKey::new(keys::ENDPOINT, endpoint.hex()));
        let disabled = self.decide(tenant, reads, move |view, moment| {
            let signal = view.get::<Signal, _>(id)?.ok_or(DecisionError::Internal)?;
            let request = view.get::<Request, _>(signal.document.request_id)?.ok_or(DecisionError::Internal)?;
            #[cfg(feature = "planted-faults")]
            let signal = crate::planted::written_over(&early, signal);
            let log = view.get::<PushLog, _>(id)?;
            let health = view.get::<EndpointHealth, _>(endpoint.hex())?;
            let mut mint = view.mint();
            let mut context =
                Context { now: moment.now, mint: &mut mint, policy: &policy, capabilities: &Capabilities::NONE };
            let after = pushed(
                &signal.document,
                &request.document,
                log.as_ref().map(|kept| &kept.document),
                health.as_ref().map(|kept| &kept.document),
                attempt.clone(),
                &began_with,
                &mut context,
            )?;
            let mut writes = Writes::default();
            writes.put(Some(&signal), &after.signal).map_err(Halt::Broken)?;
            writes.put_changed(Some(&request), &after.request).map_err(Halt::Broken)?;
            writes.put(log.as_ref(), &after.log).map_err(Halt::Broken)?;
            if let Some(after) = &after.endpoint {
                writes.put_changed(health.as_ref(), after).map_err(Halt::Broken)?;
            }
            if let Some(event) = &after.event {
                writes.event(event).map_err(Halt::Broken)?;
            }
            // What the transition says of the timer is as good as its epoch, and one statement less.
            match after.again {
                Some(due) => {
                    let action = fresh(&action).map_err(Halt::Broken)?;
                    writes.timer(TimerWrite::Put { key: key.clone(), due, action });
                }
                None if after.holds_timer => writes.timer(TimerWrite::Remove { key: key.clone() }),
                None => {}
            }
            if after.enabled {
                let action = json_text(&TimerAction::WakePushes { endpoint }).map_err(Halt::Broken)?;
                writes.timer(TimerWrite::Put { key: keys::wake_timer(endpoint), due: moment.now, action });
            }
            Ok(Outcome::Write(writes.finish(&mint), after.event.is_some()))
        });
        if disabled.await? {
            self.inner.outbound.endpoint_disabled();
            tracing::warn!(%tenant, host, "a callback endpoint failed for a day and is disabled; a redelivery that succeeds enables it");
        }
        Ok(())
    }

    /// Settles a push before it is made.
    #[cfg(feature = "planted-faults")]
    async fn settle_early(&self, timer: &ClaimedTimer) -> Result<(), DecisionError> {
        if !handoff_protocol::planted::Fault::SettledBeforeSent.is_planted() {
            return Ok(());
        }
        let key = timer.key.clone();
        self.decide(timer.tenant, Reads::none(), move |view, _| {
            let mut writes = Writes::default();
            writes.timer(TimerWrite::Remove { key: key.clone() });
            Ok(Outcome::Write(writes.finish(&view.mint()), ()))
        })
        .await
    }

    /// Leaves a signal to polls: it is acknowledged, gone, or its endpoint is disabled (rule H-8). Nothing changes if it
    /// is to be pushed after all, by whoever queued it meanwhile.
    async fn rest(&self, tenant: TenantId, id: SignalId, endpoint: Option<Digest>) -> Result<Sent, DecisionError> {
        self.decide(tenant, Reads::none().record(RecordKey::new(keys::SIGNAL, id)), move |view, _| {
            let signal = view.get::<Signal, _>(id)?;
            let health = match endpoint {
                Some(endpoint) => view.get::<EndpointHealth, _>(endpoint.hex())?,
                None => None,
            };
            let health = health.as_ref().map(|kept| &kept.document);
            if signal.as_ref().is_some_and(|kept| is_to_be_pushed(&kept.document, health)) {
                return Ok(Outcome::Nothing(()));
            }
            let mut writes = Writes::default();
            if let Some(kept) = &signal {
                writes.put_changed(Some(kept), &rest(&kept.document)).map_err(Halt::Broken)?;
            }
            writes.timer(TimerWrite::Remove { key: keys::push_timer(id) });
            Ok(Outcome::Write(writes.finish(&view.mint()), ()))
        })
        .await?;
        Ok(Sent::Nothing)
    }

    /// Pushes what rested while an endpoint was disabled, a batch a commit, and settles the timer with the last.
    pub(crate) async fn wake_pushes(
        &self,
        tenant: TenantId,
        endpoint: Digest,
        timer: TimerKey,
        epoch: u64,
    ) -> Result<(), DecisionError> {
        let resting = IndexRead { index: keys::RESTING, prefix: keys::digest_prefix(endpoint), limit: BATCH };
        loop {
            let (resting, timer) = (resting.clone(), timer.clone());
            let more = self
                .decide(tenant, Reads::none().index(resting.clone()), move |view, moment| {
                    let signals = view.scan::<Signal, DecisionError>(resting.clone())?;
                    let mut writes = Writes::default();
                    for signal in &signals {
                        let awake = wake(&signal.document);
                        writes.put(Some(signal), &awake).map_err(Halt::Broken)?;
                        writes.push(&awake, moment.now).map_err(Halt::Broken)?;
                    }
                    let more = signals.len() == BATCH;
                    if !more {
                        writes.timer(TimerWrite::Settle { key: timer.clone(), epoch });
                    }
                    Ok(Outcome::Write(writes.finish(&view.mint()), more))
                })
                .await?;
            if !more {
                return Ok(());
            }
        }
    }
}

impl Writes {
    /// Has a signal pushed at a time, if it goes anywhere.
    pub(super) fn push(&mut self, signal: &Signal, due: Timestamp) -> Result<(), crate::store::StoreError> {
        let Some(push) = &signal.push else { return Ok(()) };
        // One host is one destination, whoever pushes to it and under whatever path.
        let to = push.callback.destination();
        let action = json_text(&TimerAction::Push { signal: signal.id, to, put_off: 0 })?;
        self.timer(TimerWrite::Put { key: keys::push_timer(signal.id), due, action });
        Ok(())
    }
}

/// The headers that prove the sender; none without a secret that can sign.
fn signatures(
    push: &Push,
    secrets: &[CallbackSecret],
    now: Timestamp,
    body: &[u8],
) -> Option<Vec<(&'static str, String)>> {
    Some(match push.callback.format {
        CallbackFormat::Handoff => vec![(SIGNATURE_HEADER, sign(secrets, now, push.delivery_id, body).ok()?)],
        CallbackFormat::StandardWebhooks => vec![
            (WEBHOOK_ID_HEADER, push.delivery_id.to_string()),
            (WEBHOOK_TIMESTAMP_HEADER, standard_time(now)),
            (WEBHOOK_SIGNATURE_HEADER, sign_standard(secrets, now, push.delivery_id, body).ok()?),
        ],
    })
}

/// The same action, as one that was not put off.
fn fresh(action: &str) -> Result<Arc<str>, crate::store::StoreError> {
    keys::read_action(action).map(TimerAction::tried).and_then(|action| json_text(&action))
}

/// The host of an address, for the log: path and query may hold what only the receiver should know.
fn host(url: &str) -> String {
    CallbackUrl::parse(url).map(|url| url.authority().to_owned()).unwrap_or_default()
}
