//! The public half: keys that check signatures, and how they are published.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ed25519_dalek::{Signature, Verifier as _, VerifyingKey};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::{ALGORITHM, ReceiptSignature, SignatureError, signature_input};
use crate::digest::Digest;
use crate::id::KeyId;
use crate::timestamp::Timestamp;

/// A key that checks receipt signatures; whoever holds one knows that it is a sound key.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct PublicKey {
    // INVARIANT: not empty, and without control characters, so that the signed text has exactly three lines.
    kid: String,
    // INVARIANT: not of small order, and canonically encoded.
    key: VerifyingKey,
    retired_at: Option<Timestamp>,
}

/// A public key as it is published in a key set (RFC 7517, RFC 8037).
///
/// The members are plain text because a set may hold keys that are not for receipts; [`PublicKey::from_jwk`] tells.
#[derive(Clone, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct Jwk {
    /// The family of keys; `OKP` for ours.
    pub kty: String,
    /// The curve; `Ed25519` for ours.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub crv: Option<String>,
    /// What the key is for; `sig` for ours.
    #[serde(default, rename = "use", skip_serializing_if = "Option::is_none")]
    pub key_use: Option<String>,
    /// The algorithm; `EdDSA` for ours.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alg: Option<String>,
    /// The id of the key; ours begin with `rk_`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kid: Option<String>,
    /// The 32 bytes of the key in base64url without padding.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub x: Option<String>,
    /// Since when the key no longer signs; what it signed stays valid.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retired_at: Option<Timestamp>,
}

/// Why a published key cannot be used; nothing of the key is repeated.
#[derive(Clone, Copy, Debug, Eq, Error, PartialEq)]
#[non_exhaustive]
pub enum KeyError {
    /// The key is of another family, curve, use or algorithm.
    #[error("not an Ed25519 signature key")]
    Unsupported,
    /// The key has no usable id.
    #[error("the key id is missing, empty, or contains control characters")]
    KeyId,
    /// The key is no canonical encoding of a point on the curve.
    #[error("the key is not 32 bytes of a curve point in unpadded base64url")]
    Malformed,
    /// The key is of small order: signatures could be made for it without a private key.
    #[error("the key is of small order and proves nothing")]
    Weak,
    /// Two keys of the set have one id.
    #[error("two keys of the set have the same id")]
    Duplicate,
}

impl PublicKey {
    /// Takes the 32 bytes of a key under an id.
    ///
    /// # Errors
    ///
    /// [`KeyError::KeyId`], [`KeyError::Malformed`] or [`KeyError::Weak`].
    pub fn new(kid: impl Into<String>, bytes: &[u8; 32]) -> Result<Self, KeyError> {
        let kid = kid.into();
        if kid.is_empty() || kid.contains(char::is_control) {
            return Err(KeyError::KeyId);
        }
        let key = VerifyingKey::from_bytes(bytes).map_err(|_| KeyError::Malformed)?;
        if key.is_weak() {
            return Err(KeyError::Weak);
        }
        if key.to_edwards().compress().as_bytes() != bytes {
            return Err(KeyError::Malformed);
        }
        Ok(Self { kid, key, retired_at: None })
    }

    /// Takes the public half of a key that signs here, which is sound by its making.
    pub(super) fn of_signer(kid: KeyId, key: VerifyingKey) -> Self {
        Self { kid: kid.to_string(), key, retired_at: None }
    }

    /// Reads a published key.
    ///
    /// # Errors
    ///
    /// [`KeyError::Unsupported`] if it is for something else, otherwise as for [`new`](Self::new).
    pub fn from_jwk(jwk: &Jwk) -> Result<Self, KeyError> {
        // Others may leave `use` and `alg` out; RFC 7517 makes them optional.
        let fits = |member: &Option<String>, value: &str| member.as_deref().is_none_or(|member| member == value);
        if jwk.kty != "OKP"
            || jwk.crv.as_deref() != Some("Ed25519")
            || !fits(&jwk.key_use, "sig")
            || !fits(&jwk.alg, "EdDSA")
        {
            return Err(KeyError::Unsupported);
        }
        let kid = jwk.kid.as_deref().ok_or(KeyError::KeyId)?;
        let bytes = decode(jwk.x.as_deref().unwrap_or_default()).ok_or(KeyError::Malformed)?;
        Ok(Self { retired_at: jwk.retired_at, ..Self::new(kid, &bytes)? })
    }

