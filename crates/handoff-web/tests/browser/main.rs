//! The pages in a real, headless Chromium: with scripts and without, on a phone and on a desk, by mouse and by keyboard.
//!
//! Where there is no Chromium each test says so in a line and passes; where `CI` is set there has to be one.

#![expect(clippy::unwrap_used, clippy::panic, clippy::print_stdout, reason = "tests fail by panicking")]

mod accessible;
mod hostile;
mod keyboard;
mod live;
mod stage;
mod story;
mod truth;
