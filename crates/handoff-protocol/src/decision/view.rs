//! What is served: requests, signals, authorizations as clients see them, built from what is kept.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    authority::Authority,
    authorization::{Authorization, BoundTo, Redemption},
    delivery::Delivery,
    error::DecisionError,
    expiry_policy::TtlPolicy,
    limits,
    progress::{Contributor, Endorsed, Step},
    receipt::{Receipt, ReceiptStep},
    request::Request,
    resume::Resumed,
    routing::Routing,
    signal::{Decision, Signal},
    target::Target,
    terms::{
        AuthorizationState, Liveness, Mode, PresentationBinding, RequestState, SignalType, Urgency, UrgencyState,
        WaiterState, WaiterTerminal,
    },
    waiter_ref::WaiterRef,
    wire::{Prompt, Requires},
};
use crate::{
    chain::Link,
    digest::{AnyDigest, Digest},
    duration::ExactDuration,
    id::{AuthorizationId, OrgId, PrincipalId, ReceiptId, RequestId, ResumeToken, SignalId},
    json::{Json, Object},
    timestamp::Timestamp,
};

/// A request as served. Members that section 21 wants always there are null when there is nothing.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[expect(missing_docs, reason = "the members of `Request`, which documents them, as the contract names them")]
#[schemars(rename = "Request")]
pub struct RequestView {
    pub id: RequestId,
    pub state: RequestState,
    #[schemars(range(min = 1))]
    pub version: u64,
    pub org_id: OrgId,
    pub waiter_ref: WaiterRef,
    pub urgency: Urgency,
    pub urgency_state: UrgencyState,
    #[schemars(with = "Prompt")]
    pub prompt: Json,
    #[schemars(with = "Requires")]
    pub requires: Json,
    pub mode: Mode,
    pub presentation_binding: PresentationBinding,
    pub liveness: Liveness,
    pub on_waiter_terminal: WaiterTerminal,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ttl: Option<ExactDuration>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ttl_policy: Option<TtlPolicy>,
    pub attempt_ttl: ExactDuration,
    pub routing: Routing,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effect_digest: Option<AnyDigest>,
    pub created_at: Timestamp,
    pub expires_at: Option<Timestamp>,
    pub attempt_expires_at: Option<Timestamp>,
    pub answered_at: Option<Timestamp>,
    pub superseded_by: Option<RequestId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub supersedes: Option<RequestId>,
    pub cancel_reason: Option<String>,
    #[schemars(extend("format" = "uri"))]
    pub surface_url: String,
    /// What an answer can echo to say what its person was shown (rule D-8).
    pub rendered_digest: Digest,
    pub deliveries: Vec<Delivery>,
    /// The partial answers so far, by the names of their fields; left out where there are none *(additive)*.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<StepView>,
    /// Who answered so far, where more than one must agree; not what. Left out where nobody did *(additive)*.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub endorsements: Vec<EndorserView>,
    /// How many of these agree, at the most; left out where nobody answered *(additive)*.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agreeing: Option<u64>,
    /// Who may answer besides the declared assignees, since the request was passed on to them; left out where nobody was
    /// *(additive)*.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also_assigned: Vec<Target>,
    /// What an answer needs where the policy that holds asks for something else than was declared; left out where it does
    /// not *(additive)*.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effective_authority: Option<Authority>,
    /// The receipt, exactly as it was sealed (rule E-8).
    #[schemars(with = "Option<ReceiptView>")]
    pub receipt: Option<Json>,
    /// The receipts that correct it, oldest first: the last one is what holds for the record (rule E-4). Left out where
    /// there are none *(additive)*.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub corrections: Vec<ReceiptId>,
    pub authorization: Option<AuthorizationView>,
    pub waiter: WaiterView,
    #[schemars(with = "Object")]
    pub metadata: Json,
    /// Who asks, by name; left out where nobody knows *(additive)*.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub raised_by_display: Option<String>,
    /// On whose behalf; left out where nobody is named *(additive)*.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub raised_on_behalf_of: Option<PrincipalId>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub test_mode: bool,
}

/// The waiter of a request as served.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct WaiterView {
    /// Where it stands.
    pub state: WaiterState,
    /// Whether it lives on a lease.
    pub liveness: Liveness,
}

/// A partial answer: what a receipt says of it, and who gave it, which a receipt's steps do not say.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[schemars(rename = "RequestStep")]
pub struct StepView {
    /// What a receipt says of it.
    #[serde(flatten)]
    pub recorded: ReceiptStep,
    /// Who gave it.
    pub by: Contributor,
}

/// Somebody who answered where more than one must agree.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[schemars(rename = "Endorser")]
pub struct EndorserView {
    /// Who; null for whoever held a link.
    pub principal_id: Option<PrincipalId>,
    /// When.
    pub at: Timestamp,
}

/// A receipt as served: what was sealed, and its place in the chain (rule E-8). The server serves the sealed text itself;
/// this is its shape.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[schemars(rename = "Receipt")]
pub struct ReceiptView {
    /// Everything that the digest covers.
    #[serde(flatten)]
    pub core: Receipt,
    /// Where it stands in the chain.
    pub chain: Link,
}

