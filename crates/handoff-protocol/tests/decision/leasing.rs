//! Leases (W6, W7, X-10): what a sign of life asks for, and what silence comes to.

use handoff_protocol::{
    decision::{
        EventType, Request, TimerChange, Waiter,
        lease::{SignOfLife, WaiterLoss, lease_end, lease_ends, lost, orphan, rearm, released, seen, sign_of_life},
        terms::{Liveness, RequestState, SignalType, WaiterState, WaiterTerminal},
    },
    duration::ExactDuration,
    timestamp::Timestamp,
};

use super::scene::{START, Scene, approve, with};

fn after(seconds: u64) -> Timestamp {
    START.saturating_add(ExactDuration::from_seconds(seconds))
}

fn leased(scene: &mut Scene) -> (Request, Waiter) {
    scene.raise(&with(&approve(), "liveness", r#""leased""#))
}

#[test]
fn a_leased_raise_is_watched_from_its_first_moment() {
    let effects = Scene::new().raise_effects(super::scene::json(&with(&approve(), "liveness", r#""leased""#)));
    assert_eq!(effects.timers, [TimerChange::SetLease(after(90))]);
    assert_eq!(effects.waiter.unwrap().seen_at, Some(START));
    assert_eq!(effects.request.liveness, Liveness::Leased);
    assert_eq!(effects.request.on_waiter_terminal, WaiterTerminal::Cancel, "the default of section 6");
    let durable = Scene::new().raise_effects(super::scene::json(&approve()));
    assert_eq!((durable.timers.len(), durable.waiter.unwrap().seen_at), (0, None));
}

#[test]
fn one_write_in_half_a_minute_is_enough_and_a_lost_waiter_is_written_at_once() {
    let (_, waiter) = leased(&mut Scene::new());
    for (seconds, asked) in [
        (0, SignOfLife::Remember { until: after(30) }),
        (29, SignOfLife::Remember { until: after(30) }),
        (30, SignOfLife::Write),
        (300, SignOfLife::Write),
    ] {
        assert_eq!(sign_of_life(&waiter, after(seconds)), asked, "after {seconds} s");
    }
    assert_eq!(sign_of_life(&lost(&waiter), after(1)), SignOfLife::Write);
    assert_eq!(sign_of_life(&released(&waiter), after(300)), SignOfLife::Ignore);
    assert_eq!(sign_of_life(&lost(&released(&waiter)), after(1)), SignOfLife::Write);
}

#[test]
fn a_sign_of_life_never_shortens_a_lease() {
    let (_, waiter) = leased(&mut Scene::new());
    let later = seen(&waiter, after(40));
    assert_eq!(later.seen_at, Some(after(40)));
    assert_eq!(seen(&later, after(20)).seen_at, Some(after(40)));
    assert!(!seen(&lost(&later), after(50)).orphaned);
    assert_eq!(lease_ends(&later, START), Some(after(130)));
    assert_eq!(lease_ends(&later, after(100)), Some(after(190)), "nobody was there to hear it");
    assert_eq!(lease_end(START), after(90));
}

#[test]
fn what_is_given_up_is_kept_or_cancelled_as_declared() {
    for (liveness, terminal, loss, state) in [
        ("leased", "keep", WaiterLoss::Silent, Some(RequestState::Pending)),
        ("leased", "cancel", WaiterLoss::Silent, Some(RequestState::Cancelled)),
        ("leased", "keep", WaiterLoss::Reported, Some(RequestState::Pending)),
        ("leased", "cancel", WaiterLoss::Reported, Some(RequestState::Cancelled)),
        ("durable", "keep", WaiterLoss::Silent, None),
        ("durable", "cancel", WaiterLoss::Silent, None),
        ("durable", "keep", WaiterLoss::Reported, Some(RequestState::Pending)),
        ("durable", "cancel", WaiterLoss::Reported, Some(RequestState::Cancelled)),
    ] {
        let mut scene = Scene::new();
        let body = with(&approve(), "liveness", &format!("\"{liveness}\""));
        let (request, waiter) = scene.raise(&with(&body, "on_waiter_terminal", &format!("\"{terminal}\"")));
        let effects = orphan(&request, &waiter, loss, &mut scene.context());
        assert_eq!(effects.as_ref().map(|effects| effects.request.state), state, "{liveness} {terminal} {loss:?}");
        let Some(effects) = effects else { continue };
        let signals: Vec<SignalType> = effects.signals.iter().map(|signal| signal.signal_type).collect();
        let event = effects.events.first().unwrap();
        assert_eq!(event.data.get("cause").unwrap().as_str(), Some(loss.as_str()));
        if state == Some(RequestState::Pending) {
            assert_eq!(effects.request.waiter.state, WaiterState::Orphaned);
            assert_eq!((signals, event.event_type), (vec![], EventType::WaiterOrphaned));
            assert!(orphan(&effects.request, &waiter, loss, &mut scene.context()).is_none(), "once");
        } else {
            assert_eq!((signals, event.event_type), (vec![SignalType::Cancelled], EventType::RequestCancelled));
            assert!(effects.request.cancel_reason.is_some());
            assert!(orphan(&effects.request, &waiter, loss, &mut scene.context()).is_none(), "it has ended");
        }
    }
}

#[test]
fn an_orphan_is_taken_up_as_what_it_was_and_nothing_else_is() {
    let mut scene = Scene::new();
    let (request, waiter) = scene.raise(&with(&approve(), "on_waiter_terminal", r#""keep""#));
    assert!(rearm(&request).is_none());
    let orphaned = orphan(&request, &waiter, WaiterLoss::Reported, &mut scene.context()).unwrap().request;
    let armed = rearm(&orphaned).unwrap();
    assert_eq!((armed.request, armed.events[0].event_type), (request.clone(), EventType::WaiterRearmed));
    let mut nudged = orphaned.clone();
    nudged.waiter.unacked = 1;
    assert_eq!(rearm(&nudged).unwrap().request.waiter.state, WaiterState::Signalled);
    let mut ended = orphaned;
    ended.state = RequestState::Cancelled;
    assert!(rearm(&ended).is_none());
}