    /// Gives the key as it is published.
    #[must_use]
    pub fn to_jwk(&self) -> Jwk {
        Jwk {
            kty: "OKP".to_owned(),
            crv: Some("Ed25519".to_owned()),
            key_use: Some("sig".to_owned()),
            alg: Some("EdDSA".to_owned()),
            kid: Some(self.kid.clone()),
            x: Some(URL_SAFE_NO_PAD.encode(self.key.as_bytes())),
            retired_at: self.retired_at,
        }
    }

    /// Marks the key as no longer signing since an instant; it goes on checking what it signed (E-13).
    #[must_use]
    pub fn retired(self, at: Timestamp) -> Self {
        Self { retired_at: Some(at), ..self }
    }

    /// Gives the id of the key.
    #[must_use]
    pub fn kid(&self) -> &str {
        &self.kid
    }

    /// Gives the 32 bytes of the key.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8; 32] {
        self.key.as_bytes()
    }

    /// Tells since when the key no longer signs, if it is retired.
    #[must_use]
    pub const fn retired_at(&self) -> Option<Timestamp> {
        self.retired_at
    }

    /// Checks a receipt's signature by this key, strictly: one digest and key have one valid signature text (E-13).
    ///
    /// # Errors
    ///
    /// [`SignatureError::UnknownKey`] if the signature names another key, [`SignatureError::Malformed`] if it is no
    /// Ed25519 signature, [`SignatureError::Invalid`] if it is not of this key over this digest.
    pub fn verify(&self, digest: &Digest, signature: &ReceiptSignature) -> Result<(), SignatureError> {
        if signature.kid != self.kid {
            return Err(SignatureError::UnknownKey);
        }
        if signature.alg != ALGORITHM {
            return Err(SignatureError::Malformed);
        }
        let bytes = decode(&signature.sig).ok_or(SignatureError::Malformed)?;
        let (input, signature) = (signature_input(&self.kid, digest), Signature::from_bytes(&bytes));
        // What the library calls strict asks besides that neither point is of small order. Of the key that is known, and
        // of the signature's the bytes tell, since they are compared with the one spelling of the point.
        if is_small_order(signature.r_bytes()) {
            return Err(SignatureError::Invalid);
        }
        self.key.verify(input.as_bytes(), &signature).map_err(|_| SignatureError::Invalid)
    }
}

/// Whether bytes are the one spelling of a point of small order.
fn is_small_order(point: &[u8; 32]) -> bool {
    let mut ordinate = *point;
    // The highest bit is the sign of the other coordinate.
    ordinate[31] &= 0x7f;
    SMALL_ORDINATES.contains(&ordinate)
}

/// The ordinates of the eight points of small order, lowest byte first: of order 4, 1, 2, and twice two of order 8.
const SMALL_ORDINATES: [[u8; 32]; 5] = [
    [0; 32],
    {
        let mut one = [0; 32];
        one[0] = 1;
        one
    },
    {
        // The prime 2^255 - 19, less one.
        let mut bytes = [0xff; 32];
        bytes[0] = 0xec;
        bytes[31] = 0x7f;
        bytes
    },
    [
        0x26, 0xe8, 0x95, 0x8f, 0xc2, 0xb2, 0x27, 0xb0, 0x45, 0xc3, 0xf4, 0x89, 0xf2, 0xef, 0x98, 0xf0, 0xd5, 0xdf,
        0xac, 0x05, 0xd3, 0xc6, 0x33, 0x39, 0xb1, 0x38, 0x02, 0x88, 0x6d, 0x53, 0xfc, 0x05,
    ],
    [
        0xc7, 0x17, 0x6a, 0x70, 0x3d, 0x4d, 0xd8, 0x4f, 0xba, 0x3c, 0x0b, 0x76, 0x0d, 0x10, 0x67, 0x0f, 0x2a, 0x20,
        0x53, 0xfa, 0x2c, 0x39, 0xcc, 0xc6, 0x4e, 0xc7, 0xfd, 0x77, 0x92, 0xac, 0x03, 0x7a,
    ],
];

