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
    fn the_published_vectors_are_reproduced() {
        let mac = |secret: &str, time, delivery, body: &str| {
            let body = Digest::parse(&format!("sha256:{body}")).unwrap();
            Hex(&CallbackSecret::new(secret).unwrap().mac(time, delivery, body)).to_string()
        };
        let (a, b) = ("whsec_2f8a91c4e7b3d05a6c1e9f47b28d3a05", "whsec_9d41c07be5a2f36819b4d0e7c5a81f62");
        let (time, delivery) = (1_785_592_064, "dlv_01K3MB2R6C8ZC4YRXB2N6VD9FT");
        let body = "fbd6ec4cacc7cb9c9371d2791f946535e3d391a0594a92b5a3a27dd34f5e94fa";
        let tampered = "8d1b25a370b6de9d1a504ca1acfe97dc7abe10d4c12b0d33dfaf74f5114eb019";
        let other_delivery = "dlv_01K3MB2R6D8ZC4YRXB2N6VD9FT";
        for (computed, published) in [
            (mac(a, time, delivery, body), "cae13126f8dcd1e918376aa373be2757db7281a3e5aaed2d83d716537e03de80"),
            (mac(b, time, delivery, body), "d86b3740bad654e46c1349614523a476be0eb7d6a30a798b2d475374f36c57eb"),
            (mac(a, time, delivery, tampered), "621af1622c79ccb0d444ae046dae7db4a8e5b96c6ae0d9bd574ff8bc0be26a66"),
            (mac(a, time, other_delivery, body), "9a674a003d0507ad13369a6bd82713769116a276ec57f26eb2637b2af00f8e68"),
            (mac(a, time - 301, delivery, body), "6f40cf77c3db156e8737145f4e922ed118b481d048c500f5ec979d9949d699b8"),
        ] {
            assert_eq!(computed, published);
        }
    }

    #[test]
    fn an_empty_secret_is_refused() {
        assert_eq!(CallbackSecret::new("").unwrap_err(), EmptySecret);
    }
}
