//! Pushing a signal until it is acknowledged (W3, W5, H-3 to H-8).

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    backoff::backoff,
    callback::Callback,
    context::Context,
    effects::{Event, EventType},
    error::DecisionError,
    limits,
    request::Request,
    signal::Signal,
    terms::{EndpointCondition, PushOutcome, PushState, WaiterState},
    view::SignalView,
};
use crate::{
    digest::Digest,
    id::{DeliveryId, SignalId},
    json::{Json, NotCanonical, Object, to_json},
    timestamp::Timestamp,
};

/// How long every attempt must have failed before an endpoint is disabled (rule H-8).
const DISABLED_AFTER: Duration = Duration::from_secs(24 * 60 * 60);
/// A pause between failures that is longer than any backoff: what lies before it says nothing of what comes after.
const UNRELATED: Duration = Duration::from_secs(60 * 60);
/// How many attempts of a signal are kept.
const KEPT_ATTEMPTS: usize = 100;

/// What an attempt comes to that could not be signed, so that nothing was sent. It says nothing of the endpoint.
pub const NO_ACTIVE_SECRET: &str = "no_active_secret";

/// The push of one signal.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Push {
    /// What receivers recognize a repetition by, the same in every attempt.
    pub delivery_id: DeliveryId,
    /// Where it goes.
    pub callback: Callback,
    /// How many attempts were made.
    #[serde(default)]
    pub attempts: u32,
    /// How often it was queued anew by hand. An attempt that began before plans nothing after.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub requeued: u32,
    /// Whether the next attempt is made although the endpoint is disabled.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub forced: bool,
    /// Whether it rests because its endpoint is disabled.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub resting: bool,
}

/// What came of one attempt, as the transport tells it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct PushResult {
    /// How it went.
    pub outcome: PushOutcome,
    /// The status, if there was a response.
    pub status: Option<u16>,
    /// A word that says what failed: never content, a secret or an address.
    pub error: Option<&'static str>,
}

/// One attempt to push a signal, as kept and as served (rule H-7).
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[schemars(rename = "CallbackAttempt")]
pub struct PushAttempt {
    /// Which attempt of this signal it was, from 1.
    #[schemars(range(min = 1))]
    pub n: u32,
    /// When it began.
    pub started_at: Timestamp,
    /// When it ended.
    pub ended_at: Option<Timestamp>,
    /// The status of the response, if there was one.
    pub status_code: Option<u16>,
    /// How long it took.
    pub duration_ms: Option<u64>,
    /// How it went.
    pub outcome: PushOutcome,
    /// What failed, in a word.
    pub error: Option<String>,
}

/// The attempts of one signal, oldest first: the last hundred.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct PushLog {
    /// Whose they are.
    pub signal_id: SignalId,
    /// The attempts.
    pub data: Vec<PushAttempt>,
    /// When the next one is due, as the last one planned it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_attempt_at: Option<Timestamp>,
}

/// The attempts of a signal as served.
#[derive(Clone, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[schemars(rename = "CallbackAttemptList")]
pub struct PushAttempts {
    /// The last hundred, oldest first, each with its true number.
    pub data: Vec<PushAttempt>,
    /// The push as a whole: what its tenant is told of an endpoint that fails (rule H-8). There is none where the request
    /// names no callback.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub push: Option<PushStanding>,
}

/// How the push of a signal stands.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[schemars(rename = "CallbackPush")]
pub struct PushStanding {
    /// What receivers know each attempt by, and what can be redelivered.
    pub delivery_id: DeliveryId,
    /// What is to come of it.
    pub state: PushState,
    /// When the next attempt is due, if one is planned: also after one that the receiver refused.
    pub next_attempt_at: Option<Timestamp>,
    /// How its endpoint fares, over all signals that go there.
    pub endpoint: EndpointStanding,
}

/// How an endpoint stands. Its address is not repeated.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[schemars(rename = "CallbackEndpointHealth")]
pub struct EndpointStanding {
    /// How it fares.
    pub state: EndpointCondition,
    /// Since when every attempt failed.
    pub failing_since: Option<Timestamp>,
    /// When it was disabled for that.
    pub disabled_at: Option<Timestamp>,
}

impl PushAttempts {
    /// What is served of a signal's attempts.
    #[must_use]
    pub fn new(signal: &Signal, log: Option<PushLog>, endpoint: Option<&EndpointHealth>) -> Self {
        let (data, planned) = log.map(|log| (log.data, log.next_attempt_at)).unwrap_or_default();
        let push = signal.push.as_ref().map(|push| {
            let (failing_since, disabled_at) =
                endpoint.map(|known| (known.failing_since, known.disabled_at)).unwrap_or_default();
            let state = match (signal.acked_at, is_to_be_pushed(signal, endpoint)) {
                (Some(_), _) => PushState::Acknowledged,
                (None, true) => PushState::Pushing,
                (None, false) => PushState::Resting,
            };
            let endpoint_state = match (disabled_at, failing_since) {
                (Some(_), _) => EndpointCondition::Disabled,
                (None, Some(_)) => EndpointCondition::Failing,
                (None, None) => EndpointCondition::Working,
            };
            PushStanding {
                delivery_id: push.delivery_id,
                state,
                // One that was asked for by hand is due at once.
                next_attempt_at: planned.filter(|_| state == PushState::Pushing && !push.forced),
                endpoint: EndpointStanding { state: endpoint_state, failing_since, disabled_at },
            }
        });
        Self { data, push }
    }
}

