//! Field types: what may be declared, and what an answer to each must be (section 7).

use std::collections::HashSet;

use super::{
    error::{DecisionError, FieldErrorCode},
    limits,
    schemas::Schemas,
};
use crate::{
    id::SinkRef,
    json::{DecodeError, Json, ObjectReader},
};

/// One declared field.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    /// Its name, distinct within the request.
    pub name: String,
    /// What people read; the name where none was given.
    pub label: Option<String>,
    /// Words of help.
    pub help: Option<String>,
    /// Whether a settling answer must give it.
    pub required: bool,
    /// What a surface shows before a person types.
    pub initial: Option<Json>,
    /// Where its value is written to, past this server's record (rule K-S1).
    pub sink_ref: Option<SinkRef>,
    /// Its type, with what only that type declares.
    pub kind: FieldKind,
}

/// The type of a field. A new type is a new variant, and the compiler names every place that must know it.
#[derive(Clone, Debug, PartialEq)]
pub enum FieldKind {
    /// One of several options, or with `multi` any of them.
    Choice {
        /// What can be chosen.
        options: Vec<FieldOption>,
        /// Whether more than one can be.
        multi: bool,
    },
    /// A text.
    Text {
        /// How many characters at the most.
        max_len: Option<u64>,
    },
    /// An integer that survives every JSON parser (rule N-1).
    Number {
        /// The least.
        min: Option<i64>,
        /// The greatest.
        max: Option<i64>,
    },
    /// Yes or no.
    Boolean,
    /// A value that goes to a sink; an answer only says that it went (section 17).
    Secret,
    /// A statement that is affirmed or not given.
    Attestation,
    /// Any JSON but null.
    Document {
        /// The schema that it must satisfy, when the deployment registered it.
        schema_ref: Option<String>,
    },
    /// A reference to a file, opaque here.
    FileRef,
}

/// One option of a choice.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct FieldOption {
    /// What an answer carries.
    pub id: String,
    /// What people read.
    pub label: String,
}

/// A field type that declarations may name, read from the rest of the declaration.
#[derive(Clone, Copy)]
enum TypeName {
    Choice,
    Text,
    Number,
    Boolean,
    Secret,
    Attestation,
    Document,
    FileRef,
}

impl FieldKind {
    /// The field types, by their wire names; `GET /v1/meta` lists them.
    pub const NAMES: [&'static str; 8] =
        ["choice", "text", "number", "boolean", "secret", "attestation", "document", "file_ref"];

    /// The wire name.
    #[must_use]
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Choice { .. } => "choice",
            Self::Text { .. } => "text",
            Self::Number { .. } => "number",
            Self::Boolean => "boolean",
            Self::Secret => "secret",
            Self::Attestation => "attestation",
            Self::Document { .. } => "document",
            Self::FileRef => "file_ref",
        }
    }
}

impl TypeName {
    fn parse(name: &str) -> Option<Self> {
        match name {
            "choice" => Some(Self::Choice),
            "text" => Some(Self::Text),
            "number" => Some(Self::Number),
            "boolean" => Some(Self::Boolean),
            "secret" => Some(Self::Secret),
            "attestation" => Some(Self::Attestation),
            "document" => Some(Self::Document),
            "file_ref" => Some(Self::FileRef),
            #[cfg(feature = "planted-faults")]
            _ if crate::planted::Fault::UnknownFieldTypeAccepted.is_planted() => Some(Self::FileRef),
            _ => None,
        }
    }
}

impl Field {
    /// Reads a declaration.
    ///
    /// # Errors
    ///
    /// [`DecisionError::UnsupportedFieldType`] for a missing or unknown type, [`DecisionError::InvalidRequest`] for
    /// anything else.
    pub(super) fn read(reader: ObjectReader<'_, '_>) -> Result<Self, DecisionError> {
        let Some(type_name) = reader.member("type").and_then(Json::as_str).and_then(TypeName::parse) else {
            return Err(DecisionError::UnsupportedFieldType { path: reader.path().key("type").to_string() });
        };
        Ok(Self::read_known(reader, type_name)?)
    }

