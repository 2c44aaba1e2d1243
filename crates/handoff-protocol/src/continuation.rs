//! Continuation data: what a runtime hands over with its question, to have it back with the answer (section 18).
//!
//! The payload is sealed under XChaCha20-Poly1305 and bound to its tenant, its request and its field, so that nothing
//! that was sealed for one place opens at another (rule L-3). Nonces and keys come from the caller.

mod keyring;
mod seal;

pub use self::{
    keyring::{BadKey, ContinuationKey, ContinuationKeyId, Keyring},
    seal::{NONCE_BYTES, OpenError, Place, Sealed, open, seal},
};
