//! Canonical text (RFC 8785): the bytes that digests and signatures are taken over (B-8, N-6).

use std::cmp::Ordering;

use thiserror::Error;

use super::write::write_string;
use super::{Json, JsonPath, NumberFault, Object, Path};

/// A number in the value has no canonical text (N-6): a fraction, or an integer beyond +/-(2^53 - 1).
#[derive(Clone, Debug, Eq, Error, PartialEq)]
#[error("{} is {fault}", subject(.path))]
pub struct NotCanonical {
    /// Where the number stands.
    pub path: JsonPath,
    /// What is wrong with it.
    pub fault: NumberFault,
}

impl Json {
    /// Writes the canonical text of RFC 8785, the only input of digests (B-8).
    ///
    /// Members are sorted by UTF-16 code unit. Numbers are written as plain integers, whatever their spelling; this
    /// function never renders a fraction (N-6).
    ///
    /// ```
    /// use handoff_protocol::json::read_str;
    ///
    /// let value = read_str(r#"{ "b": 4.0, "a": "x" }"#).unwrap();
    /// assert_eq!(value.canonical().unwrap(), r#"{"a":"x","b":4}"#);
    /// ```
    ///
    /// # Errors
    ///
    /// [`NotCanonical`] names the first number that is not a safe integer.
    pub fn canonical(&self) -> Result<String, NotCanonical> {
        let mut out = String::new();
        write_canonical(self, Path::ROOT, &mut out)?;
        Ok(out)
    }
}

fn write_canonical(value: &Json, path: Path<'_>, out: &mut String) -> Result<(), NotCanonical> {
    match value {
        Json::Null | Json::Bool(_) => value.write_to(out),
        Json::String(text) => write_string(text, out),
        Json::Number(number) => match number.integer() {
            Ok(integer) => out.push_str(&integer.to_string()),
            Err(fault) => return Err(NotCanonical { path: path.to_owned(), fault }),
        },
        Json::Array(items) => {
            out.push('[');
            for (place, item) in items.iter().enumerate() {
                if place > 0 {
                    out.push(',');
                }
                write_canonical(item, path.index(place), out)?;
            }
            out.push(']');
        }
        Json::Object(object) => {
            out.push('{');
            for (place, (name, member)) in sorted(object).into_iter().enumerate() {
                if place > 0 {
                    out.push(',');
                }
                write_string(name, out);
                out.push(':');
                write_canonical(member, path.key(name), out)?;
            }
            out.push('}');
        }
    }
    Ok(())
}

/// Sorts by UTF-16 code unit; among ASCII names that is the order of their bytes, and cheaper.
fn sorted(object: &Object) -> Vec<(&str, &Json)> {
    let mut members: Vec<_> = object.iter().collect();
    if object.keys().all(str::is_ascii) {
        members.sort_unstable_by_key(|(name, _)| *name);
    } else {
        members.sort_unstable_by(|(left, _), (right, _)| utf16_order(left, right));
    }
    members
}

fn utf16_order(left: &str, right: &str) -> Ordering {
    left.encode_utf16().cmp(right.encode_utf16())
}

fn subject(path: &JsonPath) -> String {
    if path.is_root() { "the value".to_owned() } else { format!("`{path}`") }
}
