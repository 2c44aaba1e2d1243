//! The pages as a browser meets them: over a socket, by their links and forms.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "tests fail by panicking"
)]

mod browser;
mod changed;
mod documents;
mod entering;
mod fields;
mod fresh;
mod html;
mod inbox;
mod request;
mod safety;
mod settled;
mod together;
mod world;
