//! The private half: signing receipts.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ed25519_dalek::Signer as _;

use super::{ALGORITHM, PublicKey, ReceiptSignature, signature_input};
use crate::digest::Digest;
use crate::id::KeyId;
use crate::secret::Secret;

/// A key that signs receipts; it cannot be read back, and it is wiped from memory when dropped (E-13).
pub struct SigningKey {
    kid: KeyId,
    key: ed25519_dalek::SigningKey,
}

impl SigningKey {
    /// Derives the key from its 32-byte seed, which is the private key of RFC 8032.
    #[must_use]
    pub fn from_seed(kid: KeyId, seed: &Secret<[u8; 32]>) -> Self {
        Self { kid, key: ed25519_dalek::SigningKey::from_bytes(seed.expose()) }
    }

    /// Gives the id that signatures of this key carry.
    #[must_use]
    pub const fn kid(&self) -> KeyId {
        self.kid
    }

    /// Gives the public half, for publication.
    #[must_use]
    pub fn public_key(&self) -> PublicKey {
        PublicKey::of_signer(self.kid, self.key.verifying_key())
    }

    /// Signs a receipt by the digest of its link.
    ///
    /// The same key and digest give the same signature, so signing again after a lost answer changes nothing.
    #[must_use]
    pub fn sign(&self, digest: &Digest) -> ReceiptSignature {
        let kid = self.kid.to_string();
        let sig = self.key.sign(signature_input(&kid, digest).as_bytes());
        ReceiptSignature { alg: ALGORITHM.to_owned(), kid, sig: URL_SAFE_NO_PAD.encode(sig.to_bytes()) }
    }
}

impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SigningKey").field("kid", &self.kid).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_shows_the_key_id_and_nothing_of_the_key() {
        let kid = KeyId::parse("rk_01K3MB2R4Y8ZC4YRXB2N6VD9FT").unwrap();
        let key = SigningKey::from_seed(kid, &Secret::new([7; 32]));
        assert_eq!(format!("{key:?}"), "SigningKey { kid: rk_01K3MB2R4Y8ZC4YRXB2N6VD9FT, .. }");
    }
}
