//! Signals: how a waiting runtime gets its outcome, as typed data, until it acknowledges (section 13).

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

use super::{
    push::Push,
    request::Request,
    terms::{DecisionSource, Effective, RequestState, SignalType},
    waiter::Waiter,
    waiter_ref::WaiterRef,
};
use crate::{
    id::{AuthorizationId, Mint, ReceiptId, RequestId, ResumeToken, SignalId},
    json::{Json, Object},
    timestamp::Timestamp,
};

/// A signal as it is kept.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Signal {
    /// Its id.
    pub id: SignalId,
    /// The request that it is about.
    pub request_id: RequestId,
    /// Who waits.
    pub waiter_ref: WaiterRef,
    /// What it reports.
    #[serde(rename = "type")]
    pub signal_type: SignalType,
    /// Its place among the waiter's signals.
    pub sequence: u64,
    /// What an acknowledgement must show.
    pub resume_token: ResumeToken,
    /// The outcome; none for a nudge (rule X-2).
    pub decision: Option<Decision>,
    /// When it was enqueued.
    pub created_at: Timestamp,
    /// When it was acknowledged.
    pub acked_at: Option<Timestamp>,
    /// Whether the runtime said that it applied the outcome.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub applied: Option<bool>,
    /// The runtime's words about that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Its push to a callback.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub push: Option<Push>,
    /// Whether it gives continuation data back.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub continued: bool,
}

/// An outcome; members that do not apply are null (rule X-3).
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct Decision {
    /// How the request ended.
    #[schemars(schema_with = "endings")]
    pub outcome: RequestState,
    /// The decided values; empty where nothing was decided.
    #[schemars(with = "Object")]
    pub values: Json,
    /// Who or what decided.
    pub source: DecisionSource,
    /// What an expiry came to.
    pub effective: Option<Effective>,
    /// The receipt.
    pub receipt_id: Option<ReceiptId>,
    /// The authorization.
    pub authorization_id: Option<AuthorizationId>,
    /// What took the request's place.
    pub superseded_by: Option<RequestId>,
}

impl Decision {
    /// An outcome without values, receipt or authorization.
    #[must_use]
    pub fn bare(outcome: RequestState, source: DecisionSource) -> Self {
        Self {
            outcome,
            values: Json::Object(Object::new()),
            source,
            effective: None,
            receipt_id: None,
            authorization_id: None,
            superseded_by: None,
        }
    }
}

#[cfg(feature = "planted-faults")]
impl Decision {
    /// The outcome without what was decided.
    fn without_values(self) -> Self {
        let is_planted = crate::planted::Fault::SignalWithoutValues.is_planted();
        if is_planted { Self { values: Json::Object(Object::new()), ..self } } else { self }
    }
}

impl Signal {
    /// Enqueues a signal with the waiter's next sequence (rule X-4).
    pub(super) fn enqueue(
        request: &Request,
        waiter: &mut Waiter,
        signal_type: SignalType,
        decision: Option<Decision>,
        mint: &mut Mint,
        now: Timestamp,
    ) -> Self {
        waiter.last_sequence = waiter.last_sequence.saturating_add(1);
        let id = mint.next();
        let continued = request.continued;
        #[cfg(feature = "planted-faults")]
        let continued = continued
            && !(signal_type == SignalType::AttemptLapsed
                && crate::planted::Fault::NudgeWithoutContinuation.is_planted());
        #[cfg(feature = "planted-faults")]
        let decision = decision.map(Decision::without_values);
        Self {
            id,
            request_id: request.id,
            waiter_ref: request.waiter_ref.clone(),
            signal_type,
            sequence: waiter.last_sequence,
            resume_token: mint.unguessable(),
            decision,
            created_at: now,
            acked_at: None,
            applied: None,
            reason: None,
            push: request.callback.clone().map(|callback| Push::new(callback, id)),
            continued,
        }
    }
}

/// The states that a request can end in.
fn endings(_: &mut SchemaGenerator) -> Schema {
    let names: Vec<&str> =
        RequestState::ALL.iter().filter(|(_, state)| state.is_final()).map(|(name, _)| *name).collect();
    json_schema!({ "type": "string", "enum": names })
}
