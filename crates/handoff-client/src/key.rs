//! Idempotency keys: the same call again returns the same thing.

use std::time::{SystemTime, UNIX_EPOCH};

use handoff_protocol::{decision::idempotency::IdempotencyKey, id::Ulid, timestamp::Timestamp};

use crate::error::ClientError;

/// What makes a call safe to repeat: calls under one key are one call (rules K-1 to K-7).
///
/// The client mints one for every call that wants one and keeps it over its own tries. Give one yourself to repeat a
/// call after your program was restarted.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct CallKey(String);

impl CallKey {
    /// A fresh key: a ULID of 26 characters.
    ///
    /// # Errors
    ///
    /// [`ClientError::Configuration`] if the operating system has no entropy.
    pub fn mint() -> Result<Self, ClientError> {
        Ok(Self(fresh_ulid()?.to_string()))
    }

    /// A key of the caller's own.
    ///
    /// # Errors
    ///
    /// [`ClientError::Configuration`] if it is empty, longer than 255 characters, or holds control characters.
    pub fn parse(text: &str) -> Result<Self, ClientError> {
        IdempotencyKey::parse(text).map_err(|error| ClientError::Configuration(error.to_string()))?;
        Ok(Self(text.to_owned()))
    }

    /// The key as it travels.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

fn fresh_ulid() -> Result<Ulid, ClientError> {
    let mut entropy = [0; 16];
    getrandom::fill(&mut entropy).map_err(|error| {
        ClientError::Configuration(format!("the random generator of the operating system failed: {error}"))
    })?;
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let now = Timestamp::from_unix_millis(i64::try_from(since.as_millis()).unwrap_or(i64::MAX));
    Ok(Ulid::from_parts(now, u128::from_be_bytes(entropy)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn minted_keys_are_ulids_and_differ() {
        let (one, other) = (CallKey::mint().unwrap(), CallKey::mint().unwrap());
        assert_ne!(one, other);
        assert!(Ulid::parse(one.as_str()).is_ok());
        assert_eq!(one.as_str().len(), 26);
    }

    #[test]
    fn a_key_of_the_caller_is_checked_and_never_quoted() {
        assert_eq!(CallKey::parse("job-7").unwrap().as_str(), "job-7");
        let error = CallKey::parse("line\nbreak").unwrap_err().to_string();
        assert!(error.contains("Idempotency-Key") && !error.contains("break"), "{error}");
    }
}
