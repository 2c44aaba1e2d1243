//! Pushes that can be trusted: signing a callback and verifying one (section 19, H-1 to H-5 and H-10).
//!
//! The sender serializes the signal once, signs those bytes and sends those bytes. The receiver hashes the bytes before
//! it parses them. A signature proves the sender, never the tenant.

mod header;
mod secret;
mod sign;
mod standard;
mod verify;

pub use header::{
    DELIVERY_HEADER, IDEMPOTENCY_KEY_HEADER, MOST_SECRETS, SCHEME_VERSION, SEQUENCE_HEADER, SIGNAL_HEADER,
    SIGNATURE_HEADER, VERSION_HEADER,
};
pub use secret::{CallbackSecret, EmptySecret};
pub use sign::{NoActiveSecret, sign};
pub use standard::{
    StandardError, WEBHOOK_ID_HEADER, WEBHOOK_SIGNATURE_HEADER, WEBHOOK_TIMESTAMP_HEADER, sign_standard, standard_time,
};
pub use verify::{CallbackError, CallbackHeaders, FRESHNESS_WINDOW, Verified, verify};
