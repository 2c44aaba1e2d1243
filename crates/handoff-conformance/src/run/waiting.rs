//! How long a scenario waits, as far as its steps tell.

use std::time::Duration;

use crate::case::{Call, Step, Verb};

/// What a step that waits for something to come may take of the time that it has.
const USUAL: Duration = Duration::from_secs(2);

/// At least about this long.
pub(super) fn of(steps: &[Step]) -> Duration {
    steps.iter().map(step).sum()
}

fn step(step: &Step) -> Duration {
    match &step.verb {
        Verb::Call(call) => held(call),
        Verb::Together(together) => together.calls.iter().map(held).max().unwrap_or_default(),
        Verb::Until(call, within) => held(call).max(USUAL.min(*within)),
        Verb::Always(_, time) => *time,
        Verb::Each(each) => {
            let times = each.values.as_array().map_or(1, Vec::len);
            of(&each.steps).saturating_mul(u32::try_from(times).unwrap_or(u32::MAX))
        }
        Verb::Hook(hook) => hook.within.map(|within| USUAL.min(within)).unwrap_or_default(),
        Verb::Received(received) => USUAL.min(received.within) + received.none_for.unwrap_or_default(),
        Verb::Chain(_) | Verb::Receipt(_) | Verb::Receive(_) | Verb::Nowhere(_) | Verb::Check(..) | Verb::Set(_) => {
            Duration::ZERO
        }
    }
}

/// A call that must take a while.
fn held(call: &Call) -> Duration {
    call.expect.took.0.or(call.hang_up).unwrap_or_default() + call.after
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{case::Content, case::Expect};

    #[test]
    fn what_must_wait_is_added_up() {
        let call = Call {
            line: "GET /v1/meta".to_owned(),
            credential: None,
            key: None,
            headers: Vec::new(),
            query: Vec::new(),
            content: Content::Empty,
            times: 1,
            after: Duration::ZERO,
            hang_up: None,
            may_contain: false,
            expect: Expect { took: (Some(Duration::from_secs(3)), None), ..Expect::default() },
            keep: Vec::new(),
        };
        let step = |verb| Step { why: None, verb };
        let steps = [
            step(Verb::Call(call.clone())),
            step(Verb::Always(Box::new(call), Duration::from_secs(5))),
            step(Verb::Set(vec![("a".to_owned(), json!(1))])),
        ];
        assert_eq!(of(&steps), Duration::from_secs(8));
    }
}
