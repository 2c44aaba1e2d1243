//! What people gave on the way to an answer: steps, endorsements, and whom it was passed on to (rules S-2, S-3, A-8).
//!
//! It hangs at the request and is empty for the many that are answered at once. Dispositions are records of their own
//! ([`RecordedDisposition`]), since a request can be declined any number of times; what follows from them is here.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    receipt::{Endorsement, ReceiptStep},
    target::Target,
    terms::{ActorType, Disposition},
};
use crate::{
    digest::Digest,
    id::{DeliveryId, PrincipalId, RequestId},
    json::{Json, Object},
    principal::{Identity, Principal},
    timestamp::Timestamp,
};

/// What is kept at a request of everything that was given before its answer.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct Progress {
    /// The declaration as it was before partial answers took fields out of it; none until one did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub declared: Option<Json>,
    /// The values of all steps, merged. Never a secret: what may stand here of one is that it was provided. Gone once the
    /// request ends, since the receipt has what counted.
    #[serde(default, skip_serializing_if = "Object::is_empty")]
    pub given: Object,
    /// The partial answers, in their order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<Step>,
    /// One a person or link, the newest last. Gone once the request ends.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub endorsements: Vec<Endorsed>,
    /// How many dispositions were recorded that decided nothing.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub dispositions: u64,
    /// To whom it was passed on last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delegated_to: Option<Target>,
    /// Who may answer besides the declared assignees (rule A-4).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also_assigned: Vec<Target>,
}

/// A partial answer (rule S-3).
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Step {
    /// What receipts say of it.
    #[serde(flatten)]
    pub recorded: ReceiptStep,
    /// Who gave it.
    pub by: Contributor,
}

/// An answer that counts once enough others agree (rule A-8).
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Endorsed {
    /// Who gave it, as distinct principals are told apart: the id, or the digest of a link's credential.
    pub holder: String,
    /// What a receipt says of it.
    #[serde(flatten)]
    pub recorded: Endorsement,
    /// The digest of everything that has to be equal. The values themselves are not kept: the answer that settles
    /// brings its own.
    pub agreed: Digest,
}

/// A disposition that decided nothing: a record of its own, never changed.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[schemars(rename = "RequestDisposition")]
pub struct RecordedDisposition {
    /// The request.
    pub request_id: RequestId,
    /// Its place among the dispositions of the request, from 1 on.
    #[schemars(range(min = 1))]
    pub n: u64,
    /// What its person did.
    pub disposition: Disposition,
    /// Who.
    pub by: Contributor,
    /// Their words.
    pub note: Option<String>,
    /// To whom it was passed on.
    pub delegate_to: Option<Target>,
    /// The delivery that reaches them.
    pub delivery_id: Option<DeliveryId>,
    /// When.
    pub at: Timestamp,
}

/// Who gave something on the way (rule E-1: only an authenticated person has an id).
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct Contributor {
    /// The kind of actor.
    #[serde(rename = "type")]
    pub actor_type: ActorType,
    /// The person; null for whoever held a link.
    pub principal_id: Option<PrincipalId>,
    /// A name for people to read.
    pub display: Option<String>,
}

impl Contributor {
    pub(super) fn new(principal: &Principal) -> Self {
        Self { actor_type: actor_type(principal), principal_id: principal.id(), display: principal.display.clone() }
    }
}

impl Progress {
    pub(super) fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Whether somebody began to answer.
    pub(super) fn has_begun(&self) -> bool {
        !self.steps.is_empty() || !self.endorsements.is_empty()
    }

    /// What an answer comes to with all that was given before. A null says nothing, so it takes nothing back.
    pub(super) fn merged(&self, values: &Object) -> Object {
        let mut merged = self.given.clone();
        for (name, value) in values {
            if !value.is_null() || !merged.contains_key(name) {
                merged.insert(name, value.clone());
            }
        }
        merged
    }

    /// How many of those who answered agree, at the most; nothing where nobody answered.
    pub(super) fn agreeing(&self) -> Option<u64> {
        let alike = |one: &Endorsed| self.endorsements.iter().filter(|other| other.agreed == one.agreed).count();
        self.endorsements.iter().map(alike).max().and_then(|most| u64::try_from(most).ok())
    }

    /// What a receipt says of the steps so far.
    pub(super) fn recorded_steps(&self) -> Vec<ReceiptStep> {
        self.steps.iter().map(|step| step.recorded.clone()).collect()
    }

    /// The number of the step that comes next.
    pub(super) fn next_step(&self) -> u64 {
        u64::try_from(self.steps.len()).unwrap_or(u64::MAX).saturating_add(1)
    }

    /// Forgets what counts no more once the request has ended: values, and who agreed to some.
    pub(super) fn close(&mut self) {
        self.given = Object::new();
        self.endorsements = Vec::new();
    }
}

pub(super) fn actor_type(principal: &Principal) -> ActorType {
    match principal.identity {
        Identity::Human(_) => ActorType::User,
        Identity::Link(_) => ActorType::AnonymousLink,
        Identity::Machine(_) => ActorType::Runtime,
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}
