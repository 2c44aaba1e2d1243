//! Canonical text (RFC 8785): the bytes that digests and signatures are taken over (B-8, N-6).

use std::cmp::Ordering;
use std::ops::Range;

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
        self.write_canonical(&mut out)?;
        Ok(out)
    }

    /// Appends the canonical text to a text, as [`canonical`](Self::canonical) gives it.
    ///
    /// # Errors
    ///
    /// [`NotCanonical`] as for [`canonical`](Self::canonical); what was appended until then stays.
    pub fn write_canonical(&self, out: &mut String) -> Result<(), NotCanonical> {
        write_canonical(self, Path::ROOT, out)
    }
}

impl Object {
    /// Appends the canonical text of an object, and says where in it a member stands with the comma that goes when the
    /// member goes: what is left without that span is the canonical text without the member.
    ///
    /// # Errors
    ///
    /// [`NotCanonical`] names the first number that is not a safe integer.
    pub fn write_canonical_around(&self, member: &str, out: &mut String) -> Result<Option<Range<usize>>, NotCanonical> {
        write_members(sorted(self), Path::ROOT, Some(member), out)
    }
}

/// Writes the canonical text of the object that has these members, without building it.
///
/// # Errors
///
/// [`NotCanonical`] names the first number that is not a safe integer.
pub(crate) fn canonical_members(mut members: Vec<(&str, &Json)>) -> Result<String, NotCanonical> {
    sort(&mut members);
    let mut out = String::new();
    write_members(members, Path::ROOT, None, &mut out)?;
    Ok(out)
}

fn write_canonical(value: &Json, path: Path<'_>, out: &mut String) -> Result<(), NotCanonical> {
    match value {
        Json::Null | Json::Bool(_) => value.write_to(out),
        Json::String(text) => write_string(text, out),
        Json::Number(number) => match number.integer() {
            // What is spelled as a plain integer is spelled as this one.
            Ok(integer) if integer != 0 && number.is_plain() => out.push_str(number.text()),
            Ok(integer) => out.push_str(&integer.to_string()),
            #[cfg(feature = "planted-faults")]
            Err(_) if crate::planted::is_taken(number) => out.push_str(number.text()),
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
            write_members(sorted(object), path, None, out)?;
        }
    }
    Ok(())
}

/// Writes members that are sorted, and gives the span of the one that is asked for.
fn write_members(
    members: Vec<(&str, &Json)>,
    path: Path<'_>,
    asked: Option<&str>,
    out: &mut String,
) -> Result<Option<Range<usize>>, NotCanonical> {
    let (mut span, several) = (None, members.len() > 1);
    out.push('{');
    for (place, (name, member)) in members.into_iter().enumerate() {
        let begins = out.len();
        if place > 0 {
            out.push(',');
        }
        write_string(name, out);
        out.push(':');
        write_canonical(member, path.key(name), out)?;
        if asked == Some(name) {
            // The first member takes the comma behind it along.
            let ends = if place == 0 && several { out.len() + 1 } else { out.len() };
            span = Some(begins..ends);
        }
    }
    out.push('}');
    Ok(span)
}

/// Sorts by UTF-16 code unit; among ASCII names that is the order of their bytes, and cheaper.
fn sorted(object: &Object) -> Vec<(&str, &Json)> {
    let mut members: Vec<_> = object.iter().collect();
    sort(&mut members);
    members
}

fn sort(members: &mut [(&str, &Json)]) {
    if members.iter().all(|(name, _)| name.is_ascii()) {
        members.sort_unstable_by_key(|(name, _)| *name);
    } else {
        members.sort_unstable_by(|(left, _), (right, _)| utf16_order(left, right));
    }
}

fn utf16_order(left: &str, right: &str) -> Ordering {
    #[cfg(feature = "planted-faults")]
    if crate::planted::Fault::NamesSortByCodePoint.is_planted() {
        return left.cmp(right);
    }
    left.encode_utf16().cmp(right.encode_utf16())
}

fn subject(path: &JsonPath) -> String {
    if path.is_root() { "the value".to_owned() } else { format!("`{path}`") }
}
