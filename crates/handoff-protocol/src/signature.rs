//! Detached signatures over receipts, which verify offline with public keys alone (E-13).
//!
//! A signature stands beside its receipt, never inside it. It covers the digest of the receipt's link, and with it the
//! content, the height and everything before it in the chain.

mod key;
mod key_set;
mod sign;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::digest::Digest;

pub use key::{Jwk, KeyError, PublicKey};
pub use key_set::{Jwks, KeySet, SignatureError};
pub use sign::SigningKey;

/// The one algorithm that receipts are signed with, as [`ReceiptSignature::alg`] names it.
pub const ALGORITHM: &str = "Ed25519";

/// A detached signature of a receipt (E-13).
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct ReceiptSignature {
    /// The algorithm, always `Ed25519`.
    pub alg: String,
    /// The id of the key; ours begin with `rk_`.
    pub kid: String,
    /// The 64 bytes of the signature in base64url without padding.
    pub sig: String,
}

/// Gives the text that is signed: `handoff-receipt-v1 LF kid LF digest`, without a line feed at the end (E-13).
#[must_use]
pub fn signature_input(kid: &str, digest: &Digest) -> String {
    format!("handoff-receipt-v1\n{kid}\n{digest}")
}
