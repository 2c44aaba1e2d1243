//! Idempotency: the same call again returns the same thing (section 4).

use serde::{Deserialize, Serialize};

use super::{body, error::DecisionError, limits};
use crate::{
    digest::Digest,
    id::{GrantHandle, RequestId, SessionRef},
    json::{DecodeError, Json},
    principal::Principal,
    timestamp::Timestamp,
};

/// A client's key for one call, of 1 to 255 characters.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct IdempotencyKey(String);

impl IdempotencyKey {
    /// Reads a key.
    ///
    /// # Errors
    ///
    /// If it is empty, too long, or holds control characters.
    pub fn parse(text: &str) -> Result<Self, DecodeError> {
        let length = text.chars().count();
        if (1..=limits::IDEMPOTENCY_KEY_CHARS).contains(&length) && !text.chars().any(char::is_control) {
            return Ok(Self(text.to_owned()));
        }
        Err(DecodeError::new(
            "Idempotency-Key",
            format!("must be 1 to {} printable characters", limits::IDEMPOTENCY_KEY_CHARS),
        ))
    }

    /// The key, for what takes it out of its scope.
    #[cfg(feature = "planted-faults")]
    #[must_use]
    pub fn text(&self) -> &str {
        &self.0
    }

    pub(super) fn as_str(&self) -> &str {
        &self.0
    }
}

/// An operation that honors the key (rule K-6).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Operation {
    /// Raise; its object is none.
    Raise,
    /// Answer.
    Answer,
    /// Cancel.
    Cancel,
    /// Amend.
    Amend,
    /// Supersede.
    Supersede,
    /// Arm an attempt.
    Attempt,
    /// Correct a receipt.
    Correct,
    /// Open a session under a grant.
    Resolve,
    /// Submit values to a sink.
    Sink,
    /// Escalate.
    Escalate,
    /// Reassign.
    Reassign,
    /// Redeliver; its object is the delivery.
    Redeliver,
    /// Report a grade; its object is the delivery.
    Grade,
}

impl Operation {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Raise => "raise",
            Self::Answer => "answer",
            Self::Cancel => "cancel",
            Self::Amend => "amend",
            Self::Supersede => "supersede",
            Self::Attempt => "attempt",
            Self::Correct => "correct",
            Self::Resolve => "resolve",
            Self::Sink => "sink",
            Self::Escalate => "escalate",
            Self::Reassign => "reassign",
            Self::Redeliver => "redeliver",
            Self::Grade => "grade",
        }
    }
}

/// What a key is unique under: principal, operation, object, key (rules K-6, K-7); the tenant is where it is kept.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ReplayScope(Digest);

impl ReplayScope {
    /// The scope of a call.
    #[must_use]
    pub fn new(principal: &Principal, operation: Operation, object: Option<RequestId>, key: &IdempotencyKey) -> Self {
        Self::of(principal, operation, &object.map(|id| id.to_string()).unwrap_or_default(), key)
    }

    /// The scope of a call on a grant.
    #[must_use]
    pub fn of_grant(principal: &Principal, operation: Operation, grant: GrantHandle, key: &IdempotencyKey) -> Self {
        Self::of(principal, operation, &grant.to_string(), key)
    }

    /// The scope of a call on a sink, for one request: many can declare the same place, and one key on two requests acts
    /// on both (rule K-7). The place's name is free text and so goes in by its digest.
    #[must_use]
    pub fn of_sink(principal: &Principal, request: RequestId, reference: &str, key: &IdempotencyKey) -> Self {
        Self::of(principal, Operation::Sink, &format!("{request} {}", Digest::of(reference)), key)
    }

    /// The scope of a call whose object is no request, by the object's id.
    #[must_use]
    pub fn of(principal: &Principal, operation: Operation, object: &str, key: &IdempotencyKey) -> Self {
        let holder = principal.key_holder();
        #[cfg(feature = "planted-faults")]
        let holder = if crate::planted::Fault::KeyWithoutPrincipal.is_planted() { String::new() } else { holder };
        #[cfg(feature = "planted-faults")]
        let object = if crate::planted::Fault::KeyWithoutObject.is_planted() { "" } else { object };
        // Only the last part is free text, so line feeds keep the parts apart.
        let parts = [holder.as_str(), operation.as_str(), object, &key.0].join("\n");
        Self(Digest::of(parts.as_bytes()))
    }

    /// What the replay record is kept under.
    #[must_use]
    pub fn id(&self) -> String {
        self.0.hex()
    }
}

/// The first success under a key, kept in the transaction of its effect (rule K-6).
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Replay {
    /// The digest of the body that came with it (rule K-5).
    pub digest: Digest,
    /// What it returned.
    pub outcome: ReplayOutcome,
    /// Until when a repeat is recognized.
    pub expires_at: Timestamp,
}

/// What the first success returned.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ReplayOutcome {
    /// A raise: a repeat returns the request as it stands then (rule K-1).
    Request(RequestId),
    /// A resolve: a repeat returns the same session with a new address (rule K-9).
    Session(SessionRef),
    /// Anything else: the status was 200 and the body this text, returned byte for byte.
    Body(String),
}

/// The digest of a body that a repeat must equal (rule K-5), its numbers brought into their stored spelling. The commands
/// know theirs; this is for a body that was refused.
///
/// # Errors
///
/// [`DecisionError::InvalidRequest`] for a body that has no canonical form: none such was ever taken.
pub fn digest_of(body: &mut Json) -> Result<Digest, DecisionError> {
    body::digest(body)
}

/// Looks a call up among the replays.
///
/// # Errors
///
/// [`DecisionError::IdempotencyKeyReused`] if the key was used with another body.
pub fn find(
    stored: Option<&Replay>,
    digest: Digest,
    request_id: Option<RequestId>,
    now: Timestamp,
) -> Result<Option<&ReplayOutcome>, DecisionError> {
    match stored {
        Some(replay) if now >= replay.expires_at => Ok(None),
        #[cfg(feature = "planted-faults")]
        Some(_) if crate::planted::Fault::RetriesNotRecognized.is_planted() => Ok(None),
        #[cfg(feature = "planted-faults")]
        Some(replay) if crate::planted::Fault::ReusedKeyUnnoticed.is_planted() => Ok(Some(&replay.outcome)),
        Some(replay) if replay.digest == digest => Ok(Some(&replay.outcome)),
        Some(replay) => {
            let raised = match replay.outcome {
                ReplayOutcome::Request(id) => Some(id),
                ReplayOutcome::Body(_) | ReplayOutcome::Session(_) => None,
            };
            Err(DecisionError::IdempotencyKeyReused { request_id: request_id.or(raised) })
        }
        None => Ok(None),
    }
}
