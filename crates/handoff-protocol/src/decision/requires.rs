//! What a request requires: answer fields, capabilities, authority (section 6).

use std::collections::HashSet;

use super::{
    authority::Authority,
    capability::{self, Capability},
    error::DecisionError,
    field::{Field, FieldKind},
    limits,
    sink::ValueSink,
};
use crate::{
    json::{DecodeError, Json, Object, ObjectReader},
    principal::{AuthStrength, Role},
};

/// A parsed `requires`.
#[derive(Clone, Debug, PartialEq)]
pub struct Requires {
    /// The fields of an answer, in declared order.
    pub fields: Vec<Field>,
    /// Where values go that are not part of the answer.
    pub value_sink: Option<ValueSink>,
    /// What a person may use on the way.
    pub capabilities: Vec<Capability>,
    /// Who may answer: the effective requirement, with the floor that secrets set (rule A-2).
    pub authority: Authority,
    /// Whether the request says who may answer.
    pub declares_authority: bool,
}

impl Requires {
    /// Reads a declaration, failing closed in the order of rule D-2: version, field types, capability types, the rest.
    ///
    /// # Errors
    ///
    /// The contract's code for the first of these that fails.
    pub fn read(requires: &Json) -> Result<Self, DecisionError> {
        check_vocabulary(requires)?;
        let reader = ObjectReader::new(requires, "requires")?;
        reader.integer("v")?;
        for name in reader.json().keys().filter(|name| name.starts_with("x-")) {
            reader.member(name);
        }
        let (mut fields, mut value_sink) = (Vec::new(), None);
        if let Some(answer) = reader.optional_object("answer")? {
            fields = read_fields(&answer)?;
            value_sink = answer.optional_object("value_sink")?.map(ValueSink::read).transpose()?;
            answer.finish()?;
        }
        let capabilities = capability::read_all(&reader)?;
        let authority = reader.optional_object("authority")?.map(Authority::read).transpose()?;
        reader.finish()?;
        let declares_authority = authority.is_some();
        let authority = authority.unwrap_or_default();
        let requires = Self { fields, value_sink, capabilities, authority, declares_authority };
        Ok(if requires.has_secrets() { requires.with_secret_floor() } else { requires })
    }

    /// Requires at least what a secret does (rule A-2): the highest role, and a session.
    pub(super) fn with_secret_floor(mut self) -> Self {
        #[cfg(feature = "planted-faults")]
        if crate::planted::Fault::SecretFloorMissing.is_planted() {
            return self;
        }
        self.authority.min_role = self.authority.min_role.max(Role::Admin);
        self.authority.auth_strength = self.authority.auth_strength.max(AuthStrength::Session);
        self
    }

    /// Whether a value of the answer is one that only a sink may see.
    #[must_use]
    pub fn has_secrets(&self) -> bool {
        self.fields.iter().any(|field| matches!(field.kind, FieldKind::Secret))
    }

    /// The field of a name.
    #[must_use]
    pub fn field(&self, name: &str) -> Option<&Field> {
        self.fields.iter().find(|field| field.name == name)
    }
}

/// Refuses what this build does not know before it looks at anything else, so that a newer client learns that first.
pub(super) fn check_vocabulary(requires: &Json) -> Result<(), DecisionError> {
    let version = requires.get("v").and_then(Json::as_number).and_then(crate::json::Number::safe_integer);
    #[cfg(feature = "planted-faults")]
    let version = if crate::planted::Fault::UnknownVersionAccepted.is_planted() { Some(1) } else { version };
    if version != Some(1) {
        return Err(DecisionError::UnsupportedRequiresVersion);
    }
    let fields = requires.get("answer").and_then(|answer| answer.get("fields")).and_then(Json::as_array);
    for (place, field) in fields.unwrap_or_default().iter().enumerate() {
        let known = field.get("type").and_then(Json::as_str).is_some_and(|name| FieldKind::NAMES.contains(&name));
        #[cfg(feature = "planted-faults")]
        let known = known || crate::planted::Fault::UnknownFieldTypeAccepted.is_planted();
        if !known {
            return Err(DecisionError::UnsupportedFieldType { path: format!("requires.answer.fields[{place}].type") });
        }
    }
    let capabilities = requires.get("capabilities").and_then(Json::as_array);
    capability::check_types(capabilities.unwrap_or_default())
}

fn read_fields(answer: &ObjectReader<'_, '_>) -> Result<Vec<Field>, DecisionError> {
    let Some(array) = answer.optional_array("fields")? else { return Ok(Vec::new()) };
    array.count_within(0, limits::FIELDS)?;
    let mut fields: Vec<Field> = Vec::with_capacity(array.len());
    let mut names = HashSet::new();
    for item in array.items() {
        let field = Field::read(item.object()?)?;
        if !names.insert(field.name.clone()) {
            return Err(DecodeError::at(item.path().key("name"), "must be distinct among the fields").into());
        }
        fields.push(field);
    }
    Ok(fields)
}

/// What is served: the declaration as sent, with an empty list of fields where none was given (rule D-4).
#[must_use]
pub(super) fn served(mut requires: Json) -> Json {
    #[cfg(feature = "planted-faults")]
    if super::planted::dropped_some(&mut requires) {
        return requires;
    }
    if let Some(members) = requires.as_object_mut() {
        match members.get_mut("answer") {
            Some(Json::Object(answer)) => {
                if answer.get("fields").is_none_or(Json::is_null) {
                    answer.insert("fields", Vec::new());
                }
            }
            _ => {
                let mut answer = Object::new();
                answer.insert("fields", Vec::new());
                members.insert("answer", answer);
            }
        }
    }
    requires
}
