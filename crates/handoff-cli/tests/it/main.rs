//! The built `handoff` against real servers and real stores.

#![expect(
    clippy::indexing_slicing,
    clippy::panic,
    clippy::string_slice,
    clippy::unwrap_used,
    reason = "tests fail by panicking"
)]

mod answers;
mod ask;
mod bench;
mod completions;
mod demo;
mod examples;
mod https;
mod moving;
mod operator;
mod reaching;
mod verify;

/// The demo's own reader of forms, so that a test can be the person.
#[path = "../../src/demo/form.rs"]
mod form;
