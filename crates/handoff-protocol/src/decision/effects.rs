//! What a transition comes to: a value that names everything that follows, for the engine to carry out as it stands.

use super::{
    authorization::Authorization,
    capability::{Grant, GrantSession},
    error::DecisionError,
    progress::RecordedDisposition,
    receipt::SealedReceipt,
    request::Request,
    resume::Continuation,
    signal::Signal,
    terms::RequestState,
    waiter::Waiter,
};
use crate::{
    digest::Digest,
    id::{Mint, RenderingId, RequestId, SessionRef},
    json::{Json, Object},
    timestamp::Timestamp,
};

/// Everything that a transition of a request writes, all of it in one commit.
#[derive(Clone, Debug, PartialEq)]
#[must_use]
pub struct Effects {
    /// The request's next state.
    pub request: Request,
    /// The next state of the request that takes this one's place.
    pub successor: Option<Request>,
    /// The waiter's next state, if it changed.
    pub waiter: Option<Waiter>,
    /// The receipt, sealed behind the head that the transition was given.
    pub receipt: Option<SealedReceipt>,
    /// The authorization that was minted.
    pub authorization: Option<Authorization>,
    /// Signals that were enqueued or changed.
    pub signals: Vec<Signal>,
    /// A disposition that decided nothing.
    pub disposition: Option<RecordedDisposition>,
    /// Continuation data to keep.
    pub continuation: Option<Continuation>,
    /// Copies of what was shown, to keep.
    pub renderings: Vec<Rendering>,
    /// What happened.
    pub events: Vec<Event>,
    /// Timers that change.
    pub timers: Vec<TimerChange>,
    /// Grants that were minted or changed.
    pub grants: Vec<Grant>,
    /// Sessions that were opened or changed.
    pub sessions: Vec<GrantSession>,
}

/// What a timer comes to when it fires.
#[derive(Clone, Debug, PartialEq)]
#[must_use]
pub enum Fired {
    /// It was due, and this follows.
    Acted(Box<Effects>),
    /// Nothing is due.
    NotDue {
        /// When to look again; none if there is nothing to wait for any more.
        again: Option<Timestamp>,
    },
}

/// A kept copy of what a person was shown (rule D-8).
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Rendering {
    /// Where receipts find it.
    pub id: RenderingId,
    /// The digest of its text.
    pub digest: Digest,
    /// Its canonical text.
    pub text: String,
}

/// Something that happened, for the tenant's event log (section 23). It carries ids, versions, states and reason codes,
/// never values, prompts or addresses.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// What happened.
    pub event_type: EventType,
    /// The request that it happened to.
    pub request_id: RequestId,
    /// The rest.
    pub data: Object,
}

/// The types of section 23 that this build writes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum EventType {
    /// R1.
    RequestRaised,
    /// R2, and a raise that joined (rule K-1).
    RequestAmended,
    /// R12.
    RequestStepRecorded,
    /// R13.
    RequestDispositionRecorded,
    /// R14.
    RequestEndorsed,
    /// R4.
    RequestEscalated,
    /// Section 11.
    RequestReassigned,
    /// Section 10, `park` *(additive)*.
    RequestReminded,
    /// V-1.
    DeliveryTransitioned,
    /// S-10.
    ChannelMessageReceived,
    /// E-3.
    RuntimeObservation,
    /// R5.
    RequestAnswered,
    /// R6.
    RequestExpired,
    /// R7.
    RequestCancelled,
    /// R8.
    RequestSuperseded,
    /// CL-1.
    AttemptArmed,
    /// R3.
    AttemptLapsed,
    /// E-4 *(additive)*.
    ReceiptCorrected,
    /// H-8.
    CallbackEndpointDisabled,
    /// W6 *(additive)*.
    WaiterOrphaned,
    /// W7 *(additive)*.
    WaiterRearmed,
    /// G-7.
    GrantResolved,
    /// G-12.
    GrantRevoked,
}

