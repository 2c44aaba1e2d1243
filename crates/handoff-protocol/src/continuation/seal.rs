//! Sealing a payload and opening it again.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use chacha20poly1305::{
    Key, KeyInit as _, XChaCha20Poly1305, XNonce,
    aead::{Aead as _, Payload},
};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::{ContinuationKeyId, Keyring};
use crate::id::{OrgId, RequestId};

/// How many random bytes a seal takes: enough that no two are ever the same by chance.
pub const NONCE_BYTES: usize = 24;

/// Where a payload belongs: it opens nowhere else.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Place {
    /// The tenant.
    pub tenant: OrgId,
    /// The request.
    pub request: RequestId,
    /// The member that it came in.
    pub field: &'static str,
}

/// A payload as it is kept: base64 of the nonce and of what was sealed, and the name of the key.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Sealed {
    /// The key that opens it.
    pub key: ContinuationKeyId,
    /// What tells the key from another one of its name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) check: Option<String>,
    nonce: String,
    sealed: String,
}

/// A payload cannot be opened. None of the reasons is the caller's fault.
#[derive(Clone, Debug, Eq, Error, PartialEq)]
#[non_exhaustive]
pub enum OpenError {
    /// The key that sealed it is not configured.
    #[error("continuation data is sealed with the key `{0}`, which is not configured; put it back")]
    UnknownKey(ContinuationKeyId),
    /// A key of that name is configured, and it is another one.
    #[error("continuation data is sealed with another key of the name `{0}` than the one that is configured")]
    OtherKey(ContinuationKeyId),
    /// It is not what was sealed, or not sealed for this place.
    #[error("continuation data was altered, or belongs elsewhere")]
    Altered,
}

/// Seals a payload for its place under the current key (rule L-3).
///
/// The nonce must be random and used once. `None` cannot come of a [`Keyring`] that was built by its constructor.
#[must_use]
pub fn seal(keyring: &Keyring, place: Place, nonce: [u8; NONCE_BYTES], payload: &[u8]) -> Option<Sealed> {
    let key = keyring.current()?;
    let cipher = XChaCha20Poly1305::new(&Key::from(*key.bytes.expose()));
    let aad = associated_data(place);
    let sealed = cipher.encrypt(&XNonce::from(nonce), Payload { msg: payload, aad: aad.as_bytes() }).ok()?;
    let check = Some(key.check.clone());
    Some(Sealed { key: key.id().clone(), check, nonce: STANDARD.encode(nonce), sealed: STANDARD.encode(sealed) })
}

/// Opens a payload at its place.
///
/// # Errors
///
/// [`OpenError`].
pub fn open(keyring: &Keyring, place: Place, sealed: &Sealed) -> Result<Vec<u8>, OpenError> {
    let key = keyring.key_of(sealed)?;
    let bytes = |text: &str| STANDARD.decode(text).map_err(|_| OpenError::Altered);
    let nonce = <[u8; NONCE_BYTES]>::try_from(bytes(&sealed.nonce)?).map_err(|_| OpenError::Altered)?;
    let cipher = XChaCha20Poly1305::new(&Key::from(*key.bytes.expose()));
    let (text, aad) = (bytes(&sealed.sealed)?, associated_data(place));
    let payload = Payload { msg: &text, aad: aad.as_bytes() };
    cipher.decrypt(&XNonce::from(nonce), payload).map_err(|_| OpenError::Altered)
}

