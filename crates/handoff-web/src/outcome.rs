//! A receipt in plain words: what was decided, by whom, when, and where the record of it is.

use handoff_protocol::{
    chain::{CHAIN_MEMBER, Link},
    decision::{
        Field, FieldKind, Receipt, Requires,
        terms::{Effective, ReceiptKind},
    },
    json::{Json, from_json},
};

use crate::{
    control::option_labels,
    pretty::pretty,
    prompt::cell,
    reader::Reader,
    visible,
    when::When,
    words::{Words, field_title},
};

/// A receipt for a template.
#[derive(Debug)]
pub(crate) struct Outcome {
    /// Field by field.
    pub(crate) decided: Vec<Decided>,
    /// What an expiry came to.
    pub(crate) by_policy: Option<&'static str>,
    pub(crate) who: String,
    pub(crate) at: When,
    pub(crate) note: Option<String>,
    pub(crate) id: String,
    pub(crate) digest: String,
    pub(crate) height: u64,
}

/// What was decided on one field.
#[derive(Debug)]
pub(crate) struct Decided {
    pub(crate) title: String,
    pub(crate) answers: Vec<String>,
    /// Whether they are JSON, to be shown to the letter.
    pub(crate) is_document: bool,
}

impl Outcome {
    /// Reads a sealed receipt; none if it is not one.
    pub(crate) fn read(reader: &Reader, sealed: &Json, requires: &Requires) -> Option<Self> {
        let words = reader.words;
        let receipt: Receipt = from_json(sealed.clone()).ok()?;
        let link: Link = from_json(sealed.get(CHAIN_MEMBER)?.clone()).ok()?;
        let actor = receipt.actor;
        let is_policy = receipt.kind == ReceiptKind::Policy;
        let person = actor.display.or_else(|| actor.principal_id.map(|id| id.to_string())).filter(|_| !is_policy);
        let others = receipt.authority.endorsements.len().saturating_sub(1);
        let person = person.map(|name| words.agreed_with(name, others));
        let by_policy = is_policy.then_some(match receipt.decision.effective {
            Some(Effective::Deny) => words.counts_as_refusal,
            Some(Effective::Default) => words.default_taken,
            None => words.ended_unanswered,
        });
        Some(Self {
            decided: decided(words, &receipt.decision.values, requires),
            by_policy,
            who: person.map_or_else(
                || if is_policy { words.decided_by_policy } else { words.decided_by_link }.to_owned(),
                |name| visible::line(&name),
            ),
            at: When::new(reader, receipt.decided_at),
            // The note of a policy says once more that nobody answered.
            note: receipt.decision.note.filter(|_| !is_policy).as_deref().map(visible::lines),
            id: receipt.id.to_string(),
            digest: link.digest.to_string(),
            height: link.height,
        })
    }
}

/// The recorded values in the order in which they were asked for, then whatever else is recorded.
fn decided(words: &Words, values: &Json, requires: &Requires) -> Vec<Decided> {
    let Some(values) = values.as_object() else { return Vec::new() };
    let asked = requires.fields.iter().filter_map(|field| {
        let value = values.get(&field.name).filter(|value| !value.is_null())?;
        let is_document = matches!(field.kind, FieldKind::Document { .. });
        Some(Decided { title: field_title(field), answers: answers(words, field, value), is_document })
    });
    let strays = values.iter().filter(|(name, _)| requires.field(name).is_none());
    let strays = strays.map(|(name, value)| Decided {
        title: visible::line(name),
        answers: vec![visible::lines(&cell(value))],
        is_document: false,
    });
    asked.chain(strays).collect()
}

fn answers(words: &Words, field: &Field, value: &Json) -> Vec<String> {
    match (&field.kind, value) {
        (FieldKind::Choice { options, .. }, value) => {
            let ids: Vec<&Json> = value.as_array().map_or_else(|| vec![value], |ids| ids.iter().collect());
            let labels = option_labels(options);
            let label_of = |id: &Json| {
                let place = options.iter().position(|option| id.as_str() == Some(&option.id));
                place.and_then(|place| labels.get(place).cloned()).unwrap_or_else(|| visible::line(&cell(id)))
            };
            if ids.is_empty() {
                return vec![words.none_chosen.to_owned()];
            }
            ids.into_iter().map(label_of).collect()
        }
        (FieldKind::Boolean, Json::Bool(true)) => vec![words.yes.to_owned()],
        (FieldKind::Boolean, Json::Bool(false)) => vec![words.no.to_owned()],
        (FieldKind::Attestation, Json::Bool(true)) => vec![words.attested.to_owned()],
        (FieldKind::Document { .. }, value) => vec![visible::lines(&pretty(value))],
        (_, value) => vec![visible::lines(&cell(value))],
    }
}
