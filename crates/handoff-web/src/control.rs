//! One control a field: what a declared field looks like on the page, filled with what there is to fill it with.

use handoff_protocol::{
    decision::{Field, FieldKind, FieldOption, Requires},
    digest::Digest,
    json::Json,
};

use crate::{
    form::Form,
    pretty::pretty,
    prompt::cell,
    visible,
    words::{FieldFault, Words, field_title},
};

/// What the `yes` of a boolean and of an attestation travels as.
pub(crate) const YES: &str = "yes";
/// What the `no` of a boolean travels as.
pub(crate) const NO: &str = "no";

/// Texts up to this length get one line; longer ones a box.
const ONE_LINE: u64 = 120;
/// From so many options on, one is picked from a list that opens, so that a phone does not have to scroll past them all.
const MANY: usize = 9;

/// A control for a template.
#[derive(Debug)]
pub(crate) struct Control {
    /// The name that its value is submitted under.
    pub(crate) name: String,
    /// What the form says of it besides its value.
    pub(crate) shown: String,
    pub(crate) title: String,
    pub(crate) help: Option<String>,
    /// What it takes, where that is not plain from looking at it.
    pub(crate) hint: Option<String>,
    /// The schema that a document is to follow, in the asker's own words.
    pub(crate) schema: Option<String>,
    /// How many characters it takes, for counting them along.
    pub(crate) max: Option<u64>,
    pub(crate) required: bool,
    pub(crate) error: Option<String>,
    pub(crate) input: Input,
}

/// The kinds of controls.
#[derive(Debug)]
pub(crate) enum Input {
    /// One of several.
    Radios(Vec<Choice>),
    /// One of many.
    Select(Vec<Choice>),
    /// Any of several.
    Boxes(Vec<Choice>),
    /// One line of text.
    Line { value: String, digits: bool },
    /// Text of any length.
    Text { value: String },
    /// JSON to edit.
    Document { value: String },
    /// One line that shows nothing of what is typed, and is never filled in.
    Hidden,
    /// A statement to tick.
    Tick { ticked: bool },
}

/// One thing to choose.
#[derive(Debug)]
pub(crate) struct Choice {
    pub(crate) tag: String,
    pub(crate) label: String,
    pub(crate) chosen: bool,
}

impl Control {
    /// The control of a field, filled with what was submitted, or else with what the field declares.
    pub(crate) fn new(
        words: &Words,
        field: &Field,
        requires: &Requires,
        submitted: Option<&Form>,
        errors: &[FieldFault],
    ) -> Self {
        let name = input_name(&field.name);
        let error = errors.iter().find(|error| error.name == field.name);
        let text = || match submitted {
            Some(form) => form.get(&name).unwrap_or_default().to_owned(),
            None => field.initial.as_ref().map(cell).unwrap_or_default(),
        };
        let (input, hint) = match &field.kind {
            FieldKind::Choice { options, multi } => {
                let mut choices: Vec<Choice> = options
                    .iter()
                    .zip(option_labels(options))
                    .map(|(option, label)| {
                        let tag = option_tag(&option.id);
                        let chosen = match submitted {
                            Some(form) => form.all(&name).any(|sent| sent == tag),
                            None => field.initial.as_ref().is_some_and(|initial| names(initial, &option.id)),
                        };
                        Choice { tag, label, chosen }
                    })
                    .collect();
                if *multi {
                    (Input::Boxes(choices), Some(words.choose_any.to_owned()))
                } else {
                    let is_many = choices.len() >= MANY;
                    // A list that opens shows its first row; that must not be an answer which nobody chose.
                    if is_many && field.required && !choices.iter().any(|choice| choice.chosen) {
                        let pick = Choice { tag: String::new(), label: words.pick.to_owned(), chosen: true };
                        choices.insert(0, pick);
                    }
                    offer_none(words, field, &mut choices);
                    (if is_many { Input::Select(choices) } else { Input::Radios(choices) }, None)
                }
            }
            FieldKind::Boolean => {
                let chosen = match submitted {
                    Some(form) => form.get(&name),
                    None => field.initial.as_ref().and_then(Json::as_bool).map(|yes| if yes { YES } else { NO }),
                };
                let choice = |tag: &str, label: &str| Choice {
                    tag: tag.to_owned(),
                    label: label.to_owned(),
                    chosen: chosen == Some(tag),
                };
                let mut choices = vec![choice(YES, words.yes), choice(NO, words.no)];
                offer_none(words, field, &mut choices);
                (Input::Radios(choices), None)
            }
            FieldKind::Number { min, max } => {
                // The keypad for digits has no minus sign on some phones.
                let digits = min.is_some_and(|min| min >= 0);
                (Input::Line { value: text(), digits }, Some(words.number(*min, *max)))
            }
            FieldKind::Text { max_len } => {
                let value = text();
                let one_line = max_len.is_some_and(|max| max <= ONE_LINE) && !value.contains('\n');
                let input = if one_line { Input::Line { value, digits: false } } else { Input::Text { value } };
                (input, max_len.map(|max| words.text_limit(max)))
            }
            FieldKind::Document { .. } => {
                let value = match submitted {
                    Some(form) => form.get(&name).unwrap_or_default().to_owned(),
                    None => field.initial.as_ref().filter(|initial| !initial.is_null()).map(pretty).unwrap_or_default(),
                };
                (Input::Document { value }, Some(words.document.to_owned()))
            }
            FieldKind::FileRef => {
                let value = text();
                // A line would lose the breaks of what is there.
                let one_line = !value.contains('\n');
                let input = if one_line { Input::Line { value, digits: false } } else { Input::Text { value } };
                (input, Some(words.file_ref.to_owned()))
            }
            FieldKind::Secret if sink_of(field, requires).is_some() => (Input::Hidden, Some(words.secret.to_owned())),
            // Without a place to send it to, all there is to say is that the person saw to it.
            FieldKind::Secret => {
                let ticked = submitted.is_some_and(|form| form.get(&name) == Some(YES));
                (Input::Tick { ticked }, Some(words.secret_elsewhere.to_owned()))
            }
            // Never ticked beforehand: it is the person who affirms.
            FieldKind::Attestation => {
                (Input::Tick { ticked: submitted.is_some_and(|form| form.get(&name) == Some(YES)) }, None)
            }
        };
        let error = error.map(|error| words.fault(&field.kind, &error.problem));
        let schema = match &field.kind {
            FieldKind::Document { schema_ref } => {
                schema_ref.as_deref().filter(|schema| !schema.trim().is_empty()).map(visible::line)
            }
            _ => None,
        };
        Self {
            shown: shown(field),
            title: field_title(field),
            help: field.help.as_deref().filter(|help| !visible::is_blank(help)).map(visible::lines),
            // What is wrong often says what is taken; once is enough.
            hint: hint.filter(|hint| error.as_ref() != Some(hint)),
            schema,
            max: match field.kind {
                FieldKind::Text { max_len } => max_len,
                _ => None,
            },
            required: field.required,
            error,
            input,
            name,
        }
    }

