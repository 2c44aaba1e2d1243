//! Stories over real files, told to processes that die.

use std::path::Path;

use handoff_simulator::{killed::points, script::SCRIPTS};

fn program() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_handoff-simulator"))
}

/// What a story may be refused, since it is about that.
const MEANT: [&str; 6] = [
    "already_answered",
    "request_cancelled",
    "request_expired",
    "authorization_spent",
    "nothing_to_send_again",
    "disposition_recorded",
];

#[test]
fn every_story_is_done_as_it_is_written() {
    let mut odd = Vec::new();
    for script in SCRIPTS {
        let told = points::plainly(script, program()).unwrap();
        assert!(told.deaths == 0 && told.calls.contains('s'), "{}: {told:?}", script.name);
        let other = told.refused.into_iter().filter(|(_, code)| !MEANT.contains(&code.as_str()));
        odd.extend(other.map(|(verb, code)| (script.name, verb, code)));
    }
    assert_eq!(odd, [], "refusals that no story is about");
}

#[test]
fn a_process_may_die_at_any_call_of_some_stories() {
    for name in ["a successor", "a session that its request ends", "a callback"] {
        let script = SCRIPTS.iter().find(|script| script.name == name).unwrap();
        let tally = points::one_story(script, program()).unwrap();
        assert_eq!(tally.failed, []);
        assert!(tally.deaths > 20 && tally.deaths + 1 >= tally.runs, "{name}: {tally:?}");
    }
}
