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
    /// The rungs below that one that were not reached, in order: whoever escalated past them left them to their time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub skipped: Vec<u32>,
    /// Whom the request was passed on to last; rungs that come later name their own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub passed_to: Option<Target>,
    /// How many reminders there were, those that were missed included.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub reminders: u64,
    /// Deliveries whose person is known, and whose first attempt begins as soon as there is a place for it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ready: Vec<Again>,
    /// Deliveries of which one more attempt was asked for (rule V-12).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub again: Vec<Again>,
    /// How many attempts of a delivery were asked for: those it makes of its own accord are counted without them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub asked: Vec<Asked>,
    /// Deliveries whose channel still shows them and wants to hear of changes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shown: Vec<DeliveryId>,
}

/// An attempt that is to be made.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Again {
    /// Of which delivery.
    pub delivery: DeliveryId,
    /// When.
    pub at: Timestamp,
}

/// Attempts that were made because somebody asked.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Asked {
    /// Of which delivery.
    pub delivery: DeliveryId,
    /// How many.
    pub attempts: u32,
}

impl Outreach {
    /// Whether there is nothing to keep.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// The lowest rung that was not reached: the next by time (rule CL-4).
    #[must_use]
    pub fn next_rung(&self) -> u32 {
        self.skipped.first().copied().unwrap_or_else(|| self.above())
    }

    /// The rung after the highest that was reached.
    fn above(&self) -> u32 {
        self.rung.map_or(0, |rung| rung.saturating_add(1))
    }

    /// Notes that a rung of the ladder was reached.
    pub(super) fn reached(&mut self, rung: u32) {
        self.skipped.extend(self.above()..rung);
        self.skipped.retain(|skipped| *skipped != rung);
        self.rung = self.rung.max(Some(rung));
    }

    /// Whether the person of a delivery that did not set out yet is known.
    #[must_use]
    pub fn is_ready(&self, delivery: DeliveryId) -> bool {
        self.ready.iter().any(|ready| ready.delivery == delivery)
    }

    /// Whether one more attempt of a delivery was asked for and is still to be made.
    #[must_use]
    pub fn is_asked_again(&self, delivery: DeliveryId) -> bool {
        self.again.iter().any(|again| again.delivery == delivery)
    }

    /// How many attempts of a delivery were made because somebody asked.
    #[must_use]
    pub fn asked(&self, delivery: DeliveryId) -> u32 {
        self.asked.iter().find(|asked| asked.delivery == delivery).map_or(0, |asked| asked.attempts)
    }

    /// Notes that an attempt begins, which is the one that was asked for if one was.
    pub(super) fn begin(&mut self, delivery: DeliveryId) {
        if self.is_asked_again(delivery) {
            match self.asked.iter_mut().find(|asked| asked.delivery == delivery) {
                Some(asked) => asked.attempts = asked.attempts.saturating_add(1),
                None => self.asked.push(Asked { delivery, attempts: 1 }),
            }
        }
        self.ready.retain(|ready| ready.delivery != delivery);
        self.again.retain(|again| again.delivery != delivery);
    }

    /// Forgets what was to be sent: the request ended.
    pub(super) fn nothing_follows(&mut self) {
        self.ready.clear();
        self.again.clear();
        self.asked.clear();
    }

    /// Forgets what was to be sent of a delivery that is final or gone.
    pub(super) fn forget(&mut self, delivery: DeliveryId) {
        self.ready.retain(|ready| ready.delivery != delivery);
        self.again.retain(|again| again.delivery != delivery);
        self.asked.retain(|asked| asked.delivery != delivery);
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

    /// When a rung's time comes (rule CL-4).
    pub(super) fn rung_time(&self, rung: u32) -> Option<Timestamp> {
        self.routing.rung(rung).map(|rung| self.created_at.saturating_add(rung.after))
    }

    /// The rung that comes next by hand or at the deadline: the one above the highest, and once there is none the lowest
    /// that was left out. Where every rung was reached it has no rung.
    pub(super) fn further_rung(&self) -> u32 {
        let above = self.outreach.above();
        if self.routing.rung(above).is_some() { above } else { self.outreach.next_rung() }
    }

    /// When the next rung fires by itself: at its time, or once there is room for its deliveries.
    pub(super) fn next_rung_time(&self) -> Option<Timestamp> {
        let rung = self.outreach.next_rung();
        self.rung_time(rung).filter(|_| !self.must_wait_for_room(self.routing.rows(rung)))
    }

    /// When people are reminded next: under `park`, at every multiple of the declared time, or once there is room for it.
    pub(super) fn next_reminder(&self) -> Option<Timestamp> {
        let every = self.reminder_every()?.seconds();
        let seconds = every.saturating_mul(self.outreach.reminders.saturating_add(1));
        let due = self.created_at.saturating_add(ExactDuration::from_seconds(seconds));
        Some(due).filter(|_| !self.must_wait_for_room(self.rows_of_reminder()))
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
        let fresh = self.deliveries.iter().filter(|delivery| self.is_unclaimed(delivery)).map(claim_time).min();
        [self.next_rung_time(), self.next_reminder(), fresh].into_iter().flatten().min()
    }

    /// Whether nobody looked yet who a delivery is for.
    pub(super) fn is_unclaimed(&self, delivery: &Delivery) -> bool {
        delivery.state == DeliveryState::Queued && !self.outreach.is_ready(delivery.id)
    }

    /// When a delivery is to be sent next, or since when it is being sent. None while nothing is to be sent.
    #[must_use]
    pub fn send_time(&self, delivery: &Delivery) -> Option<Timestamp> {
        if let Some(attempt) = delivery.in_flight() {
            return Some(attempt.started_at);
        }
        if self.state != RequestState::Pending || delivery.state.is_final() {
            return None;
        }
        let asked = self.outreach.ready.iter().chain(&self.outreach.again);
        let asked = asked.filter(|again| again.delivery == delivery.id).map(|again| again.at);
        let retry = (delivery.state == DeliveryState::Retrying)
            .then(|| delivery.attempts.last().and_then(|attempt| attempt.next_attempt_at))
            .flatten();
        asked.chain(retry).min()
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