    /// Whether it is one element that a label can point to, rather than a group.
    pub(crate) fn is_single(&self) -> bool {
        matches!(
            self.input,
            Input::Select(_) | Input::Line { .. } | Input::Text { .. } | Input::Document { .. } | Input::Hidden
        )
    }

    /// The ids of what describes it, for `aria-describedby`; empty for none.
    pub(crate) fn described_by(&self) -> String {
        let parts = [
            ("help", self.help.is_some()),
            ("hint", self.hint.is_some()),
            ("schema", self.schema.is_some()),
            ("error", self.error.is_some()),
        ];
        let ids = parts.into_iter().filter(|(_, there)| *there).map(|(part, _)| format!("{}-{part}", self.name));
        ids.collect::<Vec<_>>().join(" ")
    }
}

/// Where the value of a secret field goes: to its own place, or to the request's.
pub(crate) fn sink_of(field: &Field, requires: &Requires) -> Option<String> {
    let own = field.sink_ref.map(|sink| sink.to_string());
    own.or_else(|| requires.value_sink.as_ref().map(|sink| sink.reference.clone()))
}

/// The name under which a form says which fields it shows.
pub(crate) const SHOWN: &str = "shown";

/// What a form says of a field that it shows. What is picked and not written means what it stood beside, so that its
/// whole declaration counts.
fn shown(field: &Field) -> String {
    let (kind, name) = (field.kind.as_str(), &field.name);
    match &field.kind {
        FieldKind::Choice { .. } | FieldKind::Boolean => format!("{kind} {name} {}", declaration(field).hex()),
        _ => format!("{kind} {name}"),
    }
}

/// The digest of all that a field declares.
fn declaration(field: &Field) -> Digest {
    let text = |text: Option<&str>| text.map_or(Json::Null, Json::from);
    let options = match &field.kind {
        FieldKind::Choice { options, multi } => {
            let pair = |option: &FieldOption| [option.id.as_str(), option.label.as_str()].map(Json::from).to_vec();
            let pairs = options.iter().map(|option| Json::Array(pair(option))).collect();
            Json::Array(vec![Json::Bool(*multi), Json::Array(pairs)])
        }
        _ => Json::Null,
    };
    let parts = vec![
        text(field.label.as_deref()),
        text(field.help.as_deref()),
        Json::Bool(field.required),
        field.initial.clone().unwrap_or(Json::Null),
        options,
    ];
    Digest::of(Json::Array(parts).to_text())
}

/// Whether what a form of an earlier version holds for a field is meant for what the field is now. Who affirmed a
/// statement affirmed it with the question as it read then, and does so anew.
pub(crate) fn stays(field: &Field, form: &Form) -> bool {
    !matches!(field.kind, FieldKind::Attestation) && form.all(SHOWN).any(|sent| sent == shown(field))
}

/// The name that a field's value is submitted under; the prefix keeps it apart from the form's own inputs.
pub(crate) fn input_name(field: &str) -> String {
    format!("v.{field}")
}

/// What an option travels as. Ids are free text, which browsers would alter (line ends, NUL); a digest survives.
pub(crate) fn option_tag(id: &str) -> String {
    Digest::of(id.as_bytes()).hex()
}

/// What people read of each option: its label, or its id where nothing of the label would be seen. Where two would look
/// alike, each has its id beside it, with what is not seen by name.
pub(crate) fn option_labels(options: &[FieldOption]) -> Vec<String> {
    let text = |option: &FieldOption| {
        if visible::is_blank(&option.label) { visible::spelled(&option.id) } else { visible::line(&option.label) }
    };
    visible::told_apart(options.iter().map(|option| (text(option), option.id.as_str())).collect())
}

/// Radio buttons cannot be released again, so what is optional offers that as a choice.
fn offer_none(words: &Words, field: &Field, choices: &mut Vec<Choice>) {
    if !field.required {
        let chosen = !choices.iter().any(|choice| choice.chosen);
        choices.push(Choice { tag: String::new(), label: words.no_answer.to_owned(), chosen });
    }
}

fn names(initial: &Json, id: &str) -> bool {
    match initial {
        Json::String(text) => text == id,
        Json::Array(items) => items.iter().any(|item| item.as_str() == Some(id)),
        _ => false,
    }
}
