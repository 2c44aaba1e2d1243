//! What the JSON value promises, subject by subject.

mod canonical;
mod decode;
mod numbers;
mod properties;
mod reader;
mod serde_bridge;
