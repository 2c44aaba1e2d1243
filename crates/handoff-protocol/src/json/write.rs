//! Writing a value as compact text, members in the order in which they came.

use std::fmt;

use super::Json;
use super::scan::plain_span;

impl Json {
    /// Writes the value as compact JSON: member order and number text as they were read (escapes by B-8).
    #[must_use]
    pub fn to_text(&self) -> String {
        let mut out = String::new();
        self.write_to(&mut out);
        out
    }

    /// Appends the value to a text as compact JSON, as [`to_text`](Self::to_text) does.
    pub fn write_to(&self, out: &mut String) {
        match self {
            Self::Null => out.push_str("null"),
            Self::Bool(true) => out.push_str("true"),
            Self::Bool(false) => out.push_str("false"),
            Self::Number(number) => out.push_str(number.text()),
            Self::String(text) => write_string(text, out),
            Self::Array(items) => {
                out.push('[');
                for (place, item) in items.iter().enumerate() {
                    if place > 0 {
                        out.push(',');
                    }
                    item.write_to(out);
                }
                out.push(']');
            }
            Self::Object(object) => {
                out.push('{');
                for (place, (name, value)) in object.iter().enumerate() {
                    if place > 0 {
                        out.push(',');
                    }
                    write_string(name, out);
                    out.push(':');
                    value.write_to(out);
                }
                out.push('}');
            }
        }
    }
}

impl fmt::Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_text())
    }
}

/// Appends a string in quotes, escaping no more than B-8 asks for.
pub(super) fn write_string(text: &str, out: &mut String) {
    out.reserve(text.len() + 2);
    out.push('"');
    write_escaped(text, out);
    out.push('"');
}

/// Appends the content of a string, escaping no more than B-8 asks for.
pub(super) fn write_escaped(text: &str, out: &mut String) {
    let mut rest = text;
    while let Some((plain, tail)) = rest.split_at_checked(plain_span(rest.as_bytes())) {
        out.push_str(plain);
        let mut characters = tail.chars();
        let Some(special) = characters.next() else { break };
        match special {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\u{8}' => out.push_str("\\b"),
            '\t' => out.push_str("\\t"),
            '\n' => out.push_str("\\n"),
            '\u{c}' => out.push_str("\\f"),
            '\r' => out.push_str("\\r"),
            control => {
                let code = u32::from(control);
                out.push_str("\\u00");
                out.extend([code >> 4, code & 0xf].into_iter().filter_map(|nibble| char::from_digit(nibble, 16)));
            }
        }
        rest = characters.as_str();
    }
}