    fn read_known(reader: ObjectReader<'_, '_>, type_name: TypeName) -> Result<Self, DecodeError> {
        let name = reader.string("name")?;
        check_name(name).map_err(|problem| reader.error("name", problem))?;
        let sink_ref = reader
            .optional_string("sink_ref")?
            .map(|text| SinkRef::parse(text).map_err(|error| reader.error("sink_ref", error.to_string())))
            .transpose()?;
        let schema_ref = reader.optional_string("schema_ref")?;
        let max_len = reader.optional_integer("max_len")?;
        let max_len = max_len
            .map(|len| {
                u64::try_from(len)
                    .ok()
                    .filter(|len| *len > 0)
                    .ok_or_else(|| reader.error("max_len", "must be at least 1"))
            })
            .transpose()?;
        let (min, max) = (reader.optional_integer("min")?, reader.optional_integer("max")?);
        let multi = reader.optional_boolean("multi")?;
        let options = read_options(&reader)?;
        let kind = match type_name {
            TypeName::Choice => {
                let options = options.unwrap_or_default();
                if options.is_empty() {
                    return Err(reader.error("options", "must hold at least one option"));
                }
                FieldKind::Choice { options, multi: multi.unwrap_or(false) }
            }
            _ if options.is_some() => return Err(reader.error("options", "belongs to `choice` fields alone")),
            _ if multi.is_some() => return Err(reader.error("multi", "belongs to `choice` fields alone")),
            TypeName::Text => FieldKind::Text { max_len },
            TypeName::Number if matches!((min, max), (Some(min), Some(max)) if min > max) => {
                return Err(reader.error("min", "must not be above `max`"));
            }
            TypeName::Number => FieldKind::Number { min, max },
            TypeName::Boolean => FieldKind::Boolean,
            TypeName::Secret if reader.optional("initial").is_some() => {
                return Err(reader.error("initial", "must not be given for a `secret` field"));
            }
            TypeName::Secret => FieldKind::Secret,
            TypeName::Attestation => FieldKind::Attestation,
            TypeName::Document => FieldKind::Document { schema_ref: schema_ref.map(str::to_owned) },
            TypeName::FileRef => FieldKind::FileRef,
        };
        let field = Self {
            name: name.to_owned(),
            label: reader.optional_text("label", 0, limits::LABEL_CHARS)?.map(str::to_owned),
            help: reader.optional_text("help", 0, limits::HELP_CHARS)?.map(str::to_owned),
            required: reader.optional_boolean("required")?.unwrap_or(false),
            initial: reader.member("initial").cloned(),
            sink_ref,
            kind,
        };
        reader.finish()?;
        Ok(field)
    }

    /// What people read: the label, or the name where none was given.
    #[must_use]
    pub fn title(&self) -> &str {
        self.label.as_deref().unwrap_or(&self.name)
    }

