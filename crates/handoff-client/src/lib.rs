//! The Rust client of the Handoff HTTP API.
//!
//! A program asks a person, waits, acts on the typed answer, and says that it did:
//!
//! ```no_run
//! use handoff_client::Client;
//! use handoff_protocol::{
//!     decision::WaiterRef,
//!     json::read_str,
//! };
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let client = Client::new("https://handoff.example.com", std::env::var("HANDOFF_API_KEY")?)?;
//! let body = read_str(
//!     r#"{"waiter_ref": "billing:refund:1184",
//!         "prompt": {"title": "Refund order 1184?"},
//!         "requires": {"v": 1, "answer": {"fields": [{"name": "approve", "type": "boolean", "required": true}]}}}"#,
//! )?;
//! let raised = client.raise(&body, None).await?;
//! let waiter = WaiterRef::parse("billing:refund:1184")?;
//! let signals = client.poll(&waiter, 30).await?;
//! for signal in signals.data.iter().filter(|signal| signal.request_id == raised.request.id) {
//!     // Do the work here, then say so: an acknowledgement comes after the work and never before.
//!     client.acknowledge(signal.id, signal.resume_token, true, None).await?;
//! }
//! # Ok(())
//! # }
//! ```
//!
//! Only a transport failure, which is a call without any HTTP response, is tried again: three tries in all, under the
//! same idempotency key. Every HTTP status is final.
//!
//! | module | what lives there |
//! |---|---|
//! | `client`, `builder` | [`Client`], how it is put together, its credential |
//! | `call`, `tls`, `address` | how a call travels: tries, timeouts, limits, TLS, paths |
//! | `key` | [`CallKey`]: retry safety |
//! | `requests`, `waiters`, `authorizations`, `receipts`, `capabilities`, `meta` | the calls, by resource |
//! | `error` | [`ClientError`] |

mod address;
mod authorizations;
mod builder;
mod call;
mod capabilities;
mod client;
mod deliveries;
mod error;
mod key;
mod meta;
mod receipts;
mod requests;
mod tls;
mod waiters;

pub use self::{
    builder::ClientBuilder,
    call::Pieces,
    client::Client,
    error::{ClientError, Refusal},
    key::CallKey,
    meta::Meta,
    requests::{Intent, NewAnswer, Raised, RequestFilter},
};
