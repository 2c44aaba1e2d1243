//! Where a request stands in reaching people: its rung, what is to be sent again, what channels show.
//!
//! When something is to be done next is a function of the request alone, so that its timers can always be made from it.

use serde::{Deserialize, Serialize};

use super::{
    channels,
    delivery::Delivery,
    request::Request,
    target::Target,
    terms::{DeliveryState, OnExpiry, RequestState},
};
use crate::{duration::ExactDuration, id::DeliveryId, timestamp::Timestamp};

/// What is kept of reaching people besides the deliveries themselves.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct Outreach {
    /// The highest rung that was reached, by time, by hand or at the deadline.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rung: Option<u32>,
    /// Whom the request was passed on to last; rungs that come later name their own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub passed_to: Option<Target>,
    /// How many reminders there were, those that were missed included.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub reminders: u64,
    /// Deliveries of which one more attempt was asked for (rule V-12).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub again: Vec<Again>,
    /// Deliveries whose channel still shows them and wants to hear of changes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shown: Vec<DeliveryId>,
}

/// One more attempt that was asked for.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Again {
    /// Of which delivery.
    pub delivery: DeliveryId,
    /// When.
    pub at: Timestamp,
}

impl Outreach {
    /// Whether there is nothing to keep.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// The rung after the highest that was reached.
    #[must_use]
    pub fn next_rung(&self) -> u32 {
        self.rung.map_or(0, |rung| rung.saturating_add(1))
    }

    /// Notes that a rung was reached.
    pub(super) fn reached(&mut self, rung: u32) {
        self.rung = self.rung.max(Some(rung));
    }
}

impl Request {
    /// A delivery by its id.
    #[must_use]
    pub fn delivery(&self, id: DeliveryId) -> Option<&Delivery> {
        self.deliveries.iter().find(|delivery| delivery.id == id)
    }

    pub(super) fn delivery_mut(&mut self, id: DeliveryId) -> Option<&mut Delivery> {
        self.deliveries.iter_mut().find(|delivery| delivery.id == id)
    }

    /// When a rung's time comes (rule C-4).
    pub(super) fn rung_time(&self, rung: u32) -> Option<Timestamp> {
        self.routing.rung(rung).map(|rung| self.created_at.saturating_add(rung.after))
    }

    /// When people are reminded next: under `park`, at every multiple of the declared time.
    pub(super) fn next_reminder(&self) -> Option<Timestamp> {
        let every = self.reminder_every()?.seconds();
        let seconds = every.saturating_mul(self.outreach.reminders.saturating_add(1));
        Some(self.created_at.saturating_add(ExactDuration::from_seconds(seconds)))
    }

    pub(super) fn reminder_every(&self) -> Option<ExactDuration> {
        let policy = self.ttl_policy.as_ref().filter(|policy| policy.on_expiry == OnExpiry::Park)?;
        policy.reminder_every
    }

    /// When this request is to be [tended](super::tend()) next: the next rung, the next reminder, or soon while
    /// deliveries are not claimed. None once it ended.
    #[must_use]
    pub fn next_tend(&self) -> Option<Timestamp> {
        if self.state != RequestState::Pending {
            return None;
        }
        let queued = self.deliveries.iter().filter(|delivery| delivery.state == DeliveryState::Queued);
        let fresh = queued.map(claim_time).min();
        [self.rung_time(self.outreach.next_rung()), self.next_reminder(), fresh].into_iter().flatten().min()
    }

    /// When a delivery is to be sent next, or since when it is being sent. None while nothing is to be sent.
    #[must_use]
    pub fn send_time(&self, delivery: &Delivery) -> Option<Timestamp> {
        if let Some(attempt) = delivery.in_flight() {
            return Some(attempt.started_at);
        }
        if self.state != RequestState::Pending {
            return None;
        }
        let again =
            self.outreach.again.iter().filter(|again| again.delivery == delivery.id).map(|again| again.at).min();
        let retry = (delivery.state == DeliveryState::Retrying)
            .then(|| delivery.attempts.last().and_then(|attempt| attempt.next_attempt_at))
            .flatten();
        again.into_iter().chain(retry).min()
    }
}

/// When a delivery that was made is claimed: at once, or with others that only list.
fn claim_time(delivery: &Delivery) -> Timestamp {
    let wait = if channels::is_listing(&delivery.channel) { channels::LISTED_AFTER_SECONDS } else { 0 };
    delivery.created_at.saturating_add(ExactDuration::from_seconds(wait))
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}
