//! Posts to the world over HTTP: the transport of Handoff's callbacks, and the channel that posts deliveries.
//!
//! A post follows no redirect, asks no proxy, and is given up after ten seconds in all. What the receiver says beyond its
//! status is thrown away. With [`Guard::PublicOnly`], only addresses of the public internet are connected to: the name is
//! resolved once, what it resolves to is looked at, and the connection goes to exactly that, so a name that changes its
//! mind in between changes nothing (rule H-9).
//!
//! | module | what lives there |
//! |---|---|
//! | [`address`] | which addresses are public |
//! | `channel` | [`WebhookChannel`], which posts deliveries to people's own receivers |
//! | [`resolve`] | from a name to addresses |
//! | [`transport`] | [`WebhookTransport`] |
//!
//! ```no_run
//! use std::sync::Arc;
//!
//! use handoff_channel_webhook::{Guard, WebhookTransport};
//!
//! # async fn example(store: Arc<dyn handoff_engine::store::Store>) -> Result<(), handoff_engine::BuildError> {
//! let transport = WebhookTransport::new(Guard::PublicOnly);
//! let engine = handoff_engine::Engine::builder().store(store).callbacks(Arc::new(transport)).build().await?;
//! # Ok(()) }
//! ```

pub mod address;
mod channel;
mod connection;
mod pool;
pub mod resolve;
mod tls;
pub mod transport;

pub use self::{
    channel::WebhookChannel,
    transport::{Guard, WebhookTransport},
};
