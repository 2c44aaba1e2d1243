//! A request as it is kept: the one document from which everything about it is served.

use serde::{Deserialize, Serialize};

use super::{
    authority::Authority,
    callback::Callback,
    delivery::Delivery,
    error::DecisionError,
    expiry_policy::TtlPolicy,
    limits,
    outreach::Outreach,
    progress::Progress,
    requires::Requires,
    routing::Routing,
    target::Target,
    tenant_policy::PolicyTerms,
    terms::{
        Grade, Liveness, Mode, OnExpiry, PresentationBinding, RequestState, SignalType, Urgency, UrgencyState,
        WaiterState, WaiterTerminal,
    },
    waiter_ref::WaiterRef,
};
use crate::{
    digest::{AnyDigest, Digest},
    duration::ExactDuration,
    id::{AuthorizationId, GrantHandle, OrgId, PrincipalId, ReceiptId, RequestId},
    json::{Json, NotCanonical, canonical_members},
    timestamp::Timestamp,
};

/// A request.
///
/// `prompt`, `requires` and `metadata` are kept as they were sent, but for numbers, which are rewritten to their
/// canonical spelling (rule N-3), and for what the server mints (rule D-7).
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Request {
    /// Its identity, forever.
    pub id: RequestId,
    /// Where it stands.
    pub state: RequestState,
    /// Rises with each change of what a person is shown.
    pub version: u64,
    /// The tenant.
    pub org_id: OrgId,
    /// Who waits.
    pub waiter_ref: WaiterRef,
    /// What stands for "the same question" while it is pending (rule K-1).
    pub dedupe_key: String,
    /// How urgent.
    pub urgency: Urgency,
    /// Whether it wants attention.
    pub urgency_state: UrgencyState,
    /// What a person is shown.
    pub prompt: Json,
    /// What an answer must be, and who may give it. After a partial answer only what is still to be given is asked for
    /// here, and the whole is in [`declared`](Self::declared).
    pub requires: Json,
    /// Whether the runtime must redeem.
    pub mode: Mode,
    /// Whether an answer must echo what was shown.
    pub presentation_binding: PresentationBinding,
    /// Whether the waiter lives on a lease.
    pub liveness: Liveness,
    /// What becomes of the request if the waiter dies.
    pub on_waiter_terminal: WaiterTerminal,
    /// How long until the deadline, as declared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ttl: Option<ExactDuration>,
    /// What happens at the deadline.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ttl_policy: Option<TtlPolicy>,
    /// How long an attempt window lasts.
    pub attempt_ttl: ExactDuration,
    /// Who is reached, and how, as resolved at the raise.
    pub routing: Routing,
    /// Where its signals are pushed (section 19).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub callback: Option<Callback>,
    /// Whether continuation data is kept for it (section 18).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub continued: bool,
    /// What the future authorization is bound to (rule Z-6).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effect_digest: Option<AnyDigest>,
    /// Stored and returned, never interpreted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Json>,
    /// The principal that raised it.
    pub raised_by: PrincipalId,
    /// What that principal was called then, for people to read *(additive)*.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub raised_by_display: Option<String>,
    /// On whose behalf that principal acted (rule P-6) *(additive)*.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub raised_on_behalf_of: Option<PrincipalId>,
    /// When it was raised.
    pub created_at: Timestamp,
    /// The deadline; none without a `ttl` and under `park` (rule CL-3).
    pub expires_at: Option<Timestamp>,
    /// When the armed attempt window lapses.
    pub attempt_expires_at: Option<Timestamp>,
    /// Whether the waiter was told that this window lapsed (rule CL-2: once a window).
    #[serde(default)]
    pub attempt_notified: bool,
    /// When a person decided.
    pub answered_at: Option<Timestamp>,
    /// When it ended, however it ended.
    pub ended_at: Option<Timestamp>,
    /// Why its owner withdrew it.
    pub cancel_reason: Option<String>,
    /// What took its place.
    pub superseded_by: Option<RequestId>,
    /// The request whose place it took, the latest where it took several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub supersedes: Option<RequestId>,
    /// Whether it was raised to try things out.
    #[serde(default)]
    pub test_mode: bool,
    /// Its deliveries, in the order of their creation.
    pub deliveries: Vec<Delivery>,
    /// Where it stands in reaching people.
    #[serde(default, skip_serializing_if = "Outreach::is_empty")]
    pub outreach: Outreach,
    /// What it keeps of the tenant's policy that it was raised under.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub terms: Option<PolicyTerms>,
    /// The waiter of this request.
    pub waiter: RequestWaiter,
    /// What people gave on the way to its answer.
    #[serde(default, skip_serializing_if = "Progress::is_empty")]
    pub progress: Progress,
    /// The receipt of its outcome.
    pub receipt: Option<ReceiptPointer>,
    /// The receipts that correct that one, oldest first (rule E-4).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub corrections: Vec<ReceiptPointer>,
    /// The authorization that its answer minted.
    pub authorization: Option<AuthorizationId>,
    /// Whether a secret was ever asked for: the authority that this needs stays, whatever is asked later (rule A-2).
    #[serde(default, skip_serializing_if = "is_not_set")]
    pub asked_secret: bool,
    /// Whether a capability was ever granted, so that there may be sessions to list.
    #[serde(default, skip_serializing_if = "is_not_set")]
    pub granted: bool,
    /// The grants that are open.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub open_grants: Vec<GrantHandle>,
}

