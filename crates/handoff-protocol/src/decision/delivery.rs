//! Deliveries: the attempts to reach somebody about a request (section 12).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    channels::{ChannelFacts, IN_APP},
    limits,
    target::Target,
    terms::{AttemptOutcome, DeliveryState, Grade, Suppression},
};
use crate::{
    id::{DeliveryId, RequestId},
    timestamp::Timestamp,
};

/// One delivery, as kept and as served. No address is part of it: that is looked up each time (rule V-14).
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct Delivery {
    /// Its id.
    pub id: DeliveryId,
    /// The request that it is about.
    pub request_id: RequestId,
    /// The channel it goes through.
    #[schemars(length(max = limits::CHANNEL_CHARS))]
    pub channel: String,
    /// Who it is for.
    pub target: Target,
    /// The rung of the ladder that it belongs to.
    pub rung: u32,
    /// Where it stands.
    pub state: DeliveryState,
    /// Why it was kept back, where it was (rule V-8).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suppressed_reason: Option<Suppression>,
    /// How many more people of its place are not reached, because a place becomes so many people and a request keeps so many
    /// deliveries; left out where there are none *(additive)*.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub left_out: u32,
    /// How far it provably got; null without evidence (rule V-4).
    pub grade_reached: Option<Grade>,
    /// How far its channel can ever prove (rule V-5).
    pub max_grade: Grade,
    /// Whether its channel can tell who answers.
    pub can_authenticate_person: bool,
    /// What was tried, the latest last (rule V-6).
    pub attempts: Vec<DeliveryAttempt>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
}

/// One attempt to deliver (rule V-6). What it says never holds content, secrets or addresses.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct DeliveryAttempt {
    /// Its number, from 1.
    #[schemars(range(min = 1))]
    pub n: u32,
    /// When it began.
    pub started_at: Timestamp,
    /// When it ended; null while it goes on.
    pub ended_at: Option<Timestamp>,
    /// What came of it; left out while it goes on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<AttemptOutcome>,
    /// What the transport said, in its own codes.
    pub transport_status: Option<String>,
    /// What went wrong, in words.
    pub error: Option<String>,
    /// When the next attempt follows.
    #[serde(default)]
    pub next_attempt_at: Option<Timestamp>,
}

impl Delivery {
    /// A delivery that was not claimed yet.
    pub(super) fn queued(
        id: DeliveryId,
        request_id: RequestId,
        channel: &str,
        target: Target,
        rung: u32,
        facts: ChannelFacts,
        now: Timestamp,
    ) -> Self {
        Self {
            id,
            request_id,
            channel: channel.to_owned(),
            target,
            rung,
            state: DeliveryState::Queued,
            suppressed_reason: None,
            left_out: 0,
            grade_reached: None,
            max_grade: facts.max_grade,
            can_authenticate_person: facts.can_authenticate_person,
            attempts: Vec::new(),
            created_at: now,
            updated_at: now,
        }
    }

    /// The attempt that goes on.
    #[must_use]
    pub fn in_flight(&self) -> Option<&DeliveryAttempt> {
        self.attempts.last().filter(|attempt| attempt.ended_at.is_none())
    }

    /// Whether an answer could have come through this delivery (rule S-6).
    #[must_use]
    pub fn could_carry_an_answer(&self) -> bool {
        !matches!(
            self.state,
            DeliveryState::Suppressed
                | DeliveryState::Failed
                | DeliveryState::Bounced
                | DeliveryState::Cancelled
                | DeliveryState::Stale
        )
    }

    /// Begins an attempt, and says which.
    pub(super) fn begin(&mut self, now: Timestamp) -> u32 {
        let n = self.attempts.last().map_or(1, |last| last.n.saturating_add(1));
        if self.attempts.len() >= limits::KEPT_ATTEMPTS {
            self.attempts.remove(0);
        }
        self.attempts.push(DeliveryAttempt {
            n,
            started_at: now,
            ended_at: None,
            outcome: None,
            transport_status: None,
            error: None,
            next_attempt_at: None,
        });
        if !self.reaches(Grade::Dispatched) {
            self.state = DeliveryState::Sending;
        }
        self.updated_at = now;
        n
    }

