//! From a submitted form to the body of an answer. Nothing is judged here: what does not fit a field is passed on as it
//! is, so that the engine says what is wrong with it, in its own order.
//!
//! Text that is no JSON cannot be passed on as a document: any text would be one. It travels under the input's own name,
//! which no field can have, so the engine refuses the answer for it, and [`faults`] says of which field that was.

use std::collections::{BTreeMap, HashMap, HashSet};

use handoff_protocol::{
    decision::{Field, FieldError, FieldErrorCode, FieldKind, Requires, Schemas, limits},
    json::{Json, Number, Object, ReadError, ReadLimits, read_within},
    secret::Secret,
};

use crate::{
    control::{NO, SHOWN, YES, input_name, option_tag, sink_of},
    form::Form,
    visible,
    words::{FieldFault, Problem},
};

/// The name of the button that sends what is filled in so far.
pub(crate) const PART: &str = "part";

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
    if gives_part(form) {
        body.insert("partial", true);
    }
    Json::Object(body)
}

/// Whether a form was sent with the button for what is filled in so far (rule S-3).
pub(crate) fn gives_part(form: &Form) -> bool {
    form.get(PART).is_some()
}

/// What goes to sinks and not into the answer: the values of secret fields, by the place that each goes to.
pub(crate) fn secrets(form: &Form, requires: &Requires) -> Vec<(String, Secret<Json>)> {
    let mut by_place: BTreeMap<String, Object> = BTreeMap::new();
    for field in requires.fields.iter().filter(|field| matches!(field.kind, FieldKind::Secret)) {
        let typed = form.get(&input_name(&field.name)).filter(|text| !text.is_empty());
        if let (Some(place), Some(text)) = (sink_of(field, requires), typed) {
            by_place.entry(place).or_default().insert(field.name.as_str(), text);
        }
    }
    let body = |values: Object| Secret::new(Json::object([("values", Json::Object(values))]));
    by_place.into_iter().map(|(place, values)| (place, body(values))).collect()
}

/// One text that somebody wrote into a form.
#[derive(Clone, Debug)]
pub(crate) struct Written {
    /// The name of its field; none for the note.
    pub(crate) field: Option<String>,
    pub(crate) text: String,
}

/// What was written into a form, for giving it back where the form itself is not shown again.
pub(crate) fn written(form: &Form) -> Vec<Written> {
    let names = form.all(SHOWN).filter_map(|shown| {
        let (kind, name) = shown.split_once(' ')?;
        matches!(kind, "text" | "number" | "document" | "file_ref").then_some(name)
    });
    let texts = names.filter_map(|name| Some((Some(visible::line(name)), form.get(&input_name(name))?)));
    let all = texts.take(limits::FIELDS).chain(form.get("note").map(|note| (None, note)));
    all.filter(|(_, text)| !visible::is_blank(text))
        .map(|(field, text)| Written { field, text: text.to_owned() })
        .collect()
}

/// Whether a form says two things where one can be meant: more values than a field takes, or one option twice. Which of
/// them its person saw picked cannot be told, so none is.
pub(crate) fn is_ambiguous(form: &Form, requires: &Requires) -> bool {
    requires.fields.iter().any(|field| {
        let name = input_name(&field.name);
        match &field.kind {
            FieldKind::Choice { options, multi: true } => {
                let mut seen = HashSet::new();
                form.count(&name) > options.len().max(1) || !form.all(&name).all(|tag| seen.insert(tag))
            }
            _ => form.count(&name) > 1,
        }
    })
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
            let ids: HashMap<String, &str> =
                options.iter().map(|option| (option_tag(&option.id), option.id.as_str())).collect();
            let id_of = |tag: &str| ids.get(tag).map_or_else(|| Json::from(no_option()), |id| Json::from(*id));
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
        // Sent to its sink, or ticked as given elsewhere.
        FieldKind::Secret => sent.next().map(|_| Json::object([("provided", Json::Bool(true))])),
        FieldKind::Attestation => sent.next().map(|text| if text == YES { Json::Bool(true) } else { Json::from(text) }),
    }
}

/// What a value travels as that the page did not offer, an option's own id as well: longer than any id, so the engine says
/// that it is none.
fn no_option() -> String {
    "-".repeat(limits::OPTION_ID_CHARS + 1)
}

/// Reads a document as the value of an answer, which stands two levels deep in its body.
fn read_document(text: &str) -> Result<Json, ReadError> {
    read_within(text.as_bytes(), ReadLimits { depth: limits::BODY_DEPTH - 2, values: limits::BODY_VALUES })
}
