//! From a submitted form to the body of an answer. Nothing is judged here: what does not fit a field is passed on as it
//! is, so that the engine says what is wrong with it, in its own order.
//!
//! Text that is no JSON cannot be passed on as a document: any text would be one. It travels under the input's own name,
//! which no field can have, so the engine refuses the answer for it, and [`faults`] says of which field that was.

use handoff_protocol::{
    decision::{Field, FieldError, FieldErrorCode, FieldKind, Requires, Schemas, limits},
    json::{Json, Number, Object, ReadError, ReadLimits, read_within},
};

use crate::{
    control::{NO, YES, input_name, option_tag},
    form::Form,
    words::{FieldFault, Problem},
};

/// The body of an answer.
pub(crate) fn answer(form: &Form, requires: &Requires) -> Json {
    let mut values = Object::new();
    for field in &requires.fields {
        if let Some(text) = unreadable(form, field) {
            values.insert(input_name(&field.name), text);
        } else if let Some(value) = value(form, field) {
            values.insert(field.name.as_str(), value);
        }
    }
    let mut body = Object::new();
    body.insert("values", values);
    if let Some(note) = form.get("note").filter(|note| !note.trim().is_empty()) {
        body.insert("note", note);
    }
    if let Some(shown) = form.get("rendered_digest") {
        body.insert("rendered_digest", shown);
    }
    Json::Object(body)
}

/// What is wrong with a form, by what the engine found wrong with the answer that was made of it.
pub(crate) fn faults(form: &Form, requires: &Requires, found: &[FieldError], schemas: &dyn Schemas) -> Vec<FieldFault> {
    let documents: Vec<&Field> = requires.fields.iter().filter(|field| unreadable(form, field).is_some()).collect();
    let is_unread = |name: &str| documents.iter().any(|field| name == field.name || name == input_name(&field.name));
    let others = found.iter().filter(|fault| !is_unread(&fault.name)).map(|fault| FieldFault {
        name: fault.name.clone(),
        problem: match fault.code {
            FieldErrorCode::SchemaViolation => Problem::Schema(violated(form, requires, &fault.name, schemas)),
            code => Problem::Refused(code),
        },
    });
    let unread = documents.iter().filter_map(|field| {
        Some(FieldFault { name: field.name.clone(), problem: read_fault(unreadable(form, field)?)? })
    });
    others.chain(unread).collect()
}

/// The places at which a document does not follow its schema.
fn violated(form: &Form, requires: &Requires, name: &str, schemas: &dyn Schemas) -> Vec<String> {
    let Some(field) = requires.field(name) else { return Vec::new() };
    let FieldKind::Document { schema_ref: Some(schema_ref) } = &field.kind else { return Vec::new() };
    value(form, field).map(|document| schemas.faults(schema_ref, &document)).unwrap_or_default()
}

/// What was typed into a document's input that is no JSON.
fn unreadable<'a>(form: &'a Form, field: &Field) -> Option<&'a str> {
    let FieldKind::Document { .. } = field.kind else { return None };
    form.get(&input_name(&field.name)).filter(|text| !text.trim().is_empty() && read_document(text).is_err())
}

/// Why a text is no JSON, and on which line; nothing of the text.
fn read_fault(text: &str) -> Option<Problem> {
    let error = read_document(text).err()?;
    let line = text.bytes().take(error.offset).filter(|byte| *byte == b'\n').count().saturating_add(1);
    Some(Problem::NotJson { kind: error.kind, line })
}

/// The value of a field; none for what was left empty.
fn value(form: &Form, field: &Field) -> Option<Json> {
    let name = input_name(&field.name);
    let mut sent = form.all(&name).filter(|text| !text.is_empty());
    match &field.kind {
        FieldKind::Choice { options, multi } => {
            let id_of = |tag: &str| {
                let option = options.iter().find(|option| option_tag(&option.id) == tag);
                Json::from(option.map_or(tag, |option| option.id.as_str()))
            };
            if *multi {
                let chosen: Vec<Json> = sent.map(id_of).collect();
                (!chosen.is_empty()).then_some(Json::Array(chosen))
            } else {
                sent.next().map(id_of)
            }
        }
        FieldKind::Text { .. } => sent.next().map(Json::from),
        FieldKind::Number { .. } => {
            let text = sent.next()?.trim();
            if text.is_empty() {
                return None;
            }
            Some(text.parse::<Number>().map_or_else(|_| Json::from(text), Json::Number))
        }
        FieldKind::Boolean => sent.next().map(|text| match text {
            YES => Json::Bool(true),
            NO => Json::Bool(false),
            other => Json::from(other),
        }),
        // `null` says that there is none.
        FieldKind::Document { .. } => {
            sent.next().and_then(|text| read_document(text).ok()).filter(|value| !value.is_null())
        }
        FieldKind::FileRef => sent.next().map(Json::from),
        FieldKind::Attestation => sent.next().map(|text| if text == YES { Json::Bool(true) } else { Json::from(text) }),
    }
}

/// Reads a document as the value of an answer, which stands two levels deep in its body.
fn read_document(text: &str) -> Result<Json, ReadError> {
    read_within(text.as_bytes(), ReadLimits { depth: limits::BODY_DEPTH - 2, values: limits::BODY_VALUES })
}
