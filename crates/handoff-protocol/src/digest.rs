//! Digests: the one form that is emitted, and the wider one that is accepted (B-7).

pub(crate) mod hex;

use std::fmt;
use std::str::FromStr;

use sha2::{Digest as _, Sha256};

use self::hex::Hex;
use crate::id::text::text_value;
use crate::json::{Json, NotCanonical};

/// A SHA-256 digest, written `sha256:` and 64 lowercase hexadecimal characters (B-7).
///
/// ```
/// use handoff_protocol::digest::Digest;
///
/// let digest = Digest::of(b"");
/// assert_eq!(digest.to_string(), "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
/// ```
#[derive(Clone, Copy, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Digest([u8; 32]);

/// A digest of any algorithm, as a caller may submit it; the text is kept as it came (B-7).
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct AnyDigest(String);

/// Why a text is no digest; the text itself is never repeated.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum DigestError {
    /// The text is not a digest of the one form that is emitted.
    #[error("expected `sha256:` followed by 64 lowercase hexadecimal characters")]
    Sha256,
    /// The text is not a digest of any algorithm.
    #[error("expected an algorithm name, a colon, and 32 to 128 lowercase hexadecimal characters")]
    Any,
}

impl Digest {
    const PREFIX: &'static str = "sha256:";

    /// Hashes bytes.
    #[must_use]
    pub fn of(bytes: impl AsRef<[u8]>) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// Hashes bytes that come in parts, as one.
    #[must_use]
    pub fn of_parts(parts: impl IntoIterator<Item = impl AsRef<[u8]>>) -> Self {
        let mut hash = Sha256::new();
        parts.into_iter().for_each(|part| hash.update(part));
        Self(hash.finalize().into())
    }

    /// Hashes the canonical text of a JSON value (B-8).
    ///
    /// # Errors
    ///
    /// [`NotCanonical`] if the value holds a number that has no canonical text (N-6).
    pub fn of_json(value: &Json) -> Result<Self, NotCanonical> {
        value.canonical().map(Self::of)
    }

    /// Gives the digest of all zeros, which stands before the first link of a chain (E-7).
    #[must_use]
    pub const fn zero() -> Self {
        Self([0; 32])
    }

    /// Takes the 32 bytes of a digest that was computed elsewhere.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// Gives the 32 bytes.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// Gives the 64 hexadecimal characters without the prefix.
    #[must_use]
    pub fn hex(&self) -> String {
        Hex(&self.0).to_string()
    }

    /// Reads the emitted form.
    ///
    /// # Errors
    ///
    /// [`DigestError::Sha256`] for any other text.
    pub fn parse(text: &str) -> Result<Self, DigestError> {
        text.strip_prefix(Self::PREFIX).and_then(hex::decode).map(Self).ok_or(DigestError::Sha256)
    }
}

impl AnyDigest {
    /// Reads `algorithm:hex`, with 32 to 128 hexadecimal characters.
    ///
    /// # Errors
    ///
    /// [`DigestError::Any`] for any other text.
    pub fn parse(text: &str) -> Result<Self, DigestError> {
        let (algorithm, hex) = text.split_once(':').ok_or(DigestError::Any)?;
        let named = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-');
        let legal = !algorithm.is_empty()
            && algorithm.bytes().all(named)
            && (32..=128).contains(&hex.len())
            && hex.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        if legal { Ok(Self(text.to_owned())) } else { Err(DigestError::Any) }
    }

    /// Gives the text as it came.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for Digest {
    type Err = DigestError;

    fn from_str(text: &str) -> Result<Self, DigestError> {
        Self::parse(text)
    }
}

impl FromStr for AnyDigest {
    type Err = DigestError;

    fn from_str(text: &str) -> Result<Self, DigestError> {
        Self::parse(text)
    }
}

impl From<Digest> for AnyDigest {
    fn from(digest: Digest) -> Self {
        Self(digest.to_string())
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(Self::PREFIX)?;
        Hex(&self.0).fmt(f)
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for AnyDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

text_value!(Digest, "Digest", "a text that begins with `sha256:`", {
    "type": "string",
    "pattern": "^sha256:[0-9a-f]{64}$",
});

text_value!(AnyDigest, "AnyDigest", "a digest such as `sha256:…`", {
    "type": "string",
    "pattern": "^[a-z0-9-]+:[0-9a-f]{32,128}$",
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_emitted_form_is_read_back() {
        let text = Digest::of(b"x").to_string();
        assert_eq!(Digest::parse(&text), Ok(Digest::of(b"x")));
        assert_eq!(format!("sha256:{}", Digest::of(b"x").hex()), text);
        for refused in [
            "",
            "sha256:",
            "sha256:abc",
            &text.to_uppercase(),
            &text.replace("sha256", "sha512"),
            &format!("{text}0"),
            &format!(" {text}"),
        ] {
            assert_eq!(Digest::parse(refused), Err(DigestError::Sha256), "{refused}");
        }
    }

    #[test]
    fn json_is_hashed_in_its_canonical_text() {
        let value = crate::json::read_str(r#"{ "b": 4.0, "a": "x" }"#).unwrap();
        assert_eq!(Digest::of_json(&value), Ok(Digest::of(r#"{"a":"x","b":4}"#)));
        assert!(Digest::of_json(&crate::json::read_str("[0.5]").unwrap()).is_err());
    }

    #[test]
    fn the_zero_digest_is_sixty_four_zeros() {
        assert_eq!(Digest::zero().to_string(), format!("sha256:{}", "0".repeat(64)));
    }

    #[test]
    fn a_submitted_digest_may_be_of_any_algorithm() {
        let (short, long) = ("0".repeat(32), "f".repeat(128));
        for accepted in [format!("md5:{short}"), format!("blake2b-512:{long}"), format!("-:{short}")] {
            assert_eq!(AnyDigest::parse(&accepted).unwrap().as_str(), accepted);
        }
        for refused in [
            format!(":{short}"),
            format!("MD5:{short}"),
            format!("md5:{short}G"),
            format!("md5:0{long}"),
            format!("a:b:{short}"),
            short,
        ] {
            assert_eq!(AnyDigest::parse(&refused), Err(DigestError::Any), "{refused}");
        }
    }

    #[test]
    fn a_digest_is_a_string_in_json_and_in_the_schema() {
        let text = format!("\"{}\"", Digest::zero());
        assert_eq!(serde_json::from_str::<Digest>(&text).unwrap(), Digest::zero());
        assert_eq!(serde_json::to_string(&Digest::zero()).unwrap(), text);
        let schema = serde_json::to_value(schemars::schema_for!(Digest)).unwrap();
        assert_eq!(schema["pattern"], "^sha256:[0-9a-f]{64}$");
    }
}