    /// Checks a submitted value that is not null; requiredness is the answer's business.
    ///
    /// # Errors
    ///
    /// The code and the mend, never the value.
    pub fn check(&self, value: &Json, schemas: &dyn Schemas) -> Result<(), (FieldErrorCode, String)> {
        use FieldErrorCode::{
            AttestationMustBeTrue, NotAnOption, OutOfRange, SchemaViolation, SecretValueNotPermitted, WrongType,
        };
        match &self.kind {
            FieldKind::Choice { options, multi: false } => {
                let id = value.as_str().ok_or_else(|| (WrongType, "must be the id of one option".to_owned()))?;
                if options.iter().any(|option| option.id == id) {
                    return Ok(());
                }
                Err((NotAnOption, "must be the id of one of the declared options".to_owned()))
            }
            FieldKind::Choice { options, multi: true } => {
                let chosen =
                    value.as_array().ok_or_else(|| (WrongType, "must be an array of option ids".to_owned()))?;
                if self.required && chosen.is_empty() {
                    return Err((FieldErrorCode::Required, "must hold at least one option id".to_owned()));
                }
                let mut seen = HashSet::new();
                for choice in chosen {
                    let id = choice.as_str().ok_or_else(|| (WrongType, "must be an array of option ids".to_owned()))?;
                    if !options.iter().any(|option| option.id == id) {
                        return Err((NotAnOption, "must hold ids of declared options alone".to_owned()));
                    }
                    if !seen.insert(id) {
                        return Err((NotAnOption, "must hold each option id at most once".to_owned()));
                    }
                }
                Ok(())
            }
            FieldKind::Text { max_len } => {
                let text = value.as_str().ok_or_else(|| (WrongType, "must be a string".to_owned()))?;
                match max_len {
                    Some(max) if u64::try_from(text.chars().count()).unwrap_or(u64::MAX) > *max => {
                        Err((OutOfRange, format!("must be at most {max} characters")))
                    }
                    _ => Ok(()),
                }
            }
            #[cfg(feature = "planted-faults")]
            FieldKind::Number { .. } if value.as_number().is_some_and(crate::planted::is_taken) => Ok(()),
            FieldKind::Number { min, max } => {
                let number = value.as_number().ok_or_else(|| (WrongType, "must be a number".to_owned()))?;
                let integer = number
                    .safe_integer()
                    .ok_or_else(|| (OutOfRange, "must be an integer within +/-(2^53 - 1)".to_owned()))?;
                if min.is_some_and(|min| integer < min) || max.is_some_and(|max| integer > max) {
                    return Err((OutOfRange, bounds(*min, *max)));
                }
                Ok(())
            }
            FieldKind::Boolean => match value {
                Json::Bool(_) => Ok(()),
                _ => Err((WrongType, "must be true or false".to_owned())),
            },
            #[cfg(feature = "planted-faults")]
            FieldKind::Secret if crate::planted::Fault::SecretInAnswerKept.is_planted() => Ok(()),
            FieldKind::Secret if is_provided(value) => Ok(()),
            FieldKind::Secret => Err((
                SecretValueNotPermitted,
                r#"must be {"provided": true}; the value itself goes to the request's sink"#.to_owned(),
            )),
            #[cfg(feature = "planted-faults")]
            FieldKind::Attestation
                if *value == Json::Bool(false) && crate::planted::Fault::AttestationMayBeFalse.is_planted() =>
            {
                Ok(())
            }
            FieldKind::Attestation => match value {
                Json::Bool(true) => Ok(()),
                _ => Err((AttestationMustBeTrue, "must be exactly true".to_owned())),
            },
            FieldKind::Document { schema_ref } => {
                match schema_ref.as_deref().and_then(|schema_ref| schemas.check(schema_ref, value)) {
                    Some(false) => Err((SchemaViolation, "must satisfy the declared schema".to_owned())),
                    Some(true) | None => Ok(()),
                }
            }
            FieldKind::FileRef => match value {
                Json::String(_) => Ok(()),
                _ => Err((WrongType, "must be a string".to_owned())),
            },
        }
    }
}

/// Whether a value says that the real one went to a sink: exactly `{"provided": true}` (sections 7 and 17).
pub(super) fn is_provided(value: &Json) -> bool {
    value.as_object().is_some_and(|members| members.len() == 1 && members.get("provided") == Some(&Json::Bool(true)))
}

fn bounds(min: Option<i64>, max: Option<i64>) -> String {
    match (min, max) {
        (Some(min), Some(max)) => format!("must be from {min} to {max}"),
        (Some(min), None) => format!("must be at least {min}"),
        (None, Some(max)) => format!("must be at most {max}"),
        (None, None) => "must be an integer".to_owned(),
    }
}

fn check_name(name: &str) -> Result<(), String> {
    let mut bytes = name.bytes();
    let first_is_valid = bytes.next().is_some_and(|first| first.is_ascii_lowercase());
    let rest_is_valid = bytes.all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_');
    if first_is_valid && rest_is_valid && name.len() <= limits::FIELD_NAME_CHARS {
        return Ok(());
    }
    Err(format!(
        "must be a lower-case letter, then lower-case letters, digits and `_`, {} at most",
        limits::FIELD_NAME_CHARS
    ))
}

fn read_options(reader: &ObjectReader<'_, '_>) -> Result<Option<Vec<FieldOption>>, DecodeError> {
    let Some(array) = reader.optional_array("options")? else { return Ok(None) };
    array.count_within(0, limits::OPTIONS)?;
    let mut options: Vec<FieldOption> = Vec::with_capacity(array.len());
    let mut ids = HashSet::new();
    for item in array.items() {
        let item = item.object()?;
        let option = FieldOption {
            id: item.text("id", 0, limits::OPTION_ID_CHARS)?.to_owned(),
            label: item.text("label", 0, limits::LABEL_CHARS)?.to_owned(),
        };
        if !ids.insert(option.id.clone()) {
            return Err(item.error("id", "must be distinct among the options"));
        }
        item.finish()?;
        options.push(option);
    }
    Ok(Some(options))
}