impl EventType {
    /// The wire name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::RequestRaised => "request.raised",
            Self::RequestAmended => "request.amended",
            Self::RequestStepRecorded => "request.step_recorded",
            Self::RequestDispositionRecorded => "request.disposition_recorded",
            Self::RequestEndorsed => "request.endorsed",
            Self::RequestEscalated => "request.escalated",
            Self::RequestReassigned => "request.reassigned",
            Self::RequestReminded => "request.reminded",
            Self::DeliveryTransitioned => "delivery.transitioned",
            Self::ChannelMessageReceived => "channel.message_received",
            Self::RuntimeObservation => "runtime.observation",
            Self::RequestAnswered => "request.answered",
            Self::RequestExpired => "request.expired",
            Self::RequestCancelled => "request.cancelled",
            Self::RequestSuperseded => "request.superseded",
            Self::AttemptArmed => "attempt.armed",
            Self::AttemptLapsed => "attempt.lapsed",
            Self::ReceiptCorrected => "receipt.corrected",
            Self::CallbackEndpointDisabled => "callback.endpoint_disabled",
            Self::WaiterOrphaned => "waiter.orphaned",
            Self::WaiterRearmed => "waiter.rearmed",
            Self::GrantResolved => "grant.resolved",
            Self::GrantRevoked => "grant.revoked",
        }
    }
}

/// A change to the one timer that a request has for a purpose.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum TimerChange {
    /// Expire the request at this time.
    SetDeadline(Timestamp),
    /// Forget the deadline.
    ClearDeadline,
    /// Tell the waiter at this time that the attempt lapsed.
    SetAttempt(Timestamp),
    /// Forget the attempt.
    ClearAttempt,
    /// Give the request's waiter up at this time, unless it shows itself before.
    SetLease(Timestamp),
    /// End a session of a grant at this time, unless it is renewed before.
    SetSession(SessionRef, Timestamp),
    /// Tell a provider that a session ended, from this time on.
    CloseSession {
        /// The session.
        session: SessionRef,
        /// The digest of the provider's name: who is slow to hear slows nobody else.
        provider: Digest,
        /// From when on.
        due: Timestamp,
    },
}

impl Rendering {
    /// The copy of what a person is shown of a request at its version.
    pub(super) fn of(request: &Request, mint: &mut Mint) -> Result<Self, DecisionError> {
        let text = request.rendering().canonical().map_err(|_| DecisionError::Internal)?;
        Ok(Self { id: mint.next(), digest: Digest::of(text.as_bytes()), text })
    }
}

impl Effects {
    /// The next state of a request and nothing else yet.
    pub(super) fn of(request: Request) -> Self {
        Self {
            request,
            successor: None,
            waiter: None,
            receipt: None,
            authorization: None,
            signals: Vec::new(),
            disposition: None,
            continuation: None,
            renderings: Vec::new(),
            events: Vec::new(),
            timers: Vec::new(),
            grants: Vec::new(),
            sessions: Vec::new(),
        }
    }

    /// Notes an event about the request as it now stands.
    pub(super) fn event<'a>(&mut self, event_type: EventType, more: impl IntoIterator<Item = (&'a str, Json)>) {
        let mut data = Object::new();
        data.insert("version", self.request.version);
        data.insert("state", self.request.state.as_str());
        for (name, value) in more {
            data.insert(name, value);
        }
        self.events.push(Event { event_type, request_id: self.request.id, data });
    }

    /// Forgets what a request that ended was still waiting for.
    pub(super) fn clear_timers(&mut self) {
        if self.request.state == RequestState::Pending {
            return;
        }
        if self.request.deadline().is_some() {
            self.timers.push(TimerChange::ClearDeadline);
        }
        self.clear_attempt();
    }

    /// Forgets an attempt window whose lapse was not told yet.
    pub(super) fn clear_attempt(&mut self) {
        if self.request.attempt_expires_at.is_some() && !self.request.attempt_notified {
            self.timers.push(TimerChange::ClearAttempt);
        }
    }
}
