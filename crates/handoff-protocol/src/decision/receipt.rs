//! Receipts: what is kept of an outcome, sealed into the tenant's chain (section 14).

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

use super::{
    authority::Authority,
    capability::CapabilityExercised,
    target::Target,
    terms::{ActorType, ClearanceSource, Disposition, Effective, Grade, PresentationBinding, ReceiptKind, WaiterState},
};
use crate::{
    chain::{Head, Link},
    digest::Digest,
    id::{DeliveryId, OrgId, PrincipalId, ReceiptId, RenderingId, RequestId},
    json::{Json, Object, to_json},
    principal::{AuthStrength, Role},
    timestamp::Timestamp,
};

/// The core of a receipt: everything that its digest covers, in the order in which it is served.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[schemars(rename = "ReceiptCore")]
pub struct Receipt {
    /// Its id.
    pub id: ReceiptId,
    /// The request that it settled.
    pub request_id: RequestId,
    /// The tenant.
    pub org_id: OrgId,
    /// What it records.
    pub kind: ReceiptKind,
    /// The receipt that it corrects.
    pub corrects: Option<ReceiptId>,
    /// What was decided.
    pub decision: RecordedDecision,
    /// Who decided.
    pub actor: Actor,
    /// When.
    pub decided_at: Timestamp,
    /// The attempt it came from, where attempts have ids.
    pub attempt_id: Option<String>,
    /// The version that was shown.
    #[schemars(range(min = 1))]
    pub request_version: u64,
    /// The digest of the declared request at that version.
    pub request_digest: Digest,
    /// What was shown.
    pub rendered: Rendered,
    /// The delivery that the answer came through; all null when there is none (rule E-14).
    pub via: Via,
    /// What was needed and what was there.
    pub authority: RecordedAuthority,
    /// The steps of an answer given in parts; empty for one given at once.
    pub steps: Vec<ReceiptStep>,
    /// Capabilities that were used on the way.
    pub capabilities_exercised: Vec<CapabilityExercised>,
    /// Where the clearance comes from.
    pub clearance: Clearance,
    /// Where the waiter stood.
    #[schemars(schema_with = "states_before_decision")]
    pub waiter_state_at_decision: WaiterState,
}

/// What was decided.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[schemars(rename = "ReceiptDecision")]
pub struct RecordedDecision {
    /// The values, secrets reduced to a marker.
    #[schemars(with = "Object")]
    pub values: Json,
    /// Always `decide` on a receipt.
    pub disposition: Disposition,
    /// The answerer's words.
    pub note: Option<String>,
    /// The last delegation on the way.
    pub delegated_to: Option<Target>,
    /// What an expiry came to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effective: Option<Effective>,
}

/// Who decided (rule E-1: a null id is present, not left out).
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[schemars(rename = "ReceiptActor")]
pub struct Actor {
    /// The kind of actor.
    #[serde(rename = "type")]
    pub actor_type: ActorType,
    /// The person, for `user` alone.
    pub principal_id: Option<PrincipalId>,
    /// A name for people to read.
    pub display: Option<String>,
    /// The role held then.
    pub role_at_decision: Option<Role>,
    /// How strongly they were authenticated; absent where nobody was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub auth_strength: Option<AuthStrength>,
    /// When the credential was last presented again.
    pub reauth_at: Option<Timestamp>,
    /// When a second factor was last presented.
    pub mfa_at: Option<Timestamp>,
    /// A salted digest of the address that the answer came from.
    pub ip_digest: Option<Digest>,
    /// A salted digest of the program that it came from.
    pub user_agent_digest: Option<Digest>,
    /// On whose behalf (rule P-6: null is recorded).
    pub on_behalf_of: Option<PrincipalId>,
}

/// What was shown.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[schemars(rename = "ReceiptRendered")]
pub struct Rendered {
    /// The digest of what was shown.
    pub digest: Digest,
    /// Where the copy is kept.
    #[serde(rename = "ref")]
    pub reference: Option<RenderingId>,
    /// Whether the answer had to echo the digest.
    pub binding: PresentationBinding,
    /// Whether the answer echoed another digest.
    pub diverged: bool,
}

