//! All keys that ever signed, and checking a signature against them.

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::{Jwk, KeyError, PublicKey, ReceiptSignature};
use crate::digest::Digest;

/// A key set as it is published (RFC 7517).
#[derive(Clone, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct Jwks {
    /// The keys, retired ones included.
    pub keys: Vec<Jwk>,
}

/// The keys that a verifier trusts, by their ids.
///
/// Retired keys stay in the set, and what they signed stays valid. A signature by a key that is not in the set is
/// rejected; no other key is tried (E-13).
#[derive(Clone, Debug, Default)]
pub struct KeySet(IndexMap<String, PublicKey>);

/// Why a signature does not count; nothing of it is repeated.
#[derive(Clone, Copy, Debug, Eq, Error, PartialEq)]
#[non_exhaustive]
pub enum SignatureError {
    /// The signature names a key that is not trusted here.
    #[error("the signature names an unknown key")]
    UnknownKey,
    /// The signature is not 64 bytes of Ed25519 in unpadded base64url.
    #[error("the signature is malformed")]
    Malformed,
    /// The named key did not sign this digest.
    #[error("the signature is not valid for this receipt")]
    Invalid,
}

impl KeySet {
    /// Makes a set of keys.
    ///
    /// # Errors
    ///
    /// [`KeyError::Duplicate`] if two keys have one id.
    pub fn new(keys: impl IntoIterator<Item = PublicKey>) -> Result<Self, KeyError> {
        let mut set = Self::default();
        keys.into_iter().try_for_each(|key| set.add(key))?;
        Ok(set)
    }

    /// Reads a published key set; keys of another family or use are passed over, as RFC 7517 asks.
    ///
    /// # Errors
    ///
    /// [`KeyError`] of the first Ed25519 key that cannot be used, or [`KeyError::Duplicate`]: a set with one bad key is
    /// refused as a whole.
    pub fn from_jwks(jwks: &Jwks) -> Result<Self, KeyError> {
        let usable = jwks.keys.iter().map(PublicKey::from_jwk).filter(|key| *key != Err(KeyError::Unsupported));
        Self::new(usable.collect::<Result<Vec<_>, _>>()?)
    }

    /// Adds a key.
    ///
    /// # Errors
    ///
    /// [`KeyError::Duplicate`] if the set has a key of that id, even an equal one; the set is unchanged then.
    pub fn add(&mut self, key: PublicKey) -> Result<(), KeyError> {
        match self.0.entry(key.kid().to_owned()) {
            indexmap::map::Entry::Occupied(_) => Err(KeyError::Duplicate),
            indexmap::map::Entry::Vacant(place) => {
                place.insert(key);
                Ok(())
            }
        }
    }

    /// Gives the set as it is published, keys in the order in which they were added.
    #[must_use]
    pub fn to_jwks(&self) -> Jwks {
        Jwks { keys: self.iter().map(PublicKey::to_jwk).collect() }
    }

    /// Gives the key of an id.
    #[must_use]
    pub fn get(&self, kid: &str) -> Option<&PublicKey> {
        self.0.get(kid)
    }

    /// Walks over the keys in the order in which they were added.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &PublicKey> {
        self.0.values()
    }

    /// Checks a receipt's signature with the key that it names, and gives that key (E-13).
    ///
    /// # Errors
    ///
    /// [`SignatureError::UnknownKey`] if that key is not in the set, otherwise as for [`PublicKey::verify`].
    pub fn verify(&self, digest: &Digest, signature: &ReceiptSignature) -> Result<&PublicKey, SignatureError> {
        let key = self.get(&signature.kid).ok_or(SignatureError::UnknownKey)?;
        key.verify(digest, signature).map(|()| key)
    }
}

#[cfg(test)]
mod tests {
    use base64::Engine as _;
    use base64::engine::general_purpose::URL_SAFE_NO_PAD;

    use super::super::SigningKey;
    use super::*;
    use crate::id::KeyId;
    use crate::secret::Secret;
    use crate::timestamp::Timestamp;

    fn signer(kid: &str, seed: u8) -> SigningKey {
        SigningKey::from_seed(KeyId::parse(kid).unwrap(), &Secret::new([seed; 32]))
    }

    const OLD: &str = "rk_01K3MB2R4Y8ZC4YRXB2N6VD9FT";
    const NEW: &str = "rk_01K3MB2R4Y8ZC4YRXB2N6VD9FV";

