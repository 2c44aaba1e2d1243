//! Timers, as a batch leaves them.

use std::sync::Arc;

use handoff_engine::store::{StoreError, TimerKey, TimerWrite};
use handoff_protocol::timestamp::Timestamp;

use super::{Refusal, Tracking};
use crate::tracked::Tracked;

/// What a batch does with one timer.
#[derive(Clone, Debug)]
pub(crate) struct TimerChange {
    /// The epoch that it must be held under; nothing is expected of it otherwise.
    pub(crate) settled: Option<u64>,
    /// When it is due and what to do then; gone without.
    pub(crate) then: Option<(Timestamp, Arc<str>)>,
}

/// The timers that a batch changed.
#[derive(Debug, Default)]
pub(crate) struct Timers(Tracked<TimerKey, TimerChange>);

impl Timers {
    /// Every change, in the order of the keys.
    pub(crate) fn changes(&self) -> impl Iterator<Item = (&TimerKey, &TimerChange)> {
        self.0.rows().iter()
    }

    pub(super) fn write(&mut self, write: TimerWrite) -> Result<(), Refusal> {
        match write {
            TimerWrite::Settle { key, epoch } => {
                // Epoch 0 is a timer that nobody claimed; and one that the batch touched is not held any more.
                if epoch == 0 || self.0.get(&key).is_some() {
                    return Err(Refusal::Misfit(StoreError::StaleTimer { key }));
                }
                self.0.put(key, TimerChange { settled: Some(epoch), then: None });
            }
            TimerWrite::Remove { key } => self.set(key, None),
            TimerWrite::Put { key, due, action } => self.set(key, Some((due, action))),
        }
        Ok(())
    }

    fn set(&mut self, key: TimerKey, then: Option<(Timestamp, Arc<str>)>) {
        let settled = self.0.get(&key).and_then(|change| change.settled);
        self.0.put(key, TimerChange { settled, then });
    }

    pub(super) fn each(&mut self, tracking: Tracking) {
        tracking.on(&mut self.0);
    }
}