/// The delivery that an answer came through.
#[derive(Clone, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[schemars(rename = "ReceiptVia")]
pub struct Via {
    /// The delivery.
    pub delivery_id: Option<DeliveryId>,
    /// Its channel.
    pub channel: Option<String>,
    /// Whom it was for.
    pub target: Option<Target>,
    /// How far it provably got.
    pub grade_reached: Option<Grade>,
}

/// What was needed and what was there.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[schemars(rename = "ReceiptAuthority")]
pub struct RecordedAuthority {
    /// The effective requirement.
    pub required: Authority,
    /// What satisfied it, a text (rule E-14).
    pub satisfied: Satisfied,
    /// Everybody who agreed, where more than one had to.
    pub endorsements: Vec<Endorsement>,
}

/// What satisfied the requirement.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the strengths of authentication, and none")]
pub enum Satisfied {
    None,
    LinkOnly,
    Session,
    Reauth,
    Mfa,
}

/// One person's agreement (rule A-8).
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct Endorsement {
    /// Who; null for whoever held a link.
    pub principal_id: Option<PrincipalId>,
    /// When.
    pub at: Timestamp,
    /// Their words, where they had any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// One step of an answer given in parts: which fields, never what was given (rule S-3).
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct ReceiptStep {
    /// Its place, from 1 on.
    #[schemars(range(min = 1))]
    pub n: u64,
    /// When.
    pub at: Timestamp,
    /// The fields that it gave.
    pub fields_provided: Vec<String>,
    /// Those of them that are secret.
    pub secret_fields: Vec<String>,
    /// The delivery that it came through.
    pub via_delivery_id: Option<DeliveryId>,
}

/// Where the clearance comes from (rule E-3: asserted, never inferred).
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct Clearance {
    /// Its source.
    pub source: ClearanceSource,
    /// The person, for an assertion alone.
    pub actor: Option<PrincipalId>,
    /// When.
    pub at: Timestamp,
}

/// A receipt sealed into the chain: the very text that is served from now on (rule E-8).
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct SealedReceipt {
    /// Its id.
    pub id: ReceiptId,
    /// Its request.
    pub request_id: RequestId,
    /// When it was decided.
    pub decided_at: Timestamp,
    /// Its place in the chain.
    pub link: Link,
    /// The text, with its `chain` member.
    pub text: String,
}

impl Receipt {
    /// Seals the receipt behind a chain's head (rules E-6, E-7).
    ///
    /// # Errors
    ///
    /// If something in it has no canonical form, which no transition lets in.
    pub fn seal(&self, head: &Head) -> Result<SealedReceipt, SealError> {
        let mut receipt = to_json(self)?;
        #[cfg(feature = "planted-faults")]
        let head = &super::planted::genesis(*head);
        let link = head.append(&receipt)?;
        #[cfg(feature = "planted-faults")]
        let link = super::planted::sealed_lower(link, &receipt)?;
        if let Some(members) = receipt.as_object_mut() {
            members.insert("chain", to_json(&link)?);
            #[cfg(feature = "planted-faults")]
            super::planted::renumber(members, link);
        }
        Ok(SealedReceipt {
            id: self.id,
            request_id: self.request_id,
            decided_at: self.decided_at,
            link,
            text: receipt.to_text(),
        })
    }
}

/// A receipt could not be sealed; a defect, since every transition checks what it lets in.
#[derive(Debug, thiserror::Error)]
pub enum SealError {
    /// It has no canonical form.
    #[error(transparent)]
    NotCanonical(#[from] crate::json::NotCanonical),
    /// It has no JSON form.
    #[error(transparent)]
    Json(#[from] crate::json::JsonError),
}

impl From<AuthStrength> for Satisfied {
    fn from(strength: AuthStrength) -> Self {
        match strength {
            AuthStrength::LinkOnly => Self::LinkOnly,
            AuthStrength::Session => Self::Session,
            AuthStrength::Reauth => Self::Reauth,
            AuthStrength::Mfa => Self::Mfa,
        }
    }
}

/// Where a waiter can stand when its request is decided: its request is pending until then, and nothing is on its way.
fn states_before_decision(_: &mut SchemaGenerator) -> Schema {
    let states = [WaiterState::Armed, WaiterState::Signalled, WaiterState::Orphaned];
    json_schema!({ "type": "string", "enum": states.map(WaiterState::as_str) })
}
