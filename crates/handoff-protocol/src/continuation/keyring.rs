//! The keys that payloads are sealed with: the first seals, each opens.

use std::fmt;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use hmac::{Hmac, KeyInit as _, Mac as _};
use serde::{Deserialize, Serialize};
use sha2::Sha256;
use zeroize::Zeroizing;

use super::{OpenError, Sealed};
use crate::{
    digest::hex::{self, Hex},
    secret::Secret,
};

/// How long a key's name may be.
const NAME_CHARS: usize = 64;
/// What a key is recognized by: the beginning of its MAC of this.
const CHECKED: &[u8] = b"handoff-continuation-key-check-v1";
/// How much of the MAC is kept: enough that two keys never have the same by chance, too little to work back from.
const CHECK_BYTES: usize = 8;

/// The name of a key: what is kept beside everything that the key sealed. It tells nothing about the key.
#[derive(Clone, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(transparent)]
pub struct ContinuationKeyId(String);

/// A key with its name. `Debug` shows the name alone.
#[derive(Clone)]
pub struct ContinuationKey {
    id: ContinuationKeyId,
    pub(super) bytes: Secret<[u8; 32]>,
    /// What is kept beside everything that it sealed: another key of the same name has another.
    pub(super) check: String,
}

/// All keys of a deployment.
#[derive(Clone, Debug)]
pub struct Keyring {
    // INVARIANT: at least one, no two of one name.
    keys: Vec<ContinuationKey>,
}

/// A key, or the ring of them, is not what it must be. Nothing of a key is repeated.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum BadKey {
    /// A key has no name, or one that is no name.
    #[error("a continuation key has a name of 1 to 64 letters, digits, `-`, `_` and `.`, then a colon, then the key")]
    Name,
    /// A key is not 32 bytes.
    #[error("a continuation key is 32 bytes, written as 44 characters of base64 or 64 of hexadecimal")]
    Bytes,
    /// Two keys have one name.
    #[error("two continuation keys have the same name")]
    Twice,
    /// There is no key at all.
    #[error("there is no continuation key")]
    None,
}

impl ContinuationKeyId {
    /// The name as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ContinuationKeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl ContinuationKey {
    /// Reads a key as configuration writes it: its name, a colon, and its 32 bytes as base64 or hexadecimal.
    ///
    /// ```
    /// use handoff_protocol::continuation::ContinuationKey;
    ///
    /// let key = ContinuationKey::parse("2026-10:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=")?;
    /// assert_eq!(key.id().as_str(), "2026-10");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`BadKey::Name`], [`BadKey::Bytes`].
    pub fn parse(text: &str) -> Result<Self, BadKey> {
        let (name, key) = text.split_once(':').ok_or(BadKey::Name)?;
        let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
        if name.is_empty() || name.len() > NAME_CHARS || !name.bytes().all(fits) {
            return Err(BadKey::Name);
        }
        let bytes = hex::decode(&key.to_ascii_lowercase()).map_or_else(|| from_base64(key), Ok)?;
        let bytes = Secret::new(bytes);
        let check = check_of(&bytes)?;
        Ok(Self { id: ContinuationKeyId(name.to_owned()), bytes, check })
    }

    /// Its name.
    #[must_use]
    pub fn id(&self) -> &ContinuationKeyId {
        &self.id
    }
}

fn check_of(key: &Secret<[u8; 32]>) -> Result<String, BadKey> {
    let mac = Hmac::<Sha256>::new_from_slice(key.expose()).map_err(|_| BadKey::Bytes)?;
    let mac: [u8; 32] = mac.chain_update(CHECKED).finalize().into_bytes().into();
    Ok(Hex(mac.first_chunk::<CHECK_BYTES>().ok_or(BadKey::Bytes)?).to_string())
}

fn from_base64(text: &str) -> Result<[u8; 32], BadKey> {
    let bytes = Zeroizing::new(STANDARD.decode(text).map_err(|_| BadKey::Bytes)?);
    <[u8; 32]>::try_from(bytes.as_slice()).map_err(|_| BadKey::Bytes)
}

