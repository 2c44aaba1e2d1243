//! Why our own types could not be turned into JSON, or back.

use std::fmt::Display;

use serde::de::{Expected, Unexpected};
use serde::{de, ser};
use thiserror::Error;

use super::path::is_showable;

/// A value of ours does not fit JSON, or JSON does not fit a type of ours.
///
/// The message names types and members, never a value: serde's own wording quotes what it found, so those of its
/// constructors that do are replaced here.
#[derive(Clone, Debug, Eq, Error, PartialEq)]
#[error("{message}")]
pub struct JsonError {
    message: String,
}

impl JsonError {
    pub(super) fn new(message: impl Into<String>) -> Self {
        Self { message: message.into() }
    }
}

impl ser::Error for JsonError {
    fn custom<T: Display>(message: T) -> Self {
        Self::new(message.to_string())
    }
}

impl de::Error for JsonError {
    fn custom<T: Display>(message: T) -> Self {
        Self::new(message.to_string())
    }

    fn invalid_type(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::new(format!("invalid type: {}, expected {expected}", kind(&found)))
    }

    fn invalid_value(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::new(format!("invalid value: {}, expected {expected}", kind(&found)))
    }

    fn unknown_variant(_: &str, expected: &'static [&'static str]) -> Self {
        Self::new(format!("unknown variant, expected {}", choices(expected)))
    }

    fn unknown_field(found: &str, expected: &'static [&'static str]) -> Self {
        let found = if is_showable(found) { format!("`{found}`") } else { "with an unprintable or long name".into() };
        Self::new(format!("unknown field {found}, expected {}", choices(expected)))
    }
}

/// A number that is no plain integer reaches serde as a newtype, hence that row.
fn kind(found: &Unexpected<'_>) -> &'static str {
    match found {
        Unexpected::Bool(_) => "boolean",
        Unexpected::Unsigned(_) | Unexpected::Signed(_) => "integer",
        Unexpected::Float(_) | Unexpected::NewtypeStruct => "number",
        Unexpected::Char(_) | Unexpected::Str(_) => "string",
        Unexpected::Bytes(_) => "bytes",
        Unexpected::Unit | Unexpected::Option => "null",
        Unexpected::Seq => "array",
        Unexpected::Map => "object",
        Unexpected::Enum
        | Unexpected::UnitVariant
        | Unexpected::NewtypeVariant
        | Unexpected::TupleVariant
        | Unexpected::StructVariant => "variant",
        Unexpected::Other(_) => "value",
    }
}

fn choices(expected: &[&str]) -> String {
    match expected {
        [] => "none".to_owned(),
        [only] => format!("`{only}`"),
        several => format!("one of `{}`", several.join("`, `")),
    }
}
