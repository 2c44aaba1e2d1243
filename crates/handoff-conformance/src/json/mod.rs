//! JSON as the suite looks at it: values beside the exact text that they were read from.
//!
//! `serde_json` reads the values. What it does not tell, because a value no longer shows it, is read from the text by
//! `text`: names that stand twice, numbers that are not plain integers, and the exact bytes of a part.

mod canonical;
mod text;

pub use self::{
    canonical::{canonical, digest, hex, sha256_hex},
    text::{Oddities, elements, part, scan},
};

use serde_json::Value;

/// Reads strict JSON: `serde_json`'s grammar, and no name twice in one object.
///
/// # Errors
///
/// Why the text is not such JSON, in words.
pub fn read(text: &str) -> Result<Value, String> {
    let value = serde_json::from_str(text).map_err(|error| error.to_string())?;
    match scan(text).duplicates.first() {
        Some(path) => Err(format!("the name at `{path}` stands twice in its object")),
        None => Ok(value),
    }
}

/// A value as compact text, cut where it grows long.
#[must_use]
pub fn brief(value: &Value) -> String {
    cut(&value.to_string(), 400)
}

/// A text, cut where it grows long.
#[must_use]
pub fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{} … ({} bytes)", text.get(..end).unwrap_or_default(), text.len()),
        None => text.to_owned(),
    }
}
