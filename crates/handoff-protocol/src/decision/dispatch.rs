//! Sending a delivery: an attempt begins, its channel is asked, and what came of it is noted (rules V-1, V-6, V-7).

use std::time::Duration;

use super::{
    backoff,
    contact::contact,
    context::Context,
    delivery::Delivery,
    directory::Person,
    effects::{Effects, Fired},
    limits,
    request::Request,
    terms::{AttemptOutcome, DeliveryState, Grade, RequestState, Suppression, TargetKind, Urgency},
};
use crate::{
    id::{DeliveryId, RequestId, UserId},
    json::Json,
    secret::Secret,
    timestamp::Timestamp,
};

/// The longest wait between two attempts, but for jitter (rule V-7).
const LONGEST: Duration = Duration::from_secs(limits::RETRY_CAP_SECONDS);
/// How much of what a transport said is kept, in characters.
const STATUS_CHARS: usize = 64;
/// How much of what went wrong is kept, in characters.
const ERROR_CHARS: usize = 200;

/// A delivery that is to be sent, with everything that a channel may show.
#[derive(Clone, Debug)]
pub struct Outgoing {
    /// The delivery.
    pub delivery_id: DeliveryId,
    /// Which attempt this is, from 1.
    pub attempt: u32,
    /// The request.
    pub request_id: RequestId,
    /// The version that is shown.
    pub version: u64,
    /// The channel.
    pub channel: String,
    /// The rung.
    pub rung: u32,
    /// How urgent it is.
    pub urgency: Urgency,
    /// The title.
    pub title: String,
    /// The body, in Markdown, where there is one.
    pub body: Option<String>,
    /// The deadline, if there is one.
    pub expires_at: Option<Timestamp>,
    /// To whom.
    pub person: Person,
    /// Where.
    pub address: Secret<String>,
}

/// What a channel says came of an attempt.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct SendReport {
    outcome: AttemptOutcome,
    transport_status: Option<String>,
    error: Option<String>,
    suppression: Option<Suppression>,
}

impl SendReport {
    /// The transport took it.
    #[must_use]
    pub fn accepted() -> Self {
        Self { outcome: AttemptOutcome::Accepted, transport_status: None, error: None, suppression: None }
    }

    /// It did not work this time.
    #[must_use]
    pub fn failed_for_now(error: impl Into<String>) -> Self {
        Self { outcome: AttemptOutcome::TransientFailure, error: Some(error.into()), ..Self::accepted() }
    }

    /// It will never work.
    #[must_use]
    pub fn failed_for_good(error: impl Into<String>) -> Self {
        Self { outcome: AttemptOutcome::PermanentFailure, error: Some(error.into()), ..Self::accepted() }
    }

    /// No word came in time.
    #[must_use]
    pub fn timed_out() -> Self {
        Self { outcome: AttemptOutcome::Timeout, error: Some("no word in time".to_owned()), ..Self::accepted() }
    }

    /// The channel kept it back.
    #[must_use]
    pub fn kept_back(reason: Suppression) -> Self {
        let error = Some(format!("kept back: {}", reason.as_str()));
        Self { outcome: AttemptOutcome::Suppressed, suppression: Some(reason), error, ..Self::accepted() }
    }

    /// Adds what the transport said, in its own codes.
    #[must_use]
    pub fn status(mut self, status: impl Into<String>) -> Self {
        self.transport_status = Some(status.into());
        self
    }

    /// What came of the attempt.
    #[must_use]
    pub const fn outcome(&self) -> AttemptOutcome {
        self.outcome
    }

    /// What is kept of it: in bounds, on one line, and without the address even if the transport repeated it.
    fn kept(text: Option<&String>, chars: usize, address: Option<&str>) -> Option<String> {
        let text = text?;
        if address.is_some_and(|address| !address.is_empty() && text.contains(address)) {
            return Some("withheld: it repeats the address".to_owned());
        }
        Some(text.chars().map(|char| if char.is_control() { ' ' } else { char }).take(chars).collect())
    }
}

/// Begins the attempt of a delivery that is due, unless it goes on already: after a crash, the same attempt is made once
/// more.
pub fn begin_send(request: &Request, id: DeliveryId, context: &Context<'_>) -> Fired {
    let again = request.delivery(id).and_then(|delivery| request.send_time(delivery));
    let in_flight = request.delivery(id).is_some_and(|delivery| delivery.in_flight().is_some());
    if again.is_none_or(|due| context.now < due) || in_flight {
        return Fired::NotDue { again };
    }
    let mut next = request.clone();
    next.outreach.begin(id);
    let Some(delivery) = next.delivery_mut(id) else { return Fired::NotDue { again: None } };
    let from = delivery.state;
    delivery.begin(context.now);
    let mut effects = Effects::of(next);
    effects.delivery_event(id, from);
    Fired::Acted(Box::new(effects))
}

