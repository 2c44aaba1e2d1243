//! Deliveries: the attempts to reach somebody about a request (section 12).
//!
//! This build knows the in-app channel: a delivery that is made by listing the request at its own address.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    target::Target,
    terms::{DeliveryState, Grade},
};
use crate::{
    id::{DeliveryId, RequestId},
    json::Json,
    timestamp::Timestamp,
};

/// One delivery, as kept and as served.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct Delivery {
    /// Its id.
    pub id: DeliveryId,
    /// The request that it is about.
    pub request_id: RequestId,
    /// The channel it goes through.
    #[schemars(length(max = 64))]
    pub channel: String,
    /// Who it is for.
    pub target: Target,
    /// The rung of the ladder that it belongs to.
    pub rung: u32,
    /// Where it stands.
    pub state: DeliveryState,
    /// How far it provably got; null without evidence (rule V-4).
    pub grade_reached: Option<Grade>,
    /// How far its channel can ever prove (rule V-5).
    pub max_grade: Grade,
    /// Whether its channel can tell who answers.
    pub can_authenticate_person: bool,
    /// What was tried.
    #[schemars(length(max = 0))]
    pub attempts: Vec<Json>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
}

impl Delivery {
    /// A delivery through the in-app channel, not yet claimed.
    #[must_use]
    pub fn in_app(id: DeliveryId, request_id: RequestId, target: Target, now: Timestamp) -> Self {
        Self {
            id,
            request_id,
            channel: "inapp".to_owned(),
            target,
            rung: 0,
            state: DeliveryState::Queued,
            grade_reached: None,
            max_grade: Grade::Acted,
            can_authenticate_person: true,
            attempts: Vec::new(),
            created_at: now,
            updated_at: now,
        }
    }

    /// A delivery to nobody, for what is raised to try things out. It proves nothing and is never claimed.
    #[must_use]
    pub fn sandbox(id: DeliveryId, request_id: RequestId, target: Target, now: Timestamp) -> Self {
        Self {
            channel: "sandbox".to_owned(),
            max_grade: Grade::Dispatched,
            can_authenticate_person: false,
            ..Self::in_app(id, request_id, target, now)
        }
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

    /// Notes that a person answered through this delivery.
    pub(super) fn act(&mut self, now: Timestamp) {
        if self.can_authenticate_person && self.max_grade >= Grade::Acted {
            self.state = DeliveryState::Acted;
            self.grade_reached = Some(Grade::Acted);
            self.updated_at = now;
        }
    }

    /// Closes what is still open when the request ends (section 9): cancelled before dispatch, stale after.
    pub(super) fn close(&mut self, now: Timestamp) {
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

/// Chooses the delivery that an answer came through: the one it names if that could be, otherwise the likeliest, by
/// channels that authenticate, then by grade, then by age (rule S-6). A wrong name never blocks an answer.
#[must_use]
pub(super) fn choose(deliveries: &[Delivery], named: Option<DeliveryId>) -> Option<DeliveryId> {
    let candidates = || deliveries.iter().filter(|delivery| delivery.could_carry_an_answer());
    candidates()
        .find(|delivery| Some(delivery.id) == named)
        .or_else(|| {
            candidates()
                .filter(|delivery| delivery.state != DeliveryState::Queued || delivery.channel == "inapp")
                .max_by_key(|delivery| (delivery.can_authenticate_person, delivery.grade_reached, delivery.id))
        })
        .map(|delivery| delivery.id)
}