    #[test]
    fn a_retired_key_still_verifies_what_it_signed() {
        let (old, new, digest) = (signer(OLD, 1), signer(NEW, 2), Digest::of("receipt"));
        let set = KeySet::new([old.public_key().retired(Timestamp::EPOCH), new.public_key()]).unwrap();
        let published = serde_json::to_string(&set.to_jwks()).unwrap();
        let set = KeySet::from_jwks(&serde_json::from_str(&published).unwrap()).unwrap();
        assert_eq!(set.verify(&digest, &old.sign(&digest)).unwrap().retired_at(), Some(Timestamp::EPOCH));
        assert_eq!(set.verify(&digest, &new.sign(&digest)).unwrap().retired_at(), None);
    }

    #[test]
    fn an_unknown_key_is_rejected_without_trying_another() {
        let (old, digest) = (signer(OLD, 1), Digest::of("receipt"));
        let set = KeySet::new([old.public_key()]).unwrap();
        let signature = ReceiptSignature { kid: NEW.to_owned(), ..old.sign(&digest) };
        assert_eq!(set.verify(&digest, &signature), Err(SignatureError::UnknownKey));
    }

    #[test]
    fn a_signature_does_not_move_to_another_digest_or_key_id() {
        let (old, digest) = (signer(OLD, 1), Digest::of("receipt"));
        // The same key bytes under both ids: only the id in the signed text tells them apart.
        let set = KeySet::new([old.public_key(), signer(NEW, 1).public_key()]).unwrap();
        let signature = old.sign(&digest);
        assert!(set.verify(&digest, &signature).is_ok());
        assert_eq!(set.verify(&Digest::of("other"), &signature), Err(SignatureError::Invalid));
        let renamed = ReceiptSignature { kid: NEW.to_owned(), ..signature };
        assert_eq!(set.verify(&digest, &renamed), Err(SignatureError::Invalid));
    }

    #[test]
    fn a_second_spelling_of_a_signature_is_refused() {
        let (old, digest) = (signer(OLD, 1), Digest::of("receipt"));
        let set = KeySet::new([old.public_key()]).unwrap();
        let signature = old.sign(&digest);
        let mut bytes: Vec<u8> = URL_SAFE_NO_PAD.decode(&signature.sig).unwrap();
        add_group_order(&mut bytes[32..]);
        let shifted = ReceiptSignature { sig: URL_SAFE_NO_PAD.encode(bytes), ..signature };
        assert_eq!(set.verify(&digest, &shifted), Err(SignatureError::Invalid));
    }

    #[test]
    fn what_is_no_signature_is_malformed() {
        let (old, digest) = (signer(OLD, 1), Digest::of("receipt"));
        let set = KeySet::new([old.public_key()]).unwrap();
        let good = old.sign(&digest);
        let padded = format!("{}==", good.sig);
        for sig in ["", "AAAA", "not base64!", padded.as_str()] {
            let signature = ReceiptSignature { sig: sig.to_owned(), ..good.clone() };
            assert_eq!(set.verify(&digest, &signature), Err(SignatureError::Malformed), "{sig}");
        }
        let other = ReceiptSignature { alg: "EdDSA".to_owned(), ..good };
        assert_eq!(set.verify(&digest, &other), Err(SignatureError::Malformed));
    }

    #[test]
    fn two_keys_of_one_id_are_refused() {
        let jwk = signer(OLD, 1).public_key().to_jwk();
        let twice = Jwks { keys: vec![jwk.clone(), jwk.clone()] };
        assert_eq!(KeySet::from_jwks(&twice).unwrap_err(), KeyError::Duplicate);
        let foreign = Jwks { keys: vec![Jwk { kty: "RSA".to_owned(), ..jwk.clone() }, jwk] };
        assert_eq!(KeySet::from_jwks(&foreign).unwrap().iter().len(), 1);
    }

    #[test]
    fn a_set_with_one_weak_key_is_refused() {
        let good = signer(OLD, 1).public_key().to_jwk();
        let weak = Jwk { x: Some(URL_SAFE_NO_PAD.encode([0; 32])), kid: Some("weak".to_owned()), ..good.clone() };
        assert_eq!(KeySet::from_jwks(&Jwks { keys: vec![good, weak] }).unwrap_err(), KeyError::Weak);
    }

    /// Adds L, the order of the group, to a little-endian scalar: the same scalar in effect, spelled above the range.
    fn add_group_order(scalar: &mut [u8]) {
        let mut order = [0_u8; 32];
        order[..16].copy_from_slice(&0x14de_f9de_a2f7_9cd6_5812_631a_5cf5_d3ed_u128.to_le_bytes());
        order[31] = 0x10;
        let mut carry = 0;
        for (digit, added) in scalar.iter_mut().zip(order) {
            let sum = u16::from(*digit) + u16::from(added) + carry;
            *digit = sum.to_le_bytes()[0];
            carry = sum >> 8;
        }
    }
}
