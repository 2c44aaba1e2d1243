//! Sentences that are put together from words and values.

use handoff_protocol::{
    decision::{
        Field, FieldError, FieldErrorCode, FieldKind, Lacking, Target,
        terms::{OnExpiry, TargetKind, Urgency},
    },
    json::ReadErrorKind,
    principal::AuthStrength,
};

use super::{Count, Words};
use crate::visible;

/// One fault of a submitted form, by the field that it is about.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct FieldFault {
    pub(crate) name: String,
    pub(crate) problem: Problem,
}

/// What is wrong with a field.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Problem {
    /// The engine refuses it.
    Refused(FieldErrorCode),
    /// It does not follow its schema, at these places as far as is known.
    Schema(Vec<String>),
    /// It is no JSON, from this line on.
    NotJson {
        /// What is wrong there.
        kind: ReadErrorKind,
        /// Counted from 1.
        line: usize,
    },
}

impl From<&FieldError> for FieldFault {
    fn from(error: &FieldError) -> Self {
        Self { name: error.name.clone(), problem: Problem::Refused(error.code) }
    }
}

/// Puts values where a text has `{}`, in order.
pub(crate) fn fill(text: &str, values: &[&str]) -> String {
    let mut values = values.iter();
    let mut parts = text.split("{}");
    let mut filled = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        filled.push_str(values.next().unwrap_or(&""));
        filled.push_str(part);
    }
    filled
}

impl Words {
    /// How many must agree, and how many have answered.
    pub(crate) fn must_agree(&self, quorum: u64, answered: usize) -> String {
        let quorum = quorum.to_string();
        match answered {
            1 => fill(self.one_answered, &[&quorum]),
            _ => fill(self.many_answered, &[&answered.to_string(), &quorum]),
        }
    }

    /// Who decided, where others had to agree.
    pub(crate) fn agreed_with(&self, name: String, others: usize) -> String {
        match others {
            0 => name,
            1 => fill(self.one_agreed, &[&name]),
            _ => fill(self.many_agreed, &[&name, &others.to_string()]),
        }
    }

    /// What an answer lets the program do, where so many must agree.
    pub(crate) fn effect_once_for(&self, quorum: u64, hours: u64) -> String {
        let hours = hours.to_string();
        match quorum {
            0 | 1 => fill(self.effect_once, &[&hours]),
            2 => fill(self.effect_once_pair, &[&hours]),
            _ => {
                let others = quorum.saturating_sub(1);
                fill(self.effect_once_quorum, &[&quorum.to_string(), &others.to_string(), &hours])
            }
        }
    }

    /// Whom a request is passed on to, where that is no one person.
    pub(crate) fn target(&self, target: &Target) -> String {
        let value = visible::line(&target.value);
        match target.kind {
            TargetKind::Principal => value,
            TargetKind::Role => fill(self.to_role, &[&value]),
            TargetKind::Group => fill(self.to_group, &[&value]),
            TargetKind::Rotation => fill(self.to_rotation, &[&value]),
            TargetKind::Anyone => self.to_anyone.to_owned(),
        }
    }

    /// What the form says of sending it.
    pub(crate) fn submit_help_for(&self, quorum: u64) -> String {
        match quorum {
            0 | 1 => self.submit_help.to_owned(),
            _ => fill(self.submit_help_quorum, &[&quorum.to_string()]),
        }
    }

