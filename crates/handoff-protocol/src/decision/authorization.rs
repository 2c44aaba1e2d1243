//! Authorizations: what a decision lets a runtime do, once (section 15).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{terms::AuthorizationState, waiter_ref::WaiterRef};
use crate::{
    digest::AnyDigest,
    id::{AuthorizationId, ReceiptId, RequestId},
    json::Json,
    timestamp::Timestamp,
};

/// An authorization as it is kept. What it is worth is computed when it is read (rule Z-2).
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Authorization {
    /// Its id.
    pub id: AuthorizationId,
    /// The receipt that it comes from.
    pub receipt_id: ReceiptId,
    /// The request that it comes from.
    pub request_id: RequestId,
    /// The decided values.
    pub grants: Json,
    /// Whether it covers one effect alone.
    pub single_use: bool,
    /// Until when it can be redeemed.
    pub expires_at: Timestamp,
    /// What it is bound to.
    pub bound_to: BoundTo,
    /// What it was redeemed for.
    pub redemptions: Vec<Redemption>,
    /// Whether it comes from a request that was raised to try things out.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub test_mode: bool,
}

/// What an authorization is bound to.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct BoundTo {
    /// Whoever waits under this reference.
    pub waiter_ref: WaiterRef,
    /// The effect declared at the raise (rule Z-6).
    pub effect_digest: Option<AnyDigest>,
}

/// One effect that an authorization was redeemed for.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct Redemption {
    /// The runtime's name for the effect.
    pub effect_key: String,
    /// When it was first redeemed for it.
    pub redeemed_at: Timestamp,
    /// The effect's digest, if one was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effect_digest: Option<AnyDigest>,
}

impl Authorization {
    /// What the authorization is worth at a time (rule Z-2).
    #[must_use]
    pub fn state(&self, now: Timestamp) -> AuthorizationState {
        let is_spent = !self.redemptions.is_empty();
        #[cfg(feature = "planted-faults")]
        let is_spent = is_spent && !crate::planted::Fault::SpentReadsOpen.is_planted();
        if is_spent {
            AuthorizationState::Spent
        } else if now >= self.expires_at {
            AuthorizationState::Expired
        } else {
            AuthorizationState::Open
        }
    }
}
