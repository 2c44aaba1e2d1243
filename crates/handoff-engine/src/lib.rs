//! The Handoff engine: use cases, the ports they need, and the timer worker.
//!
//! Embed this crate to run Handoff inside your own program; `handoffd` is one such program. The rules live in
//! `handoff-protocol` as pure functions; the engine loads what they need, carries out what they return in one commit,
//! and wakes whoever waits.
//!
//! | module | what lives there |
//! |---|---|
//! | [`engine`] | [`Engine`] and its builder |
//! | [`store`] | the store port |
//! | [`channel`], [`directory`] | the ports that reach people, and know them |
//! | [`clock`], [`entropy`], [`signer`], [`callback`], [`capability`], [`sink`], [`spawn`] | the other ports |
//! | [`decision`] | raise, answer, cancel, poll, acknowledge, redeem, read |
//! | [`identity`] | tenants, people, machines, credentials, one-time links, sessions |
//! | [`export`] | a tenant's receipts as a bundle that verifies offline |
//! | [`fsck`] | the check that what a store holds is what the rules allow |
//! | [`moving`] | a whole store in one file, for another place |
//! | [`outbound`] | sending to the world without waiting for it |
//! | [`worker`] | what happens by itself when its time comes |
//!
//! # Example
//!
//! `examples/embed` in the repository is a complete program.

pub mod callback;
pub mod capability;
pub mod channel;
pub mod clock;
pub mod decision;
pub mod directory;
mod document;
pub mod engine;
pub mod entropy;
pub mod export;
pub mod fsck;
mod hub;
pub mod identity;
pub mod moving;
pub mod outbound;
#[cfg(feature = "planted-faults")]
mod planted;
pub mod signer;
pub mod sink;
pub mod spawn;
pub mod store;
mod sync;
mod transaction;
pub mod worker;

pub use self::{
    engine::{BuildError, Builder, Engine},
    identity::IdentityError,
};