/// Reads exactly `N` bytes of base64url without padding and without stray bits at its end.
fn decode<const N: usize>(text: &str) -> Option<[u8; N]> {
    URL_SAFE_NO_PAD.decode(text).ok()?.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::digest::hex;

    const KEY: &str = "fb83e7234defb5402d3123ce1753df2e30313285cf194f4b7651bf5530646f98";

    fn key(text: &str) -> Result<PublicKey, KeyError> {
        PublicKey::new("k", &hex::decode(text).unwrap())
    }

    #[test]
    fn keys_of_small_order_are_refused() {
        for point in [
            // Order 4, with either sign.
            "0000000000000000000000000000000000000000000000000000000000000000",
            "0000000000000000000000000000000000000000000000000000000000000080",
            // The neutral element.
            "0100000000000000000000000000000000000000000000000000000000000000",
            // Order 2.
            "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
            // Order 8, all four.
            "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
            "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85",
            "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
            "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa",
        ] {
            assert_eq!(key(point), Err(KeyError::Weak), "{point}");
            assert!(is_small_order(&hex::decode(point).unwrap()), "{point}");
        }
        assert!(!is_small_order(&hex::decode(KEY).unwrap()));
    }

    /// Whoever has a private key can make a signature around the neutral element, for which the equation holds.
    #[test]
    fn a_signature_of_small_order_is_refused_although_its_equation_holds() {
        let key = key("ea4a6c63e29c520abef5507b132ec5f9954776aebebe7b92421eea691446d22c").unwrap();
        let digest = Digest::of("a receipt");
        let sig = "AQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAACnyNkDAFPgOSCYXI7Mrst8_IdhqCjuxj6iOhy2TD2tBA";
        let signature = ReceiptSignature { kid: "k".to_owned(), alg: ALGORITHM.to_owned(), sig: sig.to_owned() };
        let bytes = Signature::from_bytes(&decode(sig).unwrap());
        assert!(key.key.verify(signature_input("k", &digest).as_bytes(), &bytes).is_ok());
        assert_eq!(key.verify(&digest, &signature), Err(SignatureError::Invalid));
    }

    #[test]
    fn keys_that_are_no_canonical_point_are_refused() {
        for (point, fault) in [
            // y = p, which is y = 0 in another spelling and of small order.
            ("edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f", KeyError::Weak),
            // y = p + 3 and y = 3 are the same point, of large order.
            ("f0ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f", KeyError::Malformed),
            // y = 2 is on no point of the curve.
            ("0200000000000000000000000000000000000000000000000000000000000000", KeyError::Malformed),
        ] {
            assert_eq!(key(point), Err(fault), "{point}");
        }
        assert!(key("0300000000000000000000000000000000000000000000000000000000000000").is_ok());
    }

    #[test]
    fn a_key_id_cannot_forge_the_lines_of_the_signed_text() {
        let bytes = hex::decode(KEY).unwrap();
        for kid in ["", "a\nb", "a\r", "\u{0}"] {
            assert_eq!(PublicKey::new(kid, &bytes), Err(KeyError::KeyId));
        }
    }

    #[test]
    fn a_published_key_is_read_back() {
        let key = key(KEY).unwrap().retired(Timestamp::from_unix_seconds(1_785_592_064));
        let text = serde_json::to_string(&key.to_jwk()).unwrap();
        assert_eq!(
            text,
            "{\"kty\":\"OKP\",\"crv\":\"Ed25519\",\"use\":\"sig\",\"alg\":\"EdDSA\",\"kid\":\"k\",\
             \"x\":\"-4PnI03vtUAtMSPOF1PfLjAxMoXPGU9LdlG_VTBkb5g\",\"retired_at\":\"2026-08-01T13:47:44Z\"}"
        );
        assert_eq!(PublicKey::from_jwk(&serde_json::from_str(&text).unwrap()), Ok(key));
    }

    #[test]
    fn a_key_for_something_else_is_not_supported() {
        let good = key(KEY).unwrap().to_jwk();
        let text = |text: &str| Some(text.to_owned());
        for jwk in [
            Jwk { kty: "RSA".to_owned(), ..good.clone() },
            Jwk { crv: text("X25519"), ..good.clone() },
            Jwk { crv: None, ..good.clone() },
            Jwk { key_use: text("enc"), ..good.clone() },
            Jwk { alg: text("ES256"), ..good.clone() },
        ] {
            assert_eq!(PublicKey::from_jwk(&jwk), Err(KeyError::Unsupported));
        }
        assert!(PublicKey::from_jwk(&Jwk { key_use: None, alg: None, ..good.clone() }).is_ok());
        for x in [
            None,
            text(""),
            text("-4PnI03vtUAtMSPOF1PfLjAxMoXPGU9LdlG_VTBkb5g="),
            text("-4PnI03vtUAtMSPOF1PfLjAxMoXPGU9LdlG_VTBkb5h"),
            text("+4PnI03vtUAtMSPOF1PfLjAxMoXPGU9LdlG/VTBkb5g"),
        ] {
            assert_eq!(PublicKey::from_jwk(&Jwk { x, ..good.clone() }), Err(KeyError::Malformed));
        }
        assert_eq!(PublicKey::from_jwk(&Jwk { kid: None, ..good }), Err(KeyError::KeyId));
    }
}
