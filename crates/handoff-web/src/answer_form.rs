//! The form of a request: a control a field, a note, and what ties a submission to this session and this page.

use handoff_protocol::{
    decision::{DecisionError, Requires, view::RequestView},
    id::RequestId,
};

use crate::{
    control::{self, Control},
    form::Form,
    notice::Fault,
    reader::Reader,
    session::Visitor,
    words::{FieldFault, Saying, Words},
};

/// What was submitted and not recorded, for filling the form in again.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Faulty<'a> {
    pub(crate) form: &'a Form,
    pub(crate) fields: &'a [FieldFault],
    pub(crate) note_too_long: bool,
    /// Whether the question is not the one any more that the form was shown with.
    pub(crate) is_stale: bool,
    /// What to say of it, where it is nothing about the answer itself.
    pub(crate) saying: Option<Saying>,
}

/// A form for a template.
#[derive(Debug)]
pub(crate) struct AnswerForm {
    pub(crate) action: RequestId,
    pub(crate) csrf: String,
    pub(crate) nonce: String,
    pub(crate) rendered_digest: String,
    pub(crate) controls: Vec<Control>,
    pub(crate) note: String,
    pub(crate) note_error: Option<&'static str>,
    pub(crate) submit_help: String,
    /// Whether some of it can be sent now, and the rest later.
    pub(crate) has_parts: bool,
}

impl AnswerForm {
    pub(crate) fn new(
        reader: &Reader,
        visitor: &Visitor,
        view: &RequestView,
        requires: &Requires,
        faulty: Option<Faulty<'_>>,
    ) -> Result<Self, DecisionError> {
        let submitted = faulty.map(|faulty| faulty.form);
        let errors = faulty.map(|faulty| faulty.fields).unwrap_or_default();
        let note_too_long = faulty.is_some_and(|faulty| faulty.note_too_long);
        let is_stale = faulty.is_some_and(|faulty| faulty.is_stale);
        let control = |field| {
            // What was filled in stays, where it was filled into a field that is still there.
            let submitted = submitted.filter(|form| !is_stale || control::stays(field, form));
            Control::new(reader.words, field, requires, submitted, errors)
        };
        Ok(Self {
            action: view.id,
            csrf: visitor.csrf(),
            nonce: nonce()?,
            rendered_digest: view.rendered_digest.to_string(),
            controls: requires.fields.iter().map(control).collect(),
            note: submitted.and_then(|form| form.get("note")).unwrap_or_default().to_owned(),
            note_error: note_too_long.then_some(reader.words.note_too_long),
            submit_help: reader.words.submit_help_for(requires.authority.quorum),
            has_parts: requires.fields.len() > 1,
        })
    }

    /// Every fault in the order of the page, what has no place on it last.
    pub(crate) fn faults(&self, words: &Words, errors: &[FieldFault], requires: &Requires) -> Vec<Fault> {
        let inputs = self.controls.iter().filter_map(|control| {
            let text = control.error.clone()?;
            Some(Fault { input: Some(control.name.clone()), title: Some(control.title.clone()), text })
        });
        let note = self.note_error.map(|text| Fault {
            input: Some("note".to_owned()),
            title: Some(words.note.to_owned()),
            text: text.to_owned(),
        });
        let strays = errors.iter().filter(|error| requires.field(&error.name).is_none());
        let strays = strays.map(|error| Fault { input: None, title: None, text: words.stray_fault(&error.name) });
        inputs.chain(note).chain(strays).collect()
    }
}

/// What makes two presses of one button one answer: 128 random bits a form.
pub(crate) fn nonce() -> Result<String, DecisionError> {
    let mut bytes = [0; 16];
    if let Err(error) = getrandom::fill(&mut bytes) {
        tracing::error!(%error, "no nonce can be drawn");
        return Err(DecisionError::Internal);
    }
    Ok(format!("{:032x}", u128::from_be_bytes(bytes)))
}
