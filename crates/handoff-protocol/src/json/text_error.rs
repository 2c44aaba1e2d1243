//! Why a text could not be read into one of our types.

use std::fmt::Display;

use serde::de::{Error, Expected, Unexpected};

use super::{JsonError, ReadError};

/// A text is no JSON document, or not one of the type that was wanted; nothing of the text is quoted.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum TextError {
    /// The text is no JSON document.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The document does not fit the type.
    #[error(transparent)]
    Json(#[from] JsonError),
}

impl Error for TextError {
    fn custom<T: Display>(message: T) -> Self {
        JsonError::custom(message).into()
    }

    fn invalid_type(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        JsonError::invalid_type(found, expected).into()
    }

    fn invalid_value(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        JsonError::invalid_value(found, expected).into()
    }

    fn unknown_variant(found: &str, expected: &'static [&'static str]) -> Self {
        JsonError::unknown_variant(found, expected).into()
    }

    fn unknown_field(found: &str, expected: &'static [&'static str]) -> Self {
        JsonError::unknown_field(found, expected).into()
    }
}
