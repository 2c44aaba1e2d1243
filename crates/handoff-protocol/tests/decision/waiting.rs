//! Waiters, signals and acknowledgements: the reachable part of the table W1 to W9.

use handoff_protocol::{
    decision::{
        Acknowledge, Acknowledged, Cancel, ErrorCode, Fired, Policy, Raise, Request, Signal, Waiter, WaiterRef,
        acknowledge, cancel, raise,
        terms::{RequestState, WaiterState},
        view::aggregate,
    },
    duration::ExactDuration,
    json::Json,
    principal::Role,
};

use super::scene::{START, Scene, YES, approve, json, machine, person, with};

fn ack(signal: &Signal, applied: bool) -> Acknowledge {
    let body = format!(r#"{{"resume_token":"{}","applied":{applied},"reason":"why"}}"#, signal.resume_token);
    Acknowledge::read(&json(&body)).unwrap()
}

/// One request in each ending, with its signal.
fn endings() -> Vec<(Request, Signal)> {
    let mut scene = Scene::new();
    let raised = scene.raise(&with(&approve(), "ttl", r#""PT1M""#));
    let answered = scene.answer(&raised, &person(Role::Viewer), YES).unwrap();
    let command = Cancel::read(&machine(), json(r#"{"reason":"r"}"#)).unwrap();
    let called_off = cancel(&raised.0, &command, &machine(), &raised.1, &mut scene.context()).unwrap();
    scene.now = raised.0.expires_at.unwrap();
    let Fired::Acted(expired) = scene.expire(&raised) else { panic!("not due") };
    [answered, *expired, called_off].into_iter().map(|effects| (effects.request, effects.signals[0].clone())).collect()
}

#[test]
fn an_ending_moves_the_waiter_and_its_acknowledgement_moves_it_on() {
    let states: Vec<_> = endings()
        .into_iter()
        .map(|(request, signal)| {
            let Acknowledged::First { request: after, .. } =
                acknowledge(&signal, &request, &ack(&signal, true), START).unwrap()
            else {
                panic!("the first")
            };
            (request.state, request.waiter.state, after.waiter.state, after.waiter.unacked)
        })
        .collect();
    assert_eq!(
        states,
        [
            (RequestState::Answered, WaiterState::Signalled, WaiterState::Acked, 0),
            (RequestState::Expired, WaiterState::Signalled, WaiterState::Acked, 0),
            (RequestState::Cancelled, WaiterState::Released, WaiterState::Released, 0),
        ]
    );
}

#[test]
fn the_last_acknowledgement_counts_and_a_nudge_does_not_retire_the_wait() {
    use RequestState::{Answered, Cancelled, Pending};
    use WaiterState::{Acked, Armed, Released, Signalled};
    let (request, signal) = endings().remove(0);
    for (state, before, unacked, after) in [
        (Pending, Signalled, 1, Armed),
        (Pending, Signalled, 2, Signalled),
        (Answered, Signalled, 1, Acked),
        (Answered, Signalled, 2, Signalled),
        (Cancelled, Released, 2, Released),
        (Cancelled, Released, 1, Released),
    ] {
        let mut request = request.clone();
        request.state = state;
        request.waiter.state = before;
        request.waiter.unacked = unacked;
        let Acknowledged::First { request: moved, .. } =
            acknowledge(&signal, &request, &ack(&signal, true), START).unwrap()
        else {
            panic!("the first")
        };
        assert_eq!((moved.waiter.state, moved.waiter.unacked), (after, unacked - 1), "{state:?} {before:?} {unacked}");
    }
}

#[test]
fn a_repeat_gives_the_first_time_and_keeps_what_was_said_first() {
    let (request, signal) = endings().remove(0);
    let Acknowledged::First { signal: taken, request: moved, acked_at } =
        acknowledge(&signal, &request, &ack(&signal, false), START).unwrap()
    else {
        panic!("the first")
    };
    assert_eq!((taken.acked_at, taken.applied, taken.reason.as_deref()), (Some(START), Some(false), Some("why")));
    let later = START.saturating_add(ExactDuration::from_hours(1));
    let repeat = acknowledge(&taken, &moved, &ack(&signal, true), later).unwrap();
    assert_eq!(repeat, Acknowledged::Repeat { acked_at });
}

#[test]
fn another_signals_token_is_refused_also_after_the_first_acknowledgement() {
    let endings = endings();
    let ((request, signal), (_, other)) = (&endings[0], &endings[1]);
    let mut taken = signal.clone();
    for acked_at in [None, Some(START)] {
        taken.acked_at = acked_at;
        let refused = acknowledge(&taken, request, &ack(other, true), START).unwrap_err();
        assert_eq!(refused.code(), ErrorCode::InvalidRequest);
        assert!(!refused.to_string().contains(&other.resume_token.to_string()));
    }
    for body in [
        r#"{"resume_token":"nonsense","applied":true}"#.to_owned(),
        r#"{"applied":true}"#.to_owned(),
        format!(r#"{{"resume_token":"{}"}}"#, signal.resume_token),
        format!(r#"{{"resume_token":"{}","applied":"yes"}}"#, signal.resume_token),
        format!(r#"{{"resume_token":"{}","applied":true,"reason":"{}"}}"#, signal.resume_token, "r".repeat(501)),
    ] {
        let refused = Acknowledge::read(&json(&body)).unwrap_err();
        assert_eq!(refused.code(), ErrorCode::InvalidRequest, "{body}");
        assert!(!refused.to_string().contains("nonsense"));
    }
}

#[test]
fn sequences_rise_over_all_requests_of_a_waiter_and_tokens_differ() {
    let mut scene = Scene::new();
    let mut waiter = None::<Waiter>;
    let mut signals = Vec::new();
    for place in 0..4 {
        let body = with(&approve(), "prompt.title", &format!("\"{place}\""));
        let command = Raise::read(&machine(), json(&body), &Policy::default()).unwrap();
        let raised = raise(&command, &machine(), waiter.as_ref(), &mut scene.context()).unwrap();
        let pending = (raised.request, raised.waiter.unwrap());
        let effects = scene.answer(&pending, &person(Role::Viewer), YES).unwrap();
        waiter = effects.waiter;
        signals.extend(effects.signals);
    }
    assert_eq!(signals.iter().map(|signal| signal.sequence).collect::<Vec<_>>(), [1, 2, 3, 4]);
    let mut tokens: Vec<_> = signals.iter().map(|signal| signal.resume_token.to_string()).collect();
    tokens.sort();
    tokens.dedup();
    assert_eq!(tokens.len(), 4);
}

#[test]
fn a_waiter_across_its_requests_is_what_the_rule_puts_first() {
    use WaiterState::{Acked, Armed, Orphaned, Released, Signalled};
    for (unacked, pending, any_acked, expected) in [
        (true, vec![Orphaned], true, Signalled),
        (true, vec![], false, Signalled),
        (false, vec![Armed, Orphaned], true, Orphaned),
        (false, vec![Armed], true, Armed),
        (false, vec![], true, Acked),
        (false, vec![], false, Released),
    ] {
        assert_eq!(aggregate(unacked, &pending, any_acked), expected);
    }
}

#[test]
fn a_reference_is_measured_in_bytes_and_never_parsed() {
    for good in ["x", "a/b:c d", "\u{0}", "é"] {
        assert_eq!(WaiterRef::parse(good).unwrap().as_str(), good);
    }
    WaiterRef::parse(&"é".repeat(256)).unwrap();
    WaiterRef::parse(&"é".repeat(257)).unwrap_err();
    WaiterRef::parse("").unwrap_err();
    assert_ne!(WaiterRef::parse("a").unwrap().digest(), WaiterRef::parse("A").unwrap().digest());
}

#[test]
fn a_signal_is_served_with_its_nulls() {
    let (_, signal) = endings().remove(0);
    let served =
        handoff_protocol::json::to_json(&handoff_protocol::decision::view::SignalView::new(signal, Default::default()))
            .unwrap();
    for name in ["resume_ref", "resume_payload", "acked_at"] {
        assert_eq!(served.get(name), Some(&Json::Null), "{name}");
    }
    assert_eq!(served.get("attempts").and_then(Json::as_i64), Some(0));
}