impl fmt::Debug for ContinuationKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ContinuationKey").field(&self.id).finish()
    }
}

impl Keyring {
    /// A ring of keys: the first seals, every one opens what it sealed.
    ///
    /// # Errors
    ///
    /// [`BadKey::None`], [`BadKey::Twice`].
    pub fn new(keys: impl IntoIterator<Item = ContinuationKey>) -> Result<Self, BadKey> {
        let keys: Vec<ContinuationKey> = keys.into_iter().collect();
        let mut names: Vec<&ContinuationKeyId> = keys.iter().map(ContinuationKey::id).collect();
        names.sort_unstable();
        let twice = names.array_windows().any(|[one, next]| one == next);
        match keys.first() {
            None => Err(BadKey::None),
            Some(_) if twice => Err(BadKey::Twice),
            Some(_) => Ok(Self { keys }),
        }
    }

    /// The names of the keys, the one that seals first.
    pub fn ids(&self) -> impl Iterator<Item = &ContinuationKeyId> {
        self.keys.iter().map(ContinuationKey::id)
    }

    /// Whether a key of this name is there.
    #[must_use]
    pub fn has(&self, id: &ContinuationKeyId) -> bool {
        self.get(id).is_some()
    }

    /// Whether what was sealed can open at all: by its key's name, and by the very key.
    ///
    /// # Errors
    ///
    /// [`OpenError::UnknownKey`], [`OpenError::OtherKey`].
    pub fn check(&self, sealed: &Sealed) -> Result<(), OpenError> {
        self.key_of(sealed).map(drop)
    }

    /// The key that sealed something.
    pub(super) fn key_of(&self, sealed: &Sealed) -> Result<&ContinuationKey, OpenError> {
        let key = self.get(&sealed.key).ok_or_else(|| OpenError::UnknownKey(sealed.key.clone()))?;
        match sealed.check.as_ref() {
            Some(check) if *check != key.check => Err(OpenError::OtherKey(sealed.key.clone())),
            _ => Ok(key),
        }
    }

    pub(super) fn current(&self) -> Option<&ContinuationKey> {
        self.keys.first()
    }

    fn get(&self, id: &ContinuationKeyId) -> Option<&ContinuationKey> {
        self.keys.iter().find(|key| key.id == *id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEX: &str = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";

    #[test]
    fn both_spellings_of_a_key_are_one_key_and_print_nothing_of_it() {
        let hex = ContinuationKey::parse(&format!("a:{HEX}")).unwrap();
        let base64 = ContinuationKey::parse("a:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=").unwrap();
        assert_eq!(hex.bytes.expose(), base64.bytes.expose());
        assert_eq!(format!("{hex:?}"), r#"ContinuationKey(ContinuationKeyId("a"))"#);
    }

    #[test]
    fn what_is_no_key_is_refused_and_not_repeated() {
        for text in ["", HEX, ":AAEC", "a b:AAEC", "é:AAEC", &format!("{}:{HEX}", "n".repeat(65))] {
            assert_eq!(ContinuationKey::parse(text).unwrap_err(), BadKey::Name, "{text}");
        }
        let padless = "a:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8";
        for text in ["a:", "a:AAEC", padless, &format!("a:{HEX}00"), &format!("a:{}", HEX.strip_prefix("00").unwrap())]
        {
            assert_eq!(ContinuationKey::parse(text).unwrap_err(), BadKey::Bytes, "{text}");
        }
    }

    #[test]
    fn a_ring_has_a_key_and_no_name_twice() {
        let key = |name: &str| ContinuationKey::parse(&format!("{name}:{HEX}")).unwrap();
        assert_eq!(Keyring::new([]).unwrap_err(), BadKey::None);
        assert_eq!(Keyring::new([key("a"), key("b"), key("a")]).unwrap_err(), BadKey::Twice);
        let ring = Keyring::new([key("b"), key("a")]).unwrap();
        assert_eq!(ring.ids().map(ContinuationKeyId::as_str).collect::<Vec<_>>(), ["b", "a"]);
    }
}