    /// How urgent it is, where that is worth a word.
    pub(crate) fn urgency(&self, urgency: Urgency) -> Option<&'static str> {
        match urgency {
            Urgency::Low | Urgency::Normal => None,
            Urgency::High => Some(self.urgent),
            Urgency::Critical => Some(self.critical),
        }
    }

    /// What becomes of a request that nobody answers.
    pub(crate) fn otherwise(&self, policy: Option<OnExpiry>) -> &'static str {
        match policy {
            Some(OnExpiry::Default) => self.otherwise_default,
            Some(OnExpiry::Park) => self.otherwise_park,
            Some(OnExpiry::ExpireAndDeny | OnExpiry::Escalate) | None => self.otherwise_deny,
        }
    }

    /// What is lacking, to the person who lacks it.
    pub(crate) fn lacking(&self, lacking: Lacking) -> String {
        match lacking {
            Lacking::Role(role) => fill(self.lacks_role, &[role.as_str()]),
            Lacking::Strength(AuthStrength::Reauth) => self.lacks_reauth.to_owned(),
            Lacking::Strength(AuthStrength::Mfa) => self.lacks_mfa.to_owned(),
            Lacking::Strength(AuthStrength::Session | AuthStrength::LinkOnly) => self.lacks_session.to_owned(),
            // Grants have no page, so nobody reads this one.
            Lacking::Assignment | Lacking::Scope(_) => self.lacks_assignment.to_owned(),
        }
    }

    /// What is wrong with a field, to the person who filled it in.
    pub(crate) fn fault(&self, kind: &FieldKind, problem: &Problem) -> String {
        let code = match problem {
            Problem::NotJson { kind, line } => {
                return fill(self.fault_not_json, &[self.json_fault(*kind), &line.to_string()]);
            }
            Problem::Schema(places) if places.is_empty() => return self.fault_schema.to_owned(),
            Problem::Schema(places) => {
                let place = |place: &String| {
                    if place.is_empty() { self.fault_schema_root.to_owned() } else { visible::line(place) }
                };
                return fill(self.fault_schema_at, &[&places.iter().map(place).collect::<Vec<_>>().join(", ")]);
            }
            Problem::Refused(code) => *code,
        };
        match (code, kind) {
            (FieldErrorCode::Required, FieldKind::Attestation) | (FieldErrorCode::AttestationMustBeTrue, _) => {
                self.fault_tick.to_owned()
            }
            (FieldErrorCode::Required, FieldKind::Choice { multi: true, .. }) => self.fault_choose_some.to_owned(),
            (FieldErrorCode::Required, FieldKind::Choice { .. } | FieldKind::Boolean) => {
                self.fault_choose_one.to_owned()
            }
            (FieldErrorCode::Required, _) => self.fault_fill_in.to_owned(),
            (FieldErrorCode::NotAnOption, _) => self.fault_not_shown.to_owned(),
            (_, FieldKind::Number { min, max }) => self.number(*min, *max),
            (FieldErrorCode::OutOfRange, FieldKind::Document { .. }) => self.fault_document_numbers.to_owned(),
            (FieldErrorCode::SchemaViolation, _) => self.fault_schema.to_owned(),
            (FieldErrorCode::OutOfRange, FieldKind::Text { max_len: Some(max) }) => {
                fill(self.fault_too_long, &[&max.to_string()])
            }
            (_, _) => self.fault_other.to_owned(),
        }
    }

    fn json_fault(&self, kind: ReadErrorKind) -> &'static str {
        use ReadErrorKind as Kind;
        match kind {
            Kind::UnexpectedEnd => self.json_end,
            Kind::ExpectedValue => self.json_value,
            Kind::ExpectedName => self.json_name,
            Kind::ExpectedColon | Kind::ExpectedCommaOrBracket | Kind::ExpectedCommaOrBrace => self.json_mark,
            Kind::InvalidNumber => self.json_number,
            Kind::ControlCharacter | Kind::InvalidEscape | Kind::LoneSurrogate => self.json_string,
            Kind::DuplicateName => self.json_twice,
            Kind::TooDeep(_) => self.json_deep,
            Kind::TrailingText => self.json_trailing,
            _ => self.json_other,
        }
    }

    /// What is wrong with something that has no field on the page.
    pub(crate) fn stray_fault(&self, name: &str) -> String {
        fill(self.fault_stray, &[&visible::line(name)])
    }

    /// What a number field takes.
    pub(crate) fn number(&self, min: Option<i64>, max: Option<i64>) -> String {
        match (min, max) {
            (Some(min), Some(max)) => fill(self.number_between, &[&min.to_string(), &max.to_string()]),
            (Some(min), None) => fill(self.number_from, &[&min.to_string()]),
            (None, Some(max)) => fill(self.number_to, &[&max.to_string()]),
            (None, None) => self.number_any.to_owned(),
        }
    }

    /// What a text field takes, where that is limited.
    pub(crate) fn text_limit(&self, max: u64) -> String {
        fill(self.text_limit, &[&max.to_string()])
    }

    /// So many of something.
    pub(crate) fn count(number: u64, of: Count) -> Option<String> {
        match number {
            0 => None,
            1 => Some(format!("1 {}", of.one)),
            number => Some(format!("{number} {}", of.many)),
        }
    }
}

/// What a field is called on the page: its label, or else its name as people write, "Po number" for `po_number`.
pub(crate) fn field_title(field: &Field) -> String {
    if let Some(label) = field.label.as_ref().filter(|label| !visible::is_blank(label)) {
        return visible::line(label);
    }
    let words = field.name.split('_').filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
    let mut letters = words.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::fill;

    #[test]
    fn values_go_where_the_text_has_places_for_them() {
        assert_eq!(fill("from {} to {}.", &["1", "2"]), "from 1 to 2.");
        assert_eq!(fill("{} and {}", &["{}", "b"]), "{} and b");
        assert_eq!(fill("none", &["x"]), "none");
    }
}
