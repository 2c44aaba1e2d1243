//! Values that go to a sink: read from files, so that they stand on no command line, and wiped when they were sent.

use std::{collections::BTreeMap, path::PathBuf, str::FromStr};

use handoff_protocol::{
    decision::{Field, FieldKind, Requires},
    json::{Json, Object},
    secret::Secret,
};

use super::input;
use crate::failure::Failure;

/// Where the value of a secret field is: `NAME=FILE`.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct SecretFile {
    name: String,
    file: PathBuf,
}

impl FromStr for SecretFile {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, file) = text.split_once('=').ok_or("expected NAME=FILE")?;
        Ok(Self { name: name.trim().to_owned(), file: PathBuf::from(file) })
    }
}

/// Reads values, by the place that each goes to: a field's own, or the request's. One line end behind a value is not part
/// of it.
///
/// # Errors
///
/// One line that names the field or the file, and nothing that is in it.
pub(crate) fn read(requires: &Requires, files: &[SecretFile]) -> Result<Vec<(String, Secret<Object>)>, Failure> {
    let mut by_place: BTreeMap<String, Object> = BTreeMap::new();
    for given in files {
        let field = requires.field(&given.name).ok_or_else(|| {
            Failure::usage("the request has no field of the name that `--secret` gives; `handoff show` lists them")
        })?;
        let place = place(field, requires).ok_or_else(|| {
            Failure::usage(format!("the request names no place where the value of `{}` could go", field.name))
        })?;
        let mut text = String::from_utf8(input::bytes(&given.file)?)
            .map_err(|_| Failure::usage(format!("{} is not UTF-8", input::name(&given.file))))?;
        if text.ends_with('\n') {
            text.pop();
        }
        if text.ends_with('\r') {
            text.pop();
        }
        if by_place.entry(place).or_default().insert(field.name.as_str(), Json::from(text)).is_some() {
            return Err(Failure::usage(format!("`{}` is given twice", field.name)));
        }
    }
    Ok(by_place.into_iter().map(|(place, values)| (place, Secret::new(values))).collect())
}

/// A secret goes to its own place or to the request's, and a text may go to the request's.
fn place(field: &Field, requires: &Requires) -> Option<String> {
    let of_request = || requires.value_sink.as_ref().map(|sink| sink.reference.clone());
    match field.kind {
        FieldKind::Secret => field.sink_ref.map(|sink| sink.to_string()).or_else(of_request),
        FieldKind::Text { .. } => of_request(),
        _ => None,
    }
}
