//! Each request that was read is one that was, at some moment between the question and the answer.

use crate::{history::History, store::Observer};

/// Holds reads against everything that requests ever were.
#[must_use]
pub fn check(history: &History, observer: &Observer) -> Vec<String> {
    let mut found = Vec::new();
    for read in &history.read {
        let Some(was) = observer.requests.get(&read.id) else {
            found.push(format!("R1: {} was read and never was", read.id));
            continue;
        };
        let mut seen_then = was.iter().enumerate().filter(|(place, at)| {
            let until = was.get(place.saturating_add(1)).map_or(u64::MAX, |next| next.moment.step);
            at.moment.step <= read.span.to && until >= read.span.from
        });
        let is =
            |at: &crate::store::RequestAt| (at.state, at.version, at.waiter) == (read.state, read.version, read.waiter);
        if !seen_then.any(|(_, at)| is(at)) {
            let later = was.iter().any(|at| is(at) && at.moment.step > read.span.to);
            found.push(format!(
                "{}: {} was read as {} v{} {}, which it {} (steps {} to {})",
                if later { "R5" } else { "K-1" },
                read.id,
                read.state.as_str(),
                read.version,
                read.waiter.as_str(),
                if later { "was not yet" } else { "was not then" },
                read.span.from,
                read.span.to,
            ));
        }
    }
    found
}
