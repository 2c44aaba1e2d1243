//! The sender's side: one signature for each active secret.

use std::fmt::Write as _;

use thiserror::Error;

use super::CallbackSecret;
use crate::digest::{Digest, hex::Hex};
use crate::id::DeliveryId;
use crate::timestamp::Timestamp;

/// There is no secret to sign with; nothing may be pushed unsigned (H-4).
#[derive(Clone, Copy, Debug, Eq, Error, PartialEq)]
#[error("there is no active callback secret to sign with")]
pub struct NoActiveSecret;

/// Signs one attempt and gives the value of the [`Handoff-Signature`](super::SIGNATURE_HEADER) header (H-1, H-4).
///
/// `body` is the exact bytes that are sent. Call it again for each attempt with the time of that attempt (H-2); the
/// delivery id stays the same.
///
/// ```
/// use handoff_protocol::callback::{CallbackSecret, sign};
/// use handoff_protocol::id::DeliveryId;
/// use handoff_protocol::timestamp::Timestamp;
///
/// let secrets = [CallbackSecret::new("whsec_new")?, CallbackSecret::new("whsec_old")?];
/// let delivery = DeliveryId::parse("dlv_01K3MB2R6C8ZC4YRXB2N6VD9FT")?;
/// let header = sign(&secrets, Timestamp::from_unix_seconds(1_785_592_064), delivery, b"{}")?;
/// assert!(header.starts_with("t=1785592064,v1="));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// [`NoActiveSecret`] if `secrets` is empty.
pub fn sign(
    secrets: &[CallbackSecret],
    at: Timestamp,
    delivery: DeliveryId,
    body: &[u8],
) -> Result<String, NoActiveSecret> {
    if secrets.is_empty() {
        return Err(NoActiveSecret);
    }
    // A receiver reads digits only; no clock of a sender stands before 1970.
    let (time, delivery, body) = (at.unix_seconds().max(0), delivery.to_string(), Digest::of(body));
    let mut header = format!("t={time}");
    for secret in secrets {
        // Writing to a string does not fail.
        let _ = write!(header, ",v1={}", Hex(&secret.mac(time, &delivery, body)));
    }
    Ok(header)
}
