//! Sections of the file that are lists of tables: read as JSON is read, so that what is missing, unknown or wrong is named by
//! its place.

use std::ops::Range;

use handoff_protocol::json::{DecodeError, Json, Object};
use toml::{Spanned, de::DeValue};

use super::{ConfigError, file::Reading};
use crate::likeness;

impl Reading<'_> {
    /// Reads each table of a list, with the line that a fault in it is at.
    pub(super) fn tables<T>(
        &self,
        name: &str,
        value: &Spanned<DeValue<'_>>,
        known: &[&str],
        read: impl Fn(&Json) -> Result<T, DecodeError>,
    ) -> Result<Vec<T>, ConfigError> {
        let form = || self.fault(value.span(), format!("`{name}` is a list: `[[{name}]]`, and its keys under it"));
        let list = value.get_ref().as_array().ok_or_else(form)?;
        let mut tables = Vec::with_capacity(list.len());
        for table in list {
            let json = json(table.get_ref()).ok_or_else(|| {
                self.fault(table.span(), format!("`{name}`: expected texts, whole numbers, switches, lists and tables"))
            })?;
            let read =
                read(&json).map_err(|error| self.fault(span_at(table, &error.path), said(name, &error, known)))?;
            tables.push(read);
        }
        Ok(tables)
    }
}

/// A fault in words, with a suggestion for a name that is not known.
fn said(section: &str, error: &DecodeError, known: &[&str]) -> String {
    let place = if error.path.is_empty() { section.to_owned() } else { format!("{section}: {}", error.path) };
    format!("`{place}` {}{}", error.problem, likeness::meant(error, known))
}

/// Where in the file a path leads, as far as it leads: the value that it names, or what would hold it.
fn span_at(table: &Spanned<DeValue<'_>>, path: &str) -> Range<usize> {
    let (mut here, mut span) = (table.get_ref(), None);
    for step in path.split(['.', '[', ']']).filter(|step| !step.is_empty()) {
        let next = match here {
            DeValue::Table(members) => members.get(step),
            DeValue::Array(items) => step.parse::<usize>().ok().and_then(|place| items.get(place)),
            _ => None,
        };
        let Some(next) = next else { break };
        here = next.get_ref();
        span = Some(next.span());
    }
    span.unwrap_or_else(|| table.span())
}

/// A value as TOML writes it within one line.
pub(super) fn inline(value: &Json) -> String {
    match value {
        Json::Array(items) => format!("[{}]", items.iter().map(inline).collect::<Vec<_>>().join(", ")),
        Json::Object(members) => {
            let members = members.iter().map(|(name, value)| format!("{name} = {}", inline(value)));
            format!("{{ {} }}", members.collect::<Vec<_>>().join(", "))
        }
        // The escapes of JSON are escapes of TOML too, and there is no null here.
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => value.to_text(),
    }
}

/// A value of the file as JSON; none for dates and fractions, which nothing here is written in.
fn json(value: &DeValue<'_>) -> Option<Json> {
    Some(match value {
        DeValue::String(text) => Json::from(text.as_ref()),
        DeValue::Boolean(switch) => Json::from(*switch),
        DeValue::Integer(number) if number.radix() == 10 => {
            Json::from(number.as_str().replace('_', "").parse::<i64>().ok()?)
        }
        DeValue::Array(items) => Json::from(items.iter().map(|item| json(item.get_ref())).collect::<Option<Vec<_>>>()?),
        DeValue::Table(members) => {
            let mut object = Object::new();
            for (name, member) in members {
                object.insert(name.get_ref().as_ref(), json(member.get_ref())?);
            }
            Json::Object(object)
        }
        DeValue::Integer(_) | DeValue::Float(_) | DeValue::Datetime(_) => return None,
    })
}