/// Where the waiter of one request stands (section 13 keeps one per request and reference).
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct RequestWaiter {
    /// The state.
    pub state: WaiterState,
    /// How many of the request's signals are not acknowledged yet.
    pub unacked: u32,
}

/// Where a receipt is in the tenant's chain.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct ReceiptPointer {
    /// Its id.
    pub id: ReceiptId,
    /// Its height.
    pub height: u64,
}

impl Request {
    /// The whole declaration of what an answer must be, whatever partial answers took out of it since (rules A-2, S-3).
    #[must_use]
    pub fn declared(&self) -> &Json {
        self.progress.declared.as_ref().unwrap_or(&self.requires)
    }

    /// Reads what an answer must be from the whole declaration, and who may give it: by the policy that the request was
    /// raised under, its default where nobody is declared and its floors where less is, and by the floor of secrets.
    ///
    /// # Errors
    ///
    /// [`DecisionError::Internal`] if the kept declaration is not one that a raise would accept.
    pub fn requires(&self) -> Result<Requires, DecisionError> {
        let mut requires = Requires::read(self.declared()).map_err(|_| DecisionError::Internal)?;
        if let Some(terms) = &self.terms {
            if let Some(authority) = terms.authority.as_ref().filter(|_| !requires.declares_authority) {
                requires.authority = authority.clone();
            }
            if let Some(floors) = terms.floors {
                requires.authority = floors.raise(requires.authority);
            }
        }
        Ok(if self.asked_secret { requires.with_secret_floor() } else { requires })
    }

    /// What an answer needs where the policy that the request was raised under asks for something else than was declared.
    #[must_use]
    pub fn authority_by_policy(&self) -> Option<Authority> {
        self.terms.as_ref().filter(|terms| terms.authority.is_some() || terms.floors.is_some())?;
        let declared = Requires::read(self.declared()).ok()?.authority;
        Some(self.requires().ok()?.authority).filter(|needed| *needed != declared)
    }