/// How an endpoint of a tenant fares.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct EndpointHealth {
    /// The digest of its address.
    pub url_digest: Digest,
    /// Since when every attempt failed.
    pub failing_since: Option<Timestamp>,
    /// When one failed last.
    pub failed_at: Option<Timestamp>,
    /// When it was disabled for that.
    pub disabled_at: Option<Timestamp>,
}

/// What a redelivery returns (rule V-12).
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[schemars(rename = "RedeliverResult")]
pub struct Redelivery {
    /// What is delivered again.
    pub delivery_id: DeliveryId,
    /// When that was asked for.
    pub queued_at: Timestamp,
}

/// What an attempt comes to.
#[derive(Clone, Debug, PartialEq)]
#[must_use]
pub struct Pushed {
    /// The signal, with one attempt more.
    pub signal: Signal,
    /// The request, with its waiter's next state.
    pub request: Request,
    /// The attempts so far.
    pub log: PushLog,
    /// The endpoint, if something is to be known of it.
    pub endpoint: Option<EndpointHealth>,
    /// What happened, if it is worth telling.
    pub event: Option<Event>,
    /// Whether the timer that it was pushed under is this attempt's still: not if the signal was acknowledged, queued anew
    /// or pushed by another worker meanwhile.
    pub holds_timer: bool,
    /// When to try again, where the timer is held; none if the endpoint is disabled.
    pub again: Option<Timestamp>,
    /// Whether the endpoint works again after it was disabled.
    pub enabled: bool,
}

impl Push {
    /// The push of a signal. Its delivery has the number of the signal, so that the one leads to the other.
    pub(super) fn new(callback: Callback, signal: SignalId) -> Self {
        Self {
            delivery_id: DeliveryId::from_ulid(signal.ulid()),
            callback,
            attempts: 0,
            requeued: 0,
            forced: false,
            resting: false,
        }
    }
}

impl EndpointHealth {
    fn unknown(url_digest: Digest) -> Self {
        Self { url_digest, failing_since: None, failed_at: None, disabled_at: None }
    }
}

/// The body of a push: the signal without what differs between attempts, so that its canonical text never changes
/// (rule H-3).
///
/// # Errors
///
/// If something in it has no canonical form, which a raise or an answer never lets in.
pub fn push_body(signal: &SignalView) -> Result<String, NotCanonical> {
    let mut body = to_json(signal).unwrap_or(Json::Null);
    if let Some(members) = body.as_object_mut() {
        members.remove("attempts");
        members.remove("acked_at");
        #[cfg(feature = "planted-faults")]
        if crate::planted::Fault::BodyCountsAttempts.is_planted() {
            members.insert("attempts", u64::from(signal.attempts));
        }
    }
    body.canonical()
}

/// Whether a signal is to be pushed now: it has somewhere to go, waits for its acknowledgement, and its endpoint is not
/// disabled, or somebody wants it tried all the same.
#[must_use]
pub fn is_to_be_pushed(signal: &Signal, endpoint: Option<&EndpointHealth>) -> bool {
    let disabled = endpoint.is_some_and(|endpoint| endpoint.disabled_at.is_some());
    signal.acked_at.is_none() && signal.push.as_ref().is_some_and(|push| !disabled || push.forced)
}

/// The signal as it rests while its endpoint is disabled (rule H-8). It stays readable by poll.
#[must_use]
pub fn rest(signal: &Signal) -> Signal {
    let mut resting = signal.clone();
    if let Some(push) = &mut resting.push {
        push.resting = signal.acked_at.is_none();
    }
    resting
}

/// The signal as it goes on once its endpoint works again.
#[must_use]
pub fn wake(signal: &Signal) -> Signal {
    let mut awake = signal.clone();
    if let Some(push) = &mut awake.push {
        push.resting = false;
    }
    awake
}

