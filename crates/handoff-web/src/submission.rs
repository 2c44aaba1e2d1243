//! From a submitted form to the body of an answer. Nothing is judged here: what does not fit a field is passed on as it
//! is, so that the engine says what is wrong with it.

use handoff_protocol::{
    decision::{Field, FieldKind, Requires},
    json::{Json, Number, Object},
};

use crate::{
    control::{NO, YES, input_name, option_tag},
    form::Form,
};

/// The body of an answer.
pub(crate) fn answer(form: &Form, requires: &Requires) -> Json {
    let mut values = Object::new();
    for field in &requires.fields {
        if let Some(value) = value(form, field) {
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
        FieldKind::Attestation => sent.next().map(|text| if text == YES { Json::Bool(true) } else { Json::from(text) }),
    }
}
