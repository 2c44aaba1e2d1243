//! The reference under which a runtime waits: opaque, matched byte for byte, never parsed.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::limits;
use crate::{digest::Digest, json::DecodeError};

/// A waiter reference of 1 to 512 bytes.
#[derive(Clone, Debug, Deserialize, Eq, Hash, JsonSchema, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(transparent)]
pub struct WaiterRef(#[schemars(length(min = 1, max = 512))] String);

impl WaiterRef {
    /// Reads a reference.
    ///
    /// # Errors
    ///
    /// If it is empty or longer than 512 bytes.
    pub fn parse(text: &str) -> Result<Self, DecodeError> {
        if (1..=limits::WAITER_REF_BYTES).contains(&text.len()) {
            return Ok(Self(text.to_owned()));
        }
        Err(DecodeError::new("waiter_ref", format!("must be 1 to {} bytes", limits::WAITER_REF_BYTES)))
    }

    /// The reference as sent.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// What stands for this reference in keys, whose length is bounded.
    #[must_use]
    pub fn digest(&self) -> Digest {
        Digest::of(self.0.as_bytes())
    }
}

impl fmt::Display for WaiterRef {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}
