//! A poll lists every signal that waits, in order, and no other.

use std::collections::BTreeSet;

use super::Final;
use crate::{history::History, store::Observer};

/// Holds polls against when signals were enqueued and acknowledged.
#[must_use]
pub fn check(history: &History, observer: &Observer, end: &Final) -> Vec<String> {
    let mut found = Vec::new();
    for poll in &history.polled {
        let rises = poll.signals.is_sorted_by(|(_, one), (_, next)| one < next);
        if !rises {
            found.push(format!("X-4: a poll of {} lists its signals out of order", poll.waiter));
        }
        let listed: BTreeSet<_> = poll.signals.iter().map(|(id, _)| *id).collect();
        for (id, sequence) in &poll.signals {
            match end.signals.get(id) {
                None => found.push(format!("X-11: {id} was listed and is not there")),
                Some(kept) if kept.sequence != *sequence => {
                    found.push(format!("X-4: {id} was listed under another number than it has"));
                }
                Some(_) => {}
            }
        }
        let of_it = |(_, at): &(_, &crate::store::SignalAt)| at.tenant == poll.tenant && at.waiter == poll.waiter;
        for (id, at) in observer.signals.iter().filter(of_it) {
            let waits = at.enqueued.step < poll.span.from && at.acked.is_none_or(|acked| acked.step > poll.span.to);
            if waits && !poll.more && !listed.contains(id) {
                found.push(format!("X-5: {id} waited and a poll did not list it (steps {:?})", poll.span));
            }
            let is_over = at.acked.is_some_and(|acked| acked.step < poll.span.from);
            if is_over && listed.contains(id) {
                found.push(format!("X-5: {id} was acknowledged, and a poll listed it afterwards"));
            }
        }
    }
    found
}