    /// Every name under which values can be submitted for this request (rule K-S1), each once.
    #[must_use]
    pub fn sink_refs(&self) -> Vec<&str> {
        let Some(answer) = self.declared().get("answer") else { return Vec::new() };
        let fields = answer.get("fields").and_then(Json::as_array).unwrap_or_default();
        let of_fields = fields.iter().filter_map(|field| field.get("sink_ref"));
        let of_all = answer.get("value_sink").and_then(|sink| sink.get("ref"));
        let mut names: Vec<&str> = of_all.into_iter().chain(of_fields).filter_map(Json::as_str).collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    /// The title, as it stands now.
    #[must_use]
    pub fn title(&self) -> &str {
        self.prompt.get("title").and_then(Json::as_str).unwrap_or_default()
    }

    /// What a person is shown at this version: the content of the rendered copy (rule D-8).
    #[must_use]
    pub fn rendering(&self) -> Json {
        Json::object([
            ("prompt", self.prompt.clone()),
            ("requires", self.requires.clone()),
            ("version", Json::from(self.version)),
        ])
    }

    /// The digest of what a person is shown at this version (rule D-8).
    ///
    /// # Errors
    ///
    /// If something in it has no canonical form, which a raise never lets in.
    pub fn rendered_digest(&self) -> Result<Digest, NotCanonical> {
        // Taken at every serve: of the members where they stand.
        let version = Json::from(self.version);
        let shown = vec![("prompt", &self.prompt), ("requires", &self.requires), ("version", &version)];
        canonical_members(shown).map(Digest::of)
    }

    /// The digest of the declared request at this version (rule D-9): the raise with its defaults in place, without
    /// anything that is only handed back to the runtime.
    ///
    /// # Errors
    ///
    /// If something in it has no canonical form, which a raise never lets in.
    pub fn request_digest(&self) -> Result<Digest, NotCanonical> {
        let policy = self.ttl_policy.as_ref().map(|policy| {
            Json::object([
                ("on_expiry", Json::from(policy.on_expiry.as_str())),
                ("default_answer", Json::from(policy.default_answer.clone())),
            ])
        });
        let short = [
            ("waiter_ref", Json::from(self.waiter_ref.as_str())),
            ("liveness", self.liveness.as_str().into()),
            ("urgency", self.urgency.as_str().into()),
            ("ttl", self.ttl.map(|ttl| ttl.to_string()).into()),
            ("ttl_policy", policy.into()),
            ("attempt_ttl", self.attempt_ttl.to_string().into()),
            ("on_waiter_terminal", self.on_waiter_terminal.as_str().into()),
            ("mode", self.mode.as_str().into()),
            ("presentation_binding", self.presentation_binding.as_str().into()),
            ("effect_digest", self.effect_digest.as_ref().map(AnyDigest::as_str).into()),
            ("version", self.version.into()),
        ];
        let long = [
            ("prompt", &self.prompt),
            ("requires", &self.requires),
            ("metadata", self.metadata.as_ref().unwrap_or(&Json::Null)),
        ];
        let declared = short.iter().map(|(name, value)| (*name, value)).chain(long).collect();
        canonical_members(declared).map(Digest::of)
    }

    /// Whether somebody began to answer (R2): a delivery is at `acted` while nothing is settled, or something was given
    /// by a link, which no delivery tells of.
    #[must_use]
    pub fn is_in_progress(&self) -> bool {
        self.progress.has_begun() || self.deliveries.iter().any(|delivery| delivery.grade_reached == Some(Grade::Acted))
    }

    /// When the deadline acts: never for what has none or is parked.
    #[must_use]
    pub fn deadline(&self) -> Option<Timestamp> {
        match self.ttl_policy.as_ref().map(|policy| policy.on_expiry) {
            Some(OnExpiry::Park) => None,
            Some(OnExpiry::Escalate | OnExpiry::ExpireAndDeny | OnExpiry::Default) | None => self.expires_at,
        }
    }

    /// Refuses an operation on a request that ended, with the code of how it ended (section 20).
    ///
    /// # Errors
    ///
    /// The settled conflict, unless the request is pending.
    pub fn check_pending(&self) -> Result<(), DecisionError> {
        let ended_at = self.ended_at.unwrap_or(self.created_at);
        match self.state {
            RequestState::Pending => Ok(()),
            RequestState::Answered => Err(match self.receipt {
                Some(receipt) => DecisionError::AlreadyAnswered {
                    request_id: self.id,
                    receipt_id: receipt.id,
                    answered_at: self.answered_at.unwrap_or(ended_at),
                },
                None => DecisionError::Internal,
            }),
            #[cfg(feature = "planted-faults")]
            RequestState::Expired if crate::planted::Fault::LateAnswerIsGeneric.is_planted() => {
                Err(DecisionError::RequestInProgress { request_id: self.id })
            }
            RequestState::Expired => Err(DecisionError::RequestExpired {
                request_id: self.id,
                receipt_id: self.receipt.map(|receipt| receipt.id),
                expired_at: ended_at,
            }),
            RequestState::Cancelled => Err(DecisionError::RequestCancelled {
                request_id: self.id,
                reason: self.cancel_reason.clone().unwrap_or_default(),
            }),
            RequestState::Superseded => Err(match self.superseded_by {
                Some(superseded_by) => DecisionError::RequestSuperseded { request_id: self.id, superseded_by },
                None => DecisionError::Internal,
            }),
        }
    }

    /// Lets somebody answer besides the declared assignees (rule A-4); false where there is no room for another.
    pub(super) fn let_answer(&mut self, target: &Target) -> bool {
        #[cfg(feature = "planted-faults")]
        if crate::planted::Fault::ReassignedMayNotAnswer.is_planted() {
            return true;
        }
        if !self.progress.also_assigned.contains(target) {
            if self.progress.also_assigned.len() >= limits::ASSIGNEES {
                return false;
            }
            self.progress.also_assigned.push(target.clone());
        }
        true
    }

    /// Ends the request: state, time, deliveries, waiter (the close-out of section 9).
    pub(super) fn settle(&mut self, state: RequestState, signal: SignalType, now: Timestamp) {
        self.state = state;
        self.ended_at = Some(now);
        self.open_grants.clear();
        self.progress.close();
        for delivery in &mut self.deliveries {
            delivery.close(now);
        }
        self.outreach.nothing_follows();
        self.waiter.unacked = self.waiter.unacked.saturating_add(1);
        self.waiter.state = match signal {
            SignalType::Answered | SignalType::Expired | SignalType::AttemptLapsed => WaiterState::Signalled,
            SignalType::Cancelled | SignalType::Superseded => WaiterState::Released,
        };
    }
}

/// For `skip_serializing_if`: a flag that is not set is left out.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_not_set(flag: &bool) -> bool {
    !*flag
}
