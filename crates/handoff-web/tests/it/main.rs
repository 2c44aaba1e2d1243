//! The pages as a browser meets them: over a socket, by their links and forms.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "tests fail by panicking"
)]

mod agents;
mod besides;
mod browser;
mod changed;
mod documents;
mod entering;
mod events;
mod fields;
mod fresh;
mod html;
mod inbox;
mod languages;
mod leaving;
mod logs;
mod proof;
mod request;
mod safety;
mod secrets;
mod settled;
mod together;
mod weight;
mod world;