    /// Delivers by listing: the request stands where its target looks, so there is nothing to wait for.
    pub(super) fn list(&mut self, now: Timestamp) {
        self.begin(now);
        if let Some(attempt) = self.attempts.last_mut() {
            attempt.ended_at = Some(now);
            attempt.outcome = Some(AttemptOutcome::Accepted);
        }
        self.prove(Grade::Dispatched, now);
    }

    /// Keeps the delivery back (rule V-8).
    pub(super) fn suppress(&mut self, reason: Suppression, now: Timestamp) {
        self.state = DeliveryState::Suppressed;
        self.suppressed_reason = Some(reason);
        #[cfg(feature = "planted-faults")]
        if crate::planted::Fault::SuppressionWithoutReason.is_planted() {
            self.suppressed_reason = None;
        }
        self.updated_at = now;
    }

    /// Takes evidence of how far it got (rule V-2): a grade only rises, and never above what the channel can prove. False
    /// if that is nothing new.
    pub(super) fn prove(&mut self, grade: Grade, now: Timestamp) -> bool {
        let most = self.max_grade;
        #[cfg(feature = "planted-faults")]
        let most = if crate::planted::Fault::GradeAboveTheCeiling.is_planted() { Grade::Acted } else { most };
        if self.reaches(grade) || grade > most {
            return false;
        }
        self.grade_reached = Some(grade);
        if !self.state.is_final() {
            self.state = match grade {
                Grade::Dispatched => DeliveryState::Dispatched,
                Grade::Delivered => DeliveryState::Delivered,
                Grade::Seen => DeliveryState::Seen,
                Grade::Acted => DeliveryState::Acted,
            };
        }
        self.updated_at = now;
        true
    }

    /// Whether it provably got so far.
    #[must_use]
    pub fn reaches(&self, grade: Grade) -> bool {
        self.grade_reached >= Some(grade)
    }

    /// Notes that a person answered through this delivery.
    pub(super) fn act(&mut self, now: Timestamp) {
        if self.can_authenticate_person && self.max_grade >= Grade::Acted {
            self.state = DeliveryState::Acted;
            self.grade_reached = Some(Grade::Acted);
            self.updated_at = now;
        }
    }

    /// Closes what is still open when the request ends (section 9): cancelled before dispatch, stale after. An attempt
    /// that goes on ends by itself.
    pub(super) fn close(&mut self, now: Timestamp) {
        #[cfg(feature = "planted-faults")]
        if crate::planted::Fault::DeliveriesStayOpen.is_planted() {
            return;
        }
        let closed = match self.state {
            DeliveryState::Queued | DeliveryState::Sending | DeliveryState::Retrying => DeliveryState::Cancelled,
            DeliveryState::Dispatched | DeliveryState::Delivered | DeliveryState::Seen => DeliveryState::Stale,
            DeliveryState::Suppressed
            | DeliveryState::Failed
            | DeliveryState::Bounced
            | DeliveryState::Acted
            | DeliveryState::Stale
            | DeliveryState::Cancelled => return,
        };
        self.state = closed;
        self.updated_at = now;
    }
}

/// Chooses the delivery that an answer came through: the one it names if that could be, otherwise the likeliest of those
/// that are meant for whoever answers, by channels that authenticate, then by grade, then by age (rule S-6). A wrong name
/// never blocks an answer, and where nothing could have reached its author, nothing is claimed (rule V-4).
///
/// A message can be passed from hand to hand, so one that is named counts whoever it was addressed to. A listing is only
/// found by those that it is for.
#[must_use]
pub(super) fn choose(
    deliveries: &[Delivery],
    named: Option<DeliveryId>,
    is_meant: impl Fn(&Target) -> bool,
) -> Option<DeliveryId> {
    let candidates = || {
        let was_sent = |delivery: &&Delivery| delivery.state != DeliveryState::Queued || delivery.channel == IN_APP;
        deliveries.iter().filter(|delivery| delivery.could_carry_an_answer()).filter(was_sent)
    };
    candidates()
        .filter(|delivery| delivery.channel != IN_APP || is_meant(&delivery.target))
        .find(|delivery| Some(delivery.id) == named)
        .or_else(|| {
            candidates()
                .filter(|delivery| is_meant(&delivery.target))
                .max_by_key(|delivery| (delivery.can_authenticate_person, delivery.grade_reached, delivery.id))
        })
        .map(|delivery| delivery.id)
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(count: &u32) -> bool {
    *count == 0
}
