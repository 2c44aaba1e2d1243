//! The rules of Handoff as pure functions.
//!
//! This crate has no async, no input or output, no clock, no randomness and no environment: time, ids and
//! entropy come in as arguments, and what follows from a command comes out as a value. Everything that decides
//! anything lives here; engines carry decisions out, stores keep them, surfaces translate them.
//!
//! | module | what lives there |
//! |---|---|
//! | [`json`] | the JSON value that everything digested is made of, its strict reader and RFC 8785 output |
//! | [`id`], [`timestamp`], [`duration`], [`digest`] | the small values that cannot be wrong |
//! | [`chain`], [`signature`], [`callback`] | receipts that verify offline, and pushes that can be trusted |
//! | [`continuation`] | what a runtime hands over to have it back, sealed |
//! | [`bundle`] | receipts with everything that proves them, verified offline |
//! | [`principal`] | who acts: kinds, roles, strengths, scopes |
//! | [`decision`] | requests, answers, receipts, authorizations: the transitions, one file a verb |

pub mod bundle;
pub mod callback;
pub mod chain;
pub mod continuation;
pub mod decision;
pub mod digest;
pub mod duration;
pub mod id;
pub mod json;
#[cfg(feature = "planted-faults")]
pub mod planted;
pub mod principal;
pub mod proof;
pub mod secret;
pub mod signature;
pub mod timestamp;
