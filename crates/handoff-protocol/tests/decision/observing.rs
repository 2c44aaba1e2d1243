//! What comes in and decides nothing (rules S-10, E-3).

use handoff_protocol::{
    decision::{DecisionError, Effects, ErrorCode, observe, receive},
    json::Json,
    principal::Role,
};

use super::scene::{Scene, YES, approve, person};

/// That all these effects are one event.
fn is_an_event_alone(effects: &Effects, event: &str) -> bool {
    let is_empty = effects.signals.is_empty() && effects.receipt.is_none() && effects.authorization.is_none();
    is_empty && effects.events.len() == 1 && effects.events[0].event_type.as_str() == event
}

#[test]
fn words_that_come_back_and_pages_that_change_leave_a_request_as_it_is() {
    let mut scene = Scene::new();
    let raised = scene.raise(&approve());
    let answered = scene.answer(&raised, &person(Role::Admin), YES).unwrap().request;
    for request in [&raised.0, &answered] {
        let (message, effects) = receive(request, "slack", "yes, approve it", &mut scene.context()).unwrap();
        assert_eq!((message.request_id, &*message.channel, &*message.text), (request.id, "slack", "yes, approve it"));
        assert_eq!(effects.request, *request);
        assert!(is_an_event_alone(&effects, "channel.message_received"));
        let says = |(_, value): (&str, &Json)| value.to_text().contains("approve");
        assert!(!effects.events[0].data.iter().any(says), "words are in the record, not in the event");

        let (observation, effects) = observe(request, &mut scene.context());
        assert_eq!((observation.request_id, observation.observed_at), (request.id, scene.now));
        assert_eq!(effects.request, *request);
        assert!(is_an_event_alone(&effects, "runtime.observation"));
    }
}

#[test]
fn words_without_a_channel_or_beyond_measure_are_not_kept() {
    let mut scene = Scene::new();
    let (request, _) = scene.raise(&approve());
    let long = "x".repeat(1_000_000);
    let channels =
        ["", " ", " slack", "sl\nack", "\u{1b}[2J", "slack\u{85}", &*long].map(|name| (name, "yes", "channel"));
    for (channel, text, member) in channels.into_iter().chain([("slack", &*long, "text")]) {
        let refused: DecisionError = receive(&request, channel, text, &mut scene.context()).unwrap_err();
        assert_eq!(refused.code(), ErrorCode::InvalidRequest);
        assert!(refused.to_string().contains(member), "{refused}");
    }
}
