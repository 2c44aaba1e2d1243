//! What comes in without deciding anything: words through a channel, a page that changed (rules S-10, E-3).

use serde::{Deserialize, Serialize};

use super::{
    context::Context,
    effects::{Effects, EventType},
    error::DecisionError,
    limits,
    request::Request,
};
use crate::{
    id::{MessageId, ObservationId, RequestId},
    json::Json,
    timestamp::Timestamp,
};

/// Words that came in through a channel. They are provisional: whatever they say, they are no answer.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct ChannelMessage {
    /// Its id.
    pub id: MessageId,
    /// The request that it came in about.
    pub request_id: RequestId,
    /// Through which channel.
    pub channel: String,
    /// What it says.
    pub text: String,
    /// When.
    pub received_at: Timestamp,
}

/// That a page changed which a request is about. Nothing is inferred from it.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Observation {
    /// Its id.
    pub id: ObservationId,
    /// The request.
    pub request_id: RequestId,
    /// When.
    pub observed_at: Timestamp,
}

/// Records words that came in about a request, pending or not. The request stays as it is.
///
/// # Errors
///
/// [`DecisionError::InvalidRequest`] for a channel whose name is none and for words beyond every measure.
pub fn receive(
    request: &Request,
    channel: &str,
    text: &str,
    context: &mut Context<'_>,
) -> Result<(ChannelMessage, Effects), DecisionError> {
    if channel.is_empty() || channel.chars().count() > limits::CHANNEL_CHARS {
        let problem = format!("must be the name of a channel, of 1 to {} characters", limits::CHANNEL_CHARS);
        return Err(DecisionError::invalid("channel", problem));
    }
    // As where channels are configured: a name that a line of text cannot show is a mistake.
    if channel.trim() != channel || channel.chars().any(char::is_control) {
        let problem = "must not begin or end with a blank, nor hold control characters";
        return Err(DecisionError::invalid("channel", problem));
    }
    if text.chars().count() > limits::BODY_CHARS {
        return Err(DecisionError::invalid("text", format!("must be at most {} characters", limits::BODY_CHARS)));
    }
    let message = ChannelMessage {
        id: context.mint.next(),
        request_id: request.id,
        channel: channel.to_owned(),
        text: text.to_owned(),
        received_at: context.now,
    };
    let mut effects = Effects::of(request.clone());
    effects.event(
        EventType::ChannelMessageReceived,
        [("message_id", Json::from(message.id.to_string())), ("channel", Json::from(channel))],
    );
    Ok((message, effects))
}

/// Records that a page changed which a request is about. The request stays as it is.
pub fn observe(request: &Request, context: &mut Context<'_>) -> (Observation, Effects) {
    let observation = Observation { id: context.mint.next(), request_id: request.id, observed_at: context.now };
    let mut effects = Effects::of(request.clone());
    effects.event(EventType::RuntimeObservation, [("observation_id", Json::from(observation.id.to_string()))]);
    (observation, effects)
}