/// What is to be sent of a delivery whose attempt goes on, or why nothing can be sent: each attempt is judged as the first
/// claim was, by the address, the consent and the hours that hold now (rule V-8).
///
/// # Errors
///
/// The report to [end](end_send) the attempt with.
pub fn outgoing(request: &Request, id: DeliveryId, context: &Context<'_>) -> Result<Outgoing, SendReport> {
    let gone = || SendReport { error: Some("the request ended before".to_owned()), ..SendReport::unsent() };
    let delivery = request.delivery(id).ok_or_else(gone)?;
    let attempt = delivery.in_flight().ok_or_else(gone)?.n;
    let is_called_off = delivery.state.is_final() && !delivery.reaches(Grade::Dispatched);
    if request.state != RequestState::Pending || is_called_off {
        return Err(gone());
    }
    let person = person_of(delivery, context).ok_or_else(|| SendReport::kept_back(Suppression::NoRecipient))?;
    let contact = contact(request, &delivery.channel, person, context).map_err(SendReport::kept_back)?;
    Ok(Outgoing {
        delivery_id: id,
        attempt,
        request_id: request.id,
        version: request.version,
        channel: delivery.channel.clone(),
        rung: delivery.rung,
        urgency: request.urgency,
        title: request.title().to_owned(),
        body: request.prompt.get("body").and_then(Json::as_str).map(str::to_owned),
        expires_at: request.expires_at,
        person: person.clone(),
        address: contact.address.clone(),
    })
}

/// Notes what came of an attempt. Nothing follows for one that ended already.
///
/// A delivery that was called off while it was on its way did go out if its transport says so: what was `cancelled` is
/// `stale` then, which is the truth about what a person finds.
#[must_use]
pub fn end_send(
    request: &Request,
    id: DeliveryId,
    attempt: u32,
    report: &SendReport,
    context: &mut Context<'_>,
) -> Option<Effects> {
    let before = request.delivery(id)?;
    before.in_flight().filter(|going_on| going_on.n == attempt)?;
    let from = before.state;
    let address = person_of(before, context).and_then(|person| person.contact(&before.channel));
    let address = address.map(|contact| contact.address.expose().as_str());
    let status = SendReport::kept(report.transport_status.as_ref(), STATUS_CHARS, address);
    let error = SendReport::kept(report.error.as_ref(), ERROR_CHARS, address);
    let keeps_up = context.policy.channels.get(&before.channel).is_some_and(|facts| facts.updates);
    // Attempts that somebody asked for are beside those that it makes of its own accord.
    let own = attempt.saturating_sub(request.outreach.asked(id)).max(1);
    let is_asked_again = request.outreach.is_asked_again(id);
    let retries = own < limits::DELIVERY_ATTEMPTS || is_asked_again;
    let now = context.now;
    let retry_at = if is_asked_again { now } else { now.saturating_add(backoff(own, LONGEST, context.mint)) };
    let mut next = request.clone();
    let delivery = next.delivery_mut(id)?;
    let was_sent_before = delivery.reaches(Grade::Dispatched);
    let mut next_attempt_at = None;
    match report.outcome {
        AttemptOutcome::Accepted => {
            delivery.prove(Grade::Dispatched, now);
            if delivery.state == DeliveryState::Cancelled {
                delivery.state = DeliveryState::Stale;
            }
        }
        // What got there once is there, whatever became of sending it again.
        _ if was_sent_before || delivery.state.is_final() => {}
        AttemptOutcome::Suppressed => match report.suppression {
            Some(reason) => delivery.suppress(reason, now),
            None => delivery.state = DeliveryState::Cancelled,
        },
        AttemptOutcome::TransientFailure | AttemptOutcome::Timeout if retries => {
            delivery.state = DeliveryState::Retrying;
            next_attempt_at = Some(retry_at);
        }
        // One that was asked for meanwhile is made, whatever became of this one.
        AttemptOutcome::PermanentFailure if is_asked_again => {
            delivery.state = DeliveryState::Retrying;
            next_attempt_at = Some(retry_at);
        }
        AttemptOutcome::TransientFailure | AttemptOutcome::Timeout | AttemptOutcome::PermanentFailure => {
            delivery.state = DeliveryState::Failed;
        }
    }
    delivery.updated_at = now;
    if let Some(going_on) = delivery.attempts.last_mut() {
        going_on.ended_at = Some(now);
        going_on.outcome = Some(report.outcome);
        going_on.transport_status = status;
        going_on.error = error;
        going_on.next_attempt_at = next_attempt_at;
    }
    let (is_out, is_final) = (delivery.reaches(Grade::Dispatched), delivery.state.is_final());
    if is_final {
        next.outreach.forget(id);
    }
    if keeps_up && is_out && !next.outreach.shown.contains(&id) {
        next.outreach.shown.push(id);
    }
    let mut effects = Effects::of(next);
    effects.delivery_event(id, from);
    Some(effects)
}

/// The person that a claimed delivery is for.
fn person_of<'a>(delivery: &Delivery, context: &'a Context<'_>) -> Option<&'a Person> {
    let id = (delivery.target.kind == TargetKind::Principal).then(|| UserId::parse(&delivery.target.value).ok())??;
    context.policy.directory.person(id)
}

impl SendReport {
    /// Nothing was sent, and nothing is to be.
    fn unsent() -> Self {
        Self { outcome: AttemptOutcome::Suppressed, ..Self::accepted() }
    }
}
