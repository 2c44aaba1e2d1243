//! Variables: what `${…}` stands for in a scenario, and the few directives that make bodies.

mod builtin;
mod directive;
mod splice;

pub use self::{
    builtin::is_built_in,
    splice::{LOWER, Piece, base, names, pieces},
};

use std::{collections::BTreeMap, sync::Arc};

use serde_json::{Value, json};

use crate::{json::sha256_hex, profile::Profile};

/// The variables of one scenario.
#[derive(Clone, Debug)]
pub struct Scope {
    values: BTreeMap<String, Value>,
    /// Unguessable, and of this scenario alone: everything that must be unique is derived from it.
    seed: String,
    receiver: String,
    profile: Arc<Profile>,
}

impl Scope {
    /// A scope without any kept value.
    #[must_use]
    pub fn new(profile: Arc<Profile>, seed: String, receiver: &str) -> Self {
        Self { values: BTreeMap::new(), seed, receiver: receiver.to_owned(), profile }
    }

    /// Gives a name a value; from then on it stands for that.
    pub fn set(&mut self, name: &str, value: Value) {
        self.values.insert(name.to_owned(), value);
    }

    /// Gives a name what a template comes to now.
    ///
    /// # Errors
    ///
    /// The template names what is not there.
    pub fn define(&mut self, name: &str, template: &Value) -> Result<(), String> {
        let value = self.value(template)?;
        self.set(name, value);
        Ok(())
    }

    /// Gives each name of a layer what its template comes to, whatever their order: a template that names another of the
    /// layer comes after it. One that names itself means what it was before.
    ///
    /// # Errors
    ///
    /// A template names what is not there, or two name each other.
    pub fn define_all(&mut self, layer: &BTreeMap<String, Value>) -> Result<(), String> {
        let mut open: BTreeMap<&String, &Value> = layer.iter().collect();
        while !open.is_empty() {
            let waits = |name: &String, template: &Value| {
                names(template).iter().any(|other| other != name && open.contains_key(other))
            };
            let Some((name, template)) = open.iter().find(|(name, template)| !waits(name, template)) else {
                let names: Vec<_> = open.keys().map(|name| name.as_str()).collect();
                return Err(format!("`{}` name each other", names.join("`, `")));
            };
            let name = (*name).clone();
            self.define(&name, template).map_err(|problem| format!("`{name}`: {problem}"))?;
            open.remove(&name);
        }
        Ok(())
    }

    /// What a template comes to: variables replaced, directives carried out.
    ///
    /// # Errors
    ///
    /// It names a variable that is not there, or uses a directive wrongly.
    pub fn value(&self, template: &Value) -> Result<Value, String> {
        match template {
            Value::String(text) => self.string(text, &|spliced| spliced),
            Value::Array(items) => {
                items.iter().map(|item| self.value(item)).collect::<Result<_, _>>().map(Value::Array)
            }
            Value::Object(members) => match directive::of(members) {
                Some(directive) => directive.carry_out(self),
                None => members
                    .iter()
                    .map(|(name, value)| Ok((self.text(name)?, self.value(value)?)))
                    .collect::<Result<_, String>>()
                    .map(Value::Object),
            },
            _ => Ok(template.clone()),
        }
    }

    /// What a text comes to, as text.
    ///
    /// # Errors
    ///
    /// It names a variable that is not there.
    pub fn text(&self, template: &str) -> Result<String, String> {
        self.spliced(template, &|spliced| spliced)
    }

    /// The path of a call: what variables hold is percent-encoded, each as a part of one segment.
    ///
    /// # Errors
    ///
    /// As for [`text`](Self::text).
    pub fn path(&self, template: &str) -> Result<String, String> {
        self.spliced(template, &|spliced| percent(&spliced))
    }

    /// A regular expression: what variables hold stands for itself.
    ///
    /// # Errors
    ///
    /// As for [`text`](Self::text).
    pub fn expression(&self, template: &str) -> Result<String, String> {
        self.spliced(template, &|spliced| regex::escape(&spliced))
    }

    /// A pattern: an object or array out of a variable is meant exactly as it is.
    ///
    /// # Errors
    ///
    /// As for [`value`](Self::value).
    pub fn pattern(&self, template: &Value) -> Result<Value, String> {
        match template {
            Value::String(text) => match self.string(text, &|spliced| spliced)? {
                value @ (Value::Object(_) | Value::Array(_)) => Ok(json!({ "$exactly": value })),
                value => Ok(value),
            },
            Value::Array(items) => {
                items.iter().map(|item| self.pattern(item)).collect::<Result<_, _>>().map(Value::Array)
            }
            Value::Object(members) => members
                .iter()
                .map(|(name, value)| {
                    let value = match (name.as_str(), value) {
                        ("$matches" | "$lacks", Value::String(text)) => Value::String(self.expression(text)?),
                        ("$exactly" | "$digest_of" | "$seconds_after", value) => self.value(value)?,
                        (_, value) => self.pattern(value)?,
                    };
                    Ok((self.text(name)?, value))
                })
                .collect::<Result<_, String>>()
                .map(Value::Object),
            _ => Ok(template.clone()),
        }
    }

    /// A text that is one variable and nothing else is the variable's value; else a text.
    fn string(&self, template: &str, encode: &dyn Fn(String) -> String) -> Result<Value, String> {
        match pieces(template)?.as_slice() {
            [Piece::Variable(name)] => self.variable(name),
            _ => self.spliced(template, encode).map(Value::String),
        }
    }

    fn spliced(&self, template: &str, encode: &dyn Fn(String) -> String) -> Result<String, String> {
        let mut text = String::with_capacity(template.len());
        for piece in pieces(template)? {
            match piece {
                Piece::Text(part) => text.push_str(part),
                Piece::Variable(name) => text.push_str(&encode(as_text(self.variable(name)?))),
            }
        }
        Ok(text)
    }

    /// What a variable stands for: a value that was kept or set, a part of one (`name/pointer`), or one that is built in.
    fn variable(&self, name: &str) -> Result<Value, String> {
        if let Some(name) = name.strip_prefix(LOWER) {
            return Ok(Value::String(as_text(self.variable(name)?).to_lowercase()));
        }
        let base = base(name);
        let pointer = name.strip_prefix(base).unwrap_or_default();
        if let Some(value) = self.values.get(base) {
            let part = value.pointer(pointer).cloned();
            return part.ok_or_else(|| format!("the variable `{base}` has nothing at `{pointer}`"));
        }
        builtin::value(self, name)
    }

    /// Text that is the same for the same label in this scenario, and else unguessable.
    fn derived(&self, kind: &str, label: &str) -> String {
        sha256_hex(format!("{}\n{kind}\n{label}", self.seed).as_bytes())
    }
}

/// A value as it stands inside a longer text.
fn as_text(value: Value) -> String {
    match value {
        Value::String(text) => text,
        value => value.to_string(),
    }
}

/// Percent-encodes everything but what RFC 3986 calls unreserved.
fn percent(text: &str) -> String {
    text.bytes().fold(String::new(), |mut encoded, byte| {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            encoded.push_str(&format!("%{byte:02X}"));
        }
        encoded
    })
}

#[cfg(test)]
mod tests;
