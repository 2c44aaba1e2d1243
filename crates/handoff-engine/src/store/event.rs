//! Events: what happened, in commit order.

use std::sync::Arc;

use handoff_protocol::timestamp::Timestamp;

use super::EventType;

/// The place of an event in its tenant: 1 for the first, without gaps, in the order of commits.
pub type Sequence = u64;

/// An event to append; the store adds its sequence and the time of the commit's [`Moment`](super::Moment).
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct NewEvent {
    /// What happened.
    pub event_type: EventType,
    /// The id of what it happened to.
    pub subject: String,
    /// JSON text: ids, versions, states and reason codes, never values, prompts or addresses.
    pub data: Arc<str>,
}

/// An event as stored.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct StoredEvent {
    /// Its place.
    pub sequence: Sequence,
    /// What happened.
    pub event_type: EventType,
    /// The id of what it happened to.
    pub subject: String,
    /// When it was committed, by the store's clock.
    pub at: Timestamp,
    /// JSON text.
    pub data: Arc<str>,
}
