//! The timers of reaching people: what they are is a function of the request alone, so they are made by comparing it with
//! what it was.

use handoff_protocol::{
    decision::{Delivery, Request},
    timestamp::Timestamp,
};

use super::{
    apply::{Claimed, json_text},
    keys::{self, TimerAction},
};
use crate::store::{StoreError, TimerKey, TimerWrite};

/// The timers that change where a request does.
pub(super) fn timers(
    before: Option<&Request>,
    after: &Request,
    claim: Claimed<'_>,
) -> Result<Vec<TimerWrite>, StoreError> {
    let mut changes = Changes { claim, writes: Vec::new() };
    changes.time(keys::tend_timer(after.id), before.and_then(Request::next_tend), after.next_tend(), || {
        TimerAction::Tend { request: after.id }
    })?;
    for delivery in &after.deliveries {
        let known = before.and_then(|before| Some((before, before.delivery(delivery.id)?)));
        let was = known.and_then(|(before, known)| before.send_time(known));
        changes.time(keys::send_timer(delivery.id), was, after.send_time(delivery), || send(after, delivery))?;
    }
    // What was forgotten was done, and has no timer.
    if is_news(before, after) {
        changes.time(keys::change_timer(after.id), None, after.ended_at.or(Some(after.created_at)), || {
            TimerAction::TellChange { request: after.id, put_off: 0 }
        })?;
    }
    Ok(changes.writes)
}

fn send(request: &Request, delivery: &Delivery) -> TimerAction {
    TimerAction::SendDelivery {
        request: request.id,
        delivery: delivery.id,
        destination: keys::channel_destination(&delivery.channel, &delivery.target.value),
        put_off: 0,
    }
}

/// Whether channels show something that is out of date now: other words, or a request that ended.
fn is_news(before: Option<&Request>, after: &Request) -> bool {
    let Some(before) = before.filter(|_| !after.outreach.shown.is_empty()) else { return false };
    let has_late_comers = after.state.is_final() && after.outreach.shown != before.outreach.shown;
    after.version != before.version || after.state != before.state || has_late_comers
}

struct Changes<'a> {
    claim: Claimed<'a>,
    writes: Vec<TimerWrite>,
}

impl Changes<'_> {
    /// Sets, moves or removes one timer.
    fn time(
        &mut self,
        key: TimerKey,
        was: Option<Timestamp>,
        due: Option<Timestamp>,
        action: impl FnOnce() -> TimerAction,
    ) -> Result<(), StoreError> {
        let is_settled = match self.claim {
            Claimed::Held(held) if *held == key => return Ok(()),
            Claimed::Settled(settled) => *settled == key,
            Claimed::Held(_) | Claimed::Nothing => false,
        };
        match due {
            Some(due) if was != Some(due) || is_settled => {
                self.writes.push(TimerWrite::Put { key, due, action: json_text(&action())? });
            }
            None if was.is_some() && !is_settled => self.writes.push(TimerWrite::Remove { key }),
            Some(_) | None => {}
        }
        Ok(())
    }
}