/// An authorization as served, worth what it is worth now.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[expect(missing_docs, reason = "the members of `Authorization`, which documents them")]
#[schemars(rename = "Authorization")]
pub struct AuthorizationView {
    pub id: AuthorizationId,
    pub receipt_id: ReceiptId,
    pub request_id: RequestId,
    #[schemars(with = "Object")]
    pub grants: Json,
    pub single_use: bool,
    pub expires_at: Timestamp,
    pub bound_to: BoundTo,
    pub redemptions: Vec<RedemptionView>,
    pub state: AuthorizationState,
}

/// A redemption as served.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[expect(missing_docs, reason = "the members of `Redemption`, which documents them")]
#[schemars(rename = "Redemption")]
pub struct RedemptionView {
    #[schemars(length(max = limits::EFFECT_KEY_CHARS))]
    pub effect_key: String,
    pub redeemed_at: Timestamp,
}

/// A signal as served (rule X-5).
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[expect(missing_docs, reason = "the members of `Signal`, which documents them")]
#[schemars(rename = "Signal")]
pub struct SignalView {
    pub id: SignalId,
    pub request_id: RequestId,
    pub waiter_ref: WaiterRef,
    #[serde(rename = "type")]
    pub signal_type: SignalType,
    #[schemars(range(min = 1))]
    pub sequence: u64,
    pub resume_token: ResumeToken,
    pub decision: Option<Decision>,
    pub resume_ref: Option<String>,
    pub resume_payload: Option<String>,
    pub attempts: u32,
    pub created_at: Timestamp,
    pub acked_at: Option<Timestamp>,
}

/// What an answer returns (rule S-4).
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct AnswerResult {
    /// The request, in brief.
    pub request: AnsweredRequest,
    /// The receipt; null when nothing was settled.
    pub receipt: Option<MintedReceipt>,
    /// The authorization; null when nothing was settled.
    pub authorization: Option<MintedAuthorization>,
}

/// A request in brief.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[expect(missing_docs, reason = "the members of `Request`, which documents them")]
pub struct AnsweredRequest {
    pub id: RequestId,
    pub state: RequestState,
    pub answered_at: Option<Timestamp>,
}

/// A receipt in brief.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct MintedReceipt {
    /// Its id.
    pub id: ReceiptId,
    /// Its digest in the chain.
    pub digest: Digest,
}

/// An authorization in brief.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[expect(missing_docs, reason = "the members of `Authorization`, which documents them")]
pub struct MintedAuthorization {
    pub id: AuthorizationId,
    pub single_use: bool,
    pub expires_at: Option<Timestamp>,
}

/// What a submission of values returns: names alone (rule K-S3).
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct SinkValuesResult {
    /// The names that were submitted.
    pub accepted: Vec<String>,
    /// Where the request stands.
    pub state: RequestState,
}

/// What an acknowledgement returns.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct AckResult {
    /// When the signal was first acknowledged.
    pub acked_at: Timestamp,
    /// Whether this was that time.
    pub first_ack: bool,
}

/// What a redemption returns.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct RedeemResult {
    /// When the effect was first redeemed for.
    pub redeemed_at: Timestamp,
    /// Whether this was that time: only then may the effect happen.
    pub first_redemption: bool,
}

/// What a reattachment returns (rule X-9).
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct ReattachResult {
    /// The reference.
    pub waiter_ref: WaiterRef,
    /// Where the waiter stands across its requests.
    pub state: WaiterState,
    /// Its requests that are pending.
    pub open_requests: Vec<RequestId>,
    /// Its signals that are not acknowledged.
    pub signals: Vec<SignalView>,
}

/// The head of a tenant's receipts (rule E-10).
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[schemars(rename = "ChainHead")]
pub struct ChainHeadView {
    /// The tenant.
    pub org_id: OrgId,
    /// How many receipts there are.
    pub height: u64,
    /// The digest of the last; zeros before the first.
    pub head_digest: Digest,
    /// When this was read.
    pub as_of: Timestamp,
}

/// One page of a listing.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[schemars(rename = "{T}List")]
pub struct Listing<T> {
    /// The items.
    pub data: Vec<T>,
    /// Whether more follow.
    pub has_more: bool,
    /// What brings them; null on the last page.
    pub next_cursor: Option<String>,
}

/// The signals of a waiter.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct SignalList {
    /// Every signal that is not acknowledged, oldest first.
    pub data: Vec<SignalView>,
    /// Whether more wait behind these.
    pub has_more: bool,
}

/// Where a person answers a request: a locator, which asks for authentication (rule V-11).
#[must_use]
pub fn surface_url(base: &str, id: RequestId) -> String {
    format!("{}/requests/{id}", base.trim_end_matches('/'))
}