/// Ids have one spelling and a field none of these separators, so two places never have one text.
fn associated_data(place: Place) -> String {
    format!("handoff-continuation-v1\n{}\n{}\n{}", place.tenant, place.request, place.field)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{continuation::ContinuationKey, id::Ulid};

    fn keyring(names: &[&str]) -> Keyring {
        let key = |name: &&str| {
            let text = format!("{name}:{}", name.repeat(64).get(..64).unwrap());
            ContinuationKey::parse(&text).unwrap()
        };
        Keyring::new(names.iter().map(key)).unwrap()
    }

    fn place(tenant: u128, request: u128, field: &'static str) -> Place {
        Place {
            tenant: OrgId::from_ulid(Ulid::from_u128(tenant)),
            request: RequestId::from_ulid(Ulid::from_u128(request)),
            field,
        }
    }

    #[test]
    fn what_is_sealed_opens_at_its_place_and_nowhere_else() {
        let (ring, here) = (keyring(&["a"]), place(1, 2, "resume_payload"));
        let sealed = seal(&ring, here, [9; 24], b"state").unwrap();
        assert_eq!(open(&ring, here, &sealed).unwrap(), b"state");
        for elsewhere in [place(2, 2, "resume_payload"), place(1, 3, "resume_payload"), place(1, 2, "resume_ref")] {
            assert_eq!(open(&ring, elsewhere, &sealed).unwrap_err(), OpenError::Altered);
        }
    }

    #[test]
    fn the_first_key_seals_and_an_older_one_still_opens_what_it_sealed() {
        let here = place(1, 2, "resume_payload");
        let old = seal(&keyring(&["a"]), here, [9; 24], b"old").unwrap();
        let rotated = keyring(&["b", "a"]);
        assert_eq!(open(&rotated, here, &old).unwrap(), b"old");
        let new = seal(&rotated, here, [8; 24], b"new").unwrap();
        assert_eq!((new.key.as_str(), open(&keyring(&["b"]), here, &new).unwrap().as_slice()), ("b", &b"new"[..]));
        let gone = open(&keyring(&["b"]), here, &old).unwrap_err();
        assert_eq!(gone, OpenError::UnknownKey(old.key.clone()));
        assert!(gone.to_string().contains("`a`"));
    }

    #[test]
    fn another_key_of_the_same_name_is_told_apart_from_altered_data() {
        let here = place(1, 2, "resume_payload");
        let sealed = seal(&keyring(&["a"]), here, [9; 24], b"state").unwrap();
        let other = ContinuationKey::parse(&format!("a:{}", "0".repeat(64))).unwrap();
        let other = Keyring::new([other]).unwrap();
        assert_eq!(open(&other, here, &sealed).unwrap_err(), OpenError::OtherKey(sealed.key.clone()));
        assert_eq!(other.check(&sealed).unwrap_err(), OpenError::OtherKey(sealed.key.clone()));
        assert_eq!(keyring(&["a"]).check(&sealed), Ok(()));
        // What was sealed before keys could be told apart is judged by its seal alone.
        let early = Sealed { check: None, ..sealed };
        assert_eq!(open(&other, here, &early).unwrap_err(), OpenError::Altered);
        assert_eq!(open(&keyring(&["a"]), here, &early).unwrap(), b"state");
    }

    #[test]
    fn another_implementation_seals_to_the_same_bytes() {
        // HChaCha20 after its draft, and ChaCha20-Poly1305 of Python's `cryptography`, over the same input.
        let sealed = seal(&keyring(&["a"]), place(1, 2, "resume_payload"), [9; 24], b"state").unwrap();
        assert_eq!(sealed.sealed, "sD6G73gH5cOHhQRZi8H1ZudeEcGE");
    }

    proptest! {
        #[test]
        fn every_payload_comes_back_and_no_altered_one_does(
            payload in prop::collection::vec(any::<u8>(), 0..200),
            at in any::<prop::sample::Index>(),
            flip in 1..=255_u8,
        ) {
            let (ring, here) = (keyring(&["a"]), place(1, 2, "resume_payload"));
            let sealed = seal(&ring, here, [9; 24], &payload).unwrap();
            prop_assert_eq!(open(&ring, here, &sealed).unwrap(), payload);
            let mut bytes = STANDARD.decode(&sealed.sealed).unwrap();
            let at = at.index(bytes.len());
            bytes[at] ^= flip;
            let altered = Sealed { sealed: STANDARD.encode(bytes), ..sealed };
            prop_assert_eq!(open(&ring, here, &altered).unwrap_err(), OpenError::Altered);
        }
    }
}
