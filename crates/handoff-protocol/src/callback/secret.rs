//! The secret that sender and receiver of a callback share.

use std::fmt;

use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;
use thiserror::Error;

use crate::digest::{Digest, hex::Hex};
use crate::secret::Secret;

/// A callback secret, such as `whsec_…`; the whole text is the key (H-1).
///
/// `Debug` prints `[redacted]`. There is no id for a secret: naming it would mean to show it (H-5).
#[derive(Clone)]
pub struct CallbackSecret(
    // INVARIANT: not empty.
    Secret<String>,
);

/// An empty text was given as a secret; signing with it would prove nothing.
#[derive(Clone, Copy, Debug, Eq, Error, PartialEq)]
#[error("a callback secret must not be empty")]
pub struct EmptySecret;

impl CallbackSecret {
    /// Takes the text of a secret that was made elsewhere.
    ///
    /// # Errors
    ///
    /// [`EmptySecret`] for the empty text.
    pub fn new(text: impl Into<String>) -> Result<Self, EmptySecret> {
        let text = Secret::new(text.into());
        if text.expose().is_empty() { Err(EmptySecret) } else { Ok(Self(text)) }
    }

    /// Makes a new secret from 32 random bytes (H-4).
    #[must_use]
    pub fn from_entropy(entropy: &Secret<[u8; 32]>) -> Self {
        Self(Secret::new(format!("whsec_{}", Hex(entropy.expose()))))
    }

    /// Lends the text, to be shown to its owner once.
    #[must_use]
    pub fn expose(&self) -> &str {
        self.0.expose()
    }

    /// Computes the signature of an attempt: HMAC-SHA-256 over `1 LF t LF delivery LF hex(SHA-256(body))` (H-1).
    pub(super) fn mac(&self, time: i64, delivery: &str, body: Digest) -> [u8; 32] {
        let input = format!("1\n{time}\n{delivery}\n{}", body.hex());
        #[expect(clippy::expect_used, reason = "HMAC hashes or pads its key, so every length is one that it takes")]
        let mac = Hmac::<Sha256>::new_from_slice(self.expose().as_bytes()).expect("any key length");
        mac.chain_update(input).finalize().into_bytes().into()
    }
}

impl fmt::Debug for CallbackSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[redacted]")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_secret_is_shown_by_its_owner_only() {
        let secret = CallbackSecret::from_entropy(&Secret::new([0xab; 32]));
        assert_eq!(secret.expose(), format!("whsec_{}", "ab".repeat(32)));
        assert_eq!(format!("{secret:?}"), "[redacted]");
    }

    #[test]
    fn an_empty_secret_is_refused() {
        assert_eq!(CallbackSecret::new("").unwrap_err(), EmptySecret);
    }
}