impl RequestView {
    /// Builds what is served of a request.
    ///
    /// # Errors
    ///
    /// [`DecisionError::Internal`] if what is kept has no canonical form.
    pub fn new(
        request: Request,
        receipt: Option<Json>,
        authorization: Option<AuthorizationView>,
        surface_base: &str,
    ) -> Result<Self, DecisionError> {
        #[cfg(feature = "planted-faults")]
        let request = super::planted::presumed_sent(request);
        Ok(Self {
            rendered_digest: request.rendered_digest().map_err(|_| DecisionError::Internal)?,
            effective_authority: request.authority_by_policy(),
            surface_url: surface_url(surface_base, request.id),
            id: request.id,
            state: request.state,
            version: request.version,
            org_id: request.org_id,
            waiter_ref: request.waiter_ref,
            urgency: request.urgency,
            urgency_state: request.urgency_state,
            prompt: request.prompt,
            requires: request.requires,
            mode: request.mode,
            presentation_binding: request.presentation_binding,
            liveness: request.liveness,
            on_waiter_terminal: request.on_waiter_terminal,
            ttl: request.ttl,
            ttl_policy: request.ttl_policy,
            attempt_ttl: request.attempt_ttl,
            routing: request.routing,
            effect_digest: request.effect_digest,
            created_at: request.created_at,
            expires_at: request.expires_at,
            attempt_expires_at: request.attempt_expires_at,
            answered_at: request.answered_at,
            superseded_by: request.superseded_by,
            supersedes: request.supersedes,
            cancel_reason: request.cancel_reason,
            corrections: request.corrections.iter().map(|receipt| receipt.id).collect(),
            deliveries: request.deliveries,
            agreeing: request.progress.agreeing(),
            steps: request.progress.steps.into_iter().map(StepView::from).collect(),
            endorsements: request.progress.endorsements.iter().map(EndorserView::from).collect(),
            also_assigned: request.progress.also_assigned,
            receipt,
            authorization,
            waiter: WaiterView { state: request.waiter.state, liveness: request.liveness },
            raised_by_display: request.raised_by_display,
            raised_on_behalf_of: request.raised_on_behalf_of,
            test_mode: request.test_mode,
            metadata: request.metadata.unwrap_or_else(|| Json::Object(Object::new())),
        })
    }
}

impl From<Step> for StepView {
    fn from(step: Step) -> Self {
        Self { recorded: step.recorded, by: step.by }
    }
}

impl From<&Endorsed> for EndorserView {
    fn from(endorsed: &Endorsed) -> Self {
        Self { principal_id: endorsed.recorded.principal_id, at: endorsed.recorded.at }
    }
}

impl AuthorizationView {
    /// Builds what is served of an authorization at a time.
    #[must_use]
    pub fn new(authorization: Authorization, now: Timestamp) -> Self {
        let state = authorization.state(now);
        let redemption = |redemption: Redemption| RedemptionView {
            effect_key: redemption.effect_key,
            redeemed_at: redemption.redeemed_at,
        };
        Self {
            id: authorization.id,
            receipt_id: authorization.receipt_id,
            request_id: authorization.request_id,
            grants: authorization.grants,
            single_use: authorization.single_use,
            expires_at: authorization.expires_at,
            bound_to: authorization.bound_to,
            redemptions: authorization.redemptions.into_iter().map(redemption).collect(),
            state,
        }
    }
}

impl SignalView {
    /// Builds what is served of a signal, with what its runtime handed over (rule L-2).
    #[must_use]
    pub fn new(signal: Signal, resumed: Resumed) -> Self {
        #[cfg(feature = "planted-faults")]
        let resumed = super::planted::altered(resumed);
        let sequence = signal.sequence;
        #[cfg(feature = "planted-faults")]
        let sequence = if crate::planted::Fault::SequenceAlwaysOne.is_planted() { 1 } else { sequence };
        Self {
            id: signal.id,
            request_id: signal.request_id,
            waiter_ref: signal.waiter_ref,
            signal_type: signal.signal_type,
            sequence,
            resume_token: signal.resume_token,
            decision: signal.decision,
            resume_ref: resumed.reference,
            resume_payload: resumed.payload,
            attempts: signal.push.map_or(0, |push| push.attempts),
            created_at: signal.created_at,
            acked_at: signal.acked_at,
        }
    }
}

impl AnswerResult {
    /// What an answer returns for a request as it now stands.
    #[must_use]
    pub fn new(request: &Request, receipt: Option<MintedReceipt>, authorization: Option<&Authorization>) -> Self {
        Self {
            request: AnsweredRequest { id: request.id, state: request.state, answered_at: request.answered_at },
            receipt,
            authorization: authorization.map(|authorization| MintedAuthorization {
                id: authorization.id,
                single_use: authorization.single_use,
                expires_at: Some(authorization.expires_at),
            }),
        }
    }
}

/// Where a waiter stands across its requests (section 13): signalled if any signal is not acknowledged, else orphaned
/// if any request's waiter is, else armed if any request is pending, else what its requests came to.
#[must_use]
pub fn aggregate(unacked: bool, pending: &[WaiterState], any_acked: bool) -> WaiterState {
    if unacked {
        WaiterState::Signalled
    } else if pending.contains(&WaiterState::Orphaned) {
        WaiterState::Orphaned
    } else if !pending.is_empty() {
        WaiterState::Armed
    } else if any_acked {
        WaiterState::Acked
    } else {
        WaiterState::Released
    }
}
