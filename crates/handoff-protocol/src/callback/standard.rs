//! The second format of a push: the headers of Standard Webhooks, for receivers that verify with a library of that
//! scheme.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;
use thiserror::Error;
use zeroize::Zeroizing;

use super::CallbackSecret;
use crate::{id::DeliveryId, timestamp::Timestamp};

/// The delivery id, the same in every attempt of one signal.
pub const WEBHOOK_ID_HEADER: &str = "webhook-id";
/// When the attempt was signed, in seconds since the epoch.
pub const WEBHOOK_TIMESTAMP_HEADER: &str = "webhook-timestamp";
/// `v1,<base64>`, one for each active secret, separated by spaces.
pub const WEBHOOK_SIGNATURE_HEADER: &str = "webhook-signature";

/// What a secret of this scheme begins with.
const PREFIX: &str = "whsec_";
/// How many bytes a key of this scheme has.
const KEY_BYTES: std::ops::RangeInclusive<usize> = 24..=64;

/// An attempt cannot be signed in this format.
#[derive(Clone, Copy, Debug, Eq, Error, PartialEq)]
#[non_exhaustive]
pub enum StandardError {
    /// There is no secret to sign with.
    #[error("there is no active callback secret to sign with")]
    NoActiveSecret,
    /// A secret is not one of this scheme.
    #[error("a secret for Standard Webhooks is `whsec_` and the base64 of 24 to 64 bytes")]
    NotStandard,
}

impl CallbackSecret {
    /// Checks that the secret can sign in this format too.
    ///
    /// # Errors
    ///
    /// [`StandardError::NotStandard`].
    pub fn check_standard(&self) -> Result<(), StandardError> {
        self.standard_key().map(drop)
    }

    fn standard_key(&self) -> Result<Zeroizing<Vec<u8>>, StandardError> {
        let text = self.expose().strip_prefix(PREFIX).ok_or(StandardError::NotStandard)?;
        let key = Zeroizing::new(STANDARD.decode(text).map_err(|_| StandardError::NotStandard)?);
        if KEY_BYTES.contains(&key.len()) { Ok(key) } else { Err(StandardError::NotStandard) }
    }
}

/// Signs one attempt and gives the value of the [`webhook-signature`](WEBHOOK_SIGNATURE_HEADER) header: HMAC-SHA-256 over
/// id, time and body, joined by full stops. The time is [`standard_time`], sent beside it.
///
/// # Errors
///
/// [`StandardError`].
pub fn sign_standard(
    secrets: &[CallbackSecret],
    at: Timestamp,
    delivery: DeliveryId,
    body: &[u8],
) -> Result<String, StandardError> {
    if secrets.is_empty() {
        return Err(StandardError::NoActiveSecret);
    }
    let mut signatures = Vec::with_capacity(secrets.len());
    for secret in secrets {
        let key = secret.standard_key()?;
        let mac = Hmac::<Sha256>::new_from_slice(&key).map_err(|_| StandardError::NotStandard)?;
        let mac = mac.chain_update(format!("{delivery}.{}.", standard_time(at))).chain_update(body).finalize();
        signatures.push(format!("v1,{}", STANDARD.encode(mac.into_bytes())));
    }
    Ok(signatures.join(" "))
}

/// The value of the [`webhook-timestamp`](WEBHOOK_TIMESTAMP_HEADER) header.
#[must_use]
pub fn standard_time(at: Timestamp) -> String {
    at.unix_seconds().max(0).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIRST: &str = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYX";
    const SECOND: &str = "whsec_//79/Pv6+fj39vX08/Lx8O/u7ezr6uno5+bl5OPi4eA=";

    fn signed(secrets: &[&str]) -> Result<String, StandardError> {
        let secrets: Vec<_> = secrets.iter().map(|text| CallbackSecret::new(*text).unwrap()).collect();
        let delivery = DeliveryId::parse("dlv_01K3MB2R6C8ZC4YRXB2N6VD9FT").unwrap();
        sign_standard(
            &secrets,
            Timestamp::from_unix_seconds(1_785_592_064),
            delivery,
            r#"{"id":"sig_1","é":1}"#.as_bytes(),
        )
    }

    #[test]
    fn signatures_are_those_that_python_computes() {
        // base64(hmac.new(base64.b64decode(key), f"{id}.{time}.".encode() + body, "sha256").digest())
        assert_eq!(signed(&[FIRST]).unwrap(), "v1,jZzK0rPX3Cr5DmR7tVkdLOtiM7yQyBpw1tqfSBVxV8A=");
        assert_eq!(
            signed(&[SECOND, FIRST]).unwrap(),
            "v1,3fDmCPh/qMdzfzgzaiDYECZWLG5pGe42eVtLxhgpnXM= v1,jZzK0rPX3Cr5DmR7tVkdLOtiM7yQyBpw1tqfSBVxV8A="
        );
    }

    #[test]
    fn a_secret_that_is_no_key_of_this_scheme_signs_nothing() {
        assert_eq!(signed(&[]).unwrap_err(), StandardError::NoActiveSecret);
        for text in ["whsec_", "whsec_shared", "AAECAwQFBgcICQoLDA0ODxAREhMUFRYX", "whsec_AAEC"] {
            assert_eq!(signed(&[FIRST, text]).unwrap_err(), StandardError::NotStandard, "{text}");
        }
        let made = CallbackSecret::from_entropy(&crate::secret::Secret::new([0xab; 32]));
        assert_eq!(made.check_standard(), Ok(()), "what is made here signs in both formats");
    }
}
