//! A call that is held hears of what it waits for when that comes, and not when its time is over.

use handoff_protocol::decision::terms::RequestState;

use crate::{
    history::{HeldOn, History},
    store::{Moment, Observer},
};

/// How late an answer may be, in milliseconds: a few slow calls of the store.
const SOON: u64 = 4_000;

/// Holds the ends of held calls against when what they waited for was there.
#[must_use]
pub fn check(history: &History, observer: &Observer) -> Vec<String> {
    let mut found = Vec::new();
    for held in &history.held {
        let late = |came: &Moment| {
            let meanwhile = came.step > held.span.from && came.step < held.span.to;
            Some(held.until.saturating_sub(came.millis)).filter(|late| meanwhile && *late > SOON)
        };
        match &held.on {
            HeldOn::Signal(tenant, waiter) => {
                let of_it = observer.signals.iter().filter(|(_, at)| at.tenant == *tenant && at.waiter == *waiter);
                let unacked = of_it.filter(|(_, at)| at.acked.is_none_or(|acked| acked.step > held.span.to));
                for (id, late) in unacked.filter_map(|(id, at)| Some((id, late(&at.enqueued)?))) {
                    found.push(format!("X-6: {id} came, and a poll that was held for it heard of it {late} ms later"));
                }
            }
            HeldOn::End(id) => {
                let history = observer.requests.get(id).map_or(&[][..], Vec::as_slice);
                let end = history.iter().find(|at| RequestState::is_final(at.state));
                if let Some(late) = end.and_then(|at| late(&at.moment)) {
                    found
                        .push(format!("HC-5: {id} ended, and a call that was held for it heard of it {late} ms later"));
                }
            }
        }
    }
    found
}
