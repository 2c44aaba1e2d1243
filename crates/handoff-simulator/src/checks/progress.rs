//! Once all is well, everything comes to its end and everybody hears of it.

use std::time::Duration;

use handoff_protocol::timestamp::Timestamp;

use super::Final;
use crate::ports::Ports;

/// How late a timer may be in a world in which nothing goes wrong: a claim that lapses, and a sweep.
const LATE: Duration = Duration::from_secs(60);

/// Looks for what is left behind.
#[must_use]
pub fn check(end: &Final, ports: &Ports, now: Timestamp) -> Vec<String> {
    let mut found = Vec::new();
    for request in end.requests.values().filter(|request| !request.state.is_final()) {
        found.push(format!("C-5: {} never ended", request.id));
    }
    for signal in end.signals.values().filter(|signal| signal.acked_at.is_none()) {
        found.push(format!("X-11: {} was never acknowledged", signal.id));
    }
    for session in end.sessions.values() {
        if session.is_open() {
            found.push(format!("G-11: {} never ended", session.session_ref));
        } else if !ports.provider.heard_the_end_of(session.session_ref) {
            found.push(format!("G-11: no provider heard that {} ended", session.session_ref));
        }
    }
    for snapshot in &end.snapshots {
        for (key, timer) in &snapshot.timers {
            if now.since(timer.due) > LATE && timer.due < now {
                found.push(format!("C-5: {key} was due at {} and waits still at {now}", timer.due));
            }
        }
    }
    found.extend(ports.receivers.faults());
    found
}
