//! Sections of the file that are lists of tables: read as JSON is read, so that what is missing, unknown or wrong is named by
//! its place.

use handoff_protocol::json::{DecodeError, Json, Object};
use toml::{Spanned, de::DeValue};

use super::{ConfigError, file::Reading};

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
            let table = read(&json).map_err(|error| self.fault(table.span(), said(name, &error, known)))?;
            tables.push(table);
        }
        Ok(tables)
    }
}

/// A fault in words, with a suggestion for a name that is not known.
fn said(section: &str, error: &DecodeError, known: &[&str]) -> String {
    let place = if error.path.is_empty() { section.to_owned() } else { format!("{section}: {}", error.path) };
    let last = error.path.rsplit(['.', ']']).next().unwrap_or_default();
    let meant = (error.problem == "is not a known member")
        .then(|| crate::likeness::closest(last, known.iter().copied()))
        .flatten()
        .map(|name| format!("; did you mean `{name}`?"))
        .unwrap_or_default();
    format!("`{place}` {}{meant}", error.problem)
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
