//! Redeem: one authorization, one effect (section 15).

use super::{
    authorization::{Authorization, Redemption},
    context::check_machine,
    error::DecisionError,
    limits,
    owner::check_test_key,
};
use crate::{
    digest::AnyDigest,
    json::{Json, ObjectReader},
    principal::{Principal, Scope},
    timestamp::Timestamp,
};

/// A redemption that can be carried out.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Redeem {
    effect_key: String,
    effect_digest: Option<AnyDigest>,
}

impl Redeem {
    /// Reads the body of a redemption by a principal.
    ///
    /// # Errors
    ///
    /// [`DecisionError::InsufficientScope`] for whoever may not redeem (rule P-8), then
    /// [`DecisionError::InvalidRequest`].
    pub fn read(principal: &Principal, body: &Json) -> Result<Self, DecisionError> {
        check_machine(principal, Scope::AuthorizationsRedeem)?;
        let reader = ObjectReader::new(body, "")?;
        let redeem = Self {
            effect_key: reader.text("effect_key", 1, limits::EFFECT_KEY_CHARS)?.to_owned(),
            effect_digest: reader
                .optional_string("effect_digest")?
                .map(|text| {
                    AnyDigest::parse(text)
                        .map_err(|error| reader.error("effect_digest", format!("is not a digest: {error}")))
                })
                .transpose()?,
        };
        reader.finish()?;
        Ok(redeem)
    }
}

/// What a redemption comes to.
#[derive(Clone, Debug, PartialEq)]
#[must_use]
pub enum Redeemed {
    /// The effect may happen now; the authorization is spent on it.
    First {
        /// The authorization with its redemption.
        authorization: Box<Authorization>,
        /// When.
        redeemed_at: Timestamp,
    },
    /// The same effect again: nothing changes, and the effect must not happen again.
    Repeat {
        /// When it was first redeemed.
        redeemed_at: Timestamp,
    },
}

/// Redeems an authorization for an effect, in the order of rule Z-4: a known effect first, then expiry, then use.
///
/// # Errors
///
/// [`DecisionError::InsufficientScope`] for a test key on what is no test; [`DecisionError::EffectDigestMismatch`],
/// [`DecisionError::AuthorizationExpired`],
/// [`DecisionError::AuthorizationSpent`]; none of them has an effect.
pub fn redeem(
    authorization: &Authorization,
    command: &Redeem,
    principal: &Principal,
    now: Timestamp,
) -> Result<Redeemed, DecisionError> {
    check_test_key(principal, authorization.test_mode)?;
    let request_id = authorization.request_id;
    #[cfg(feature = "planted-faults")]
    if let Some(again) = super::planted::redeemed_again(authorization, &command.effect_key, now) {
        return Ok(again);
    }
    if let Some(known) = authorization.redemptions.iter().find(|known| known.effect_key == command.effect_key) {
        // What the raise declared binds every redemption; otherwise the first redemption's digest does (rule Z-6).
        let bound = authorization.bound_to.effect_digest.as_ref().or(known.effect_digest.as_ref());
        #[cfg(feature = "planted-faults")]
        let bound = bound.filter(|_| !crate::planted::Fault::EffectDigestUnchecked.is_planted());
        if bound.is_some() && bound != command.effect_digest.as_ref() {
            return Err(DecisionError::EffectDigestMismatch { request_id });
        }
        return Ok(Redeemed::Repeat { redeemed_at: known.redeemed_at });
    }
    let bound = authorization.bound_to.effect_digest.as_ref();
    #[cfg(feature = "planted-faults")]
    let bound = bound.filter(|_| !crate::planted::Fault::EffectDigestUnchecked.is_planted());
    if let Some(bound) = bound
        && command.effect_digest.as_ref() != Some(bound)
    {
        return Err(DecisionError::EffectDigestMismatch { request_id });
    }
    if now >= authorization.expires_at {
        return Err(DecisionError::AuthorizationExpired { request_id, expired_at: authorization.expires_at });
    }
    let is_spent = authorization.single_use && !authorization.redemptions.is_empty();
    #[cfg(feature = "planted-faults")]
    let is_spent = is_spent && !crate::planted::Fault::SecondEffectRedeems.is_planted();
    if is_spent {
        return Err(DecisionError::AuthorizationSpent { request_id });
    }
    let mut authorization = authorization.clone();
    authorization.redemptions.push(Redemption {
        effect_key: command.effect_key.clone(),
        redeemed_at: now,
        effect_digest: command.effect_digest.clone(),
    });
    Ok(Redeemed::First { authorization: Box::new(authorization), redeemed_at: now })
}
