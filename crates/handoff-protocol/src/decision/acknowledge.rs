//! Acknowledge (W4, W9): the runtime took its signal, and redelivery stops.

use super::{
    error::DecisionError,
    limits,
    request::Request,
    signal::Signal,
    terms::{RequestState, WaiterState},
};
use crate::{
    id::ResumeToken,
    json::{DecodeError, Json, ObjectReader},
    secret::constant_time_eq,
    timestamp::Timestamp,
};

/// An acknowledgement that can be carried out.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Acknowledge {
    resume_token: ResumeToken,
    applied: bool,
    reason: Option<String>,
}

impl Acknowledge {
    /// Reads the body of an acknowledgement.
    ///
    /// # Errors
    ///
    /// [`DecisionError::InvalidRequest`]; a token that is no token is as wrong as another signal's.
    pub fn read(body: &Json) -> Result<Self, DecisionError> {
        let reader = ObjectReader::new(body, "")?;
        let token = reader.string("resume_token")?;
        let acknowledge = Self {
            applied: reader.boolean("applied")?,
            reason: reader.optional_text("reason", 0, limits::REASON_CHARS)?.map(str::to_owned),
            resume_token: ResumeToken::parse(token).map_err(|_| wrong_token())?,
        };
        reader.finish()?;
        Ok(acknowledge)
    }
}

/// What an acknowledgement comes to.
#[derive(Clone, Debug, PartialEq)]
#[must_use]
pub enum Acknowledged {
    /// The first: this signal leaves the queue, and the request's waiter moves on.
    First {
        /// The signal, acknowledged.
        signal: Box<Signal>,
        /// The request, with its waiter's next state.
        request: Box<Request>,
        /// When.
        acked_at: Timestamp,
    },
    /// A repeat: nothing changes.
    Repeat {
        /// When it was first acknowledged.
        acked_at: Timestamp,
    },
}

/// Acknowledges a signal, in whatever state its waiter is (rule X-8). Repeating it is harmless.
///
/// # Errors
///
/// [`DecisionError::InvalidRequest`] if the token is not the signal's.
pub fn acknowledge(
    signal: &Signal,
    request: &Request,
    command: &Acknowledge,
    now: Timestamp,
) -> Result<Acknowledged, DecisionError> {
    let shown = command.resume_token.to_string();
    #[cfg(feature = "planted-faults")]
    let shown =
        if crate::planted::Fault::AnyTokenAcknowledges.is_planted() { signal.resume_token.to_string() } else { shown };
    if !constant_time_eq(shown.as_bytes(), signal.resume_token.to_string().as_bytes()) {
        return Err(wrong_token().into());
    }
    if let Some(acked_at) = signal.acked_at {
        return Ok(Acknowledged::Repeat { acked_at });
    }
    let mut signal = signal.clone();
    signal.acked_at = Some(now);
    signal.applied = Some(command.applied);
    signal.reason.clone_from(&command.reason);
    let mut request = request.clone();
    request.waiter.unacked = request.waiter.unacked.saturating_sub(1);
    if request.waiter.unacked == 0 {
        request.waiter.state = match (request.state, request.waiter.state) {
            #[cfg(feature = "planted-faults")]
            (RequestState::Pending, _) if crate::planted::Fault::NudgeRetiresTheWait.is_planted() => WaiterState::Acked,
            #[cfg(feature = "planted-faults")]
            (RequestState::Pending, WaiterState::Orphaned) if crate::planted::Fault::AckRearmsOrphans.is_planted() => {
                WaiterState::Armed
            }
            // Whoever was given up is taken up by the sign of life that an acknowledgement is (W7, X-10), and found by this
            // state until then: a crash in between must not leave one that nobody watches.
            (RequestState::Pending, WaiterState::Orphaned) => WaiterState::Orphaned,
            // An acknowledged nudge must not retire the wait (W9).
            (RequestState::Pending, _) => WaiterState::Armed,
            (_, WaiterState::Released) => WaiterState::Released,
            _ => WaiterState::Acked,
        };
    }
    Ok(Acknowledged::First { signal: Box::new(signal), request: Box::new(request), acked_at: now })
}

fn wrong_token() -> DecodeError {
    DecodeError::new("resume_token", "is not this signal's; take it from the signal itself")
}