/// Records what came of an attempt and plans the next: until the signal is acknowledged, also after a 2xx (rule H-6).
///
/// # Errors
///
/// [`DecisionError::Internal`] for a signal without a push.
pub fn pushed(
    signal: &Signal,
    request: &Request,
    log: Option<&PushLog>,
    endpoint: Option<&EndpointHealth>,
    attempt: PushAttempt,
    began_with: &Push,
    context: &mut Context<'_>,
) -> Result<Pushed, DecisionError> {
    let mut signal = signal.clone();
    let accepted = attempt.outcome == PushOutcome::Accepted;
    let push = signal.push.as_mut().ok_or(DecisionError::Internal)?;
    // Whoever queued it anew, or recorded an attempt in between, planned what comes next.
    let overtaken = push.requeued != began_with.requeued || push.attempts != began_with.attempts;
    push.attempts = push.attempts.saturating_add(1);
    let n = push.attempts;
    let was_sent = attempt.error.as_deref() != Some(NO_ACTIVE_SECRET);

    let mut log = log.cloned().unwrap_or(PushLog { signal_id: signal.id, data: Vec::new(), next_attempt_at: None });
    log.data.push(PushAttempt { n, ..attempt });
    let old = log.data.len().saturating_sub(KEPT_ATTEMPTS);
    log.data.drain(..old);
    #[cfg(feature = "planted-faults")]
    if crate::planted::Fault::AttemptsNotLogged.is_planted() {
        log.data.clear();
    }

    let before = endpoint.cloned().unwrap_or_else(|| EndpointHealth::unknown(push.callback.url_digest()));
    let after = if was_sent { judged(&before, accepted, context.now) } else { before.clone() };
    let enabled = before.disabled_at.is_some() && after.disabled_at.is_none();
    let disabled_now = before.disabled_at.is_none() && after.disabled_at.is_some();
    let event = disabled_now.then(|| disabled(request, signal.id, push.delivery_id, &after));

    let mut again = None;
    let holds_timer = signal.acked_at.is_none() && !overtaken;
    if holds_timer {
        push.forced = false;
        push.resting = after.disabled_at.is_some();
        if !push.resting {
            let wait = backoff(n, Duration::from_secs(limits::RETRY_CAP_SECONDS), context.mint);
            again = Some(context.now.saturating_add(wait));
        }
    }
    #[cfg(feature = "planted-faults")]
    let again = again.filter(|_| !accepted || !crate::planted::Fault::StopsAfterAccepted.is_planted());
    if holds_timer {
        log.next_attempt_at = again;
    }
    let mut request = request.clone();
    if signal.acked_at.is_none() {
        request.waiter.state = carried(request.waiter.state, accepted);
    }
    let endpoint = (endpoint.is_some() || after.failing_since.is_some()).then_some(after);
    Ok(Pushed { signal, request, log, endpoint, event, holds_timer, again, enabled })
}

/// The waiter while a callback carries its signal (W3), and after the push failed (W5).
fn carried(state: WaiterState, accepted: bool) -> WaiterState {
    match (state, accepted) {
        (WaiterState::Signalled | WaiterState::Delivering, true) => WaiterState::Delivering,
        (WaiterState::Delivering, false) => WaiterState::Signalled,
        (other, _) => other,
    }
}

fn judged(before: &EndpointHealth, accepted: bool, now: Timestamp) -> EndpointHealth {
    let mut after = before.clone();
    if accepted {
        (after.failing_since, after.failed_at, after.disabled_at) = (None, None, None);
        return after;
    }
    let related = before.failed_at.is_some_and(|failed_at| now.since(failed_at) <= UNRELATED);
    let since = before.failing_since.filter(|_| related || before.disabled_at.is_some()).unwrap_or(now);
    after.failing_since = Some(since);
    after.failed_at = Some(now);
    if now.since(since) >= DISABLED_AFTER {
        after.disabled_at = after.disabled_at.or(Some(now));
    }
    after
}

fn disabled(request: &Request, signal: SignalId, delivery: DeliveryId, endpoint: &EndpointHealth) -> Event {
    let mut data = Object::new();
    data.insert("signal_id", signal.to_string());
    data.insert("delivery_id", delivery.to_string());
    data.insert("endpoint_digest", endpoint.url_digest.to_string());
    data.insert("failing_since", endpoint.failing_since.map(|since| since.to_string()));
    Event { event_type: EventType::CallbackEndpointDisabled, request_id: request.id, data }
}

/// Queues a push once more, at once and whatever became of its endpoint (rule V-12).
///
/// # Errors
///
/// [`DecisionError::RequestNotFound`] for a signal that is acknowledged, or goes nowhere.
pub fn requeue(signal: &Signal, now: Timestamp) -> Result<(Signal, Redelivery), DecisionError> {
    let mut signal = signal.clone();
    let push = signal.push.as_mut().filter(|_| signal.acked_at.is_none()).ok_or(DecisionError::RequestNotFound)?;
    push.requeued = push.requeued.saturating_add(1);
    push.forced = true;
    push.resting = false;
    let redelivery = Redelivery { delivery_id: push.delivery_id, queued_at: now };
    Ok((signal, redelivery))
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives references")]
fn is_zero(count: &u32) -> bool {
    *count == 0
}
