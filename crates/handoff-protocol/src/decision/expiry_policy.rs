//! What a request declares for the case that nobody answers (sections 6 and 10).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{error::DecisionError, requires::Requires, schemas::Schemas, terms::OnExpiry, values};
use crate::{
    duration::ExactDuration,
    json::{DecodeError, Json, Object, ObjectReader},
};

/// A `ttl_policy`.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct TtlPolicy {
    /// What happens at the deadline.
    pub on_expiry: OnExpiry,
    /// The answer that counts then, for the policy `default`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Object>")]
    pub default_answer: Option<Json>,
    /// How often people are reminded, for the policy `park`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reminder_every: Option<ExactDuration>,
}

impl TtlPolicy {
    /// What holds when a request has a `ttl` and no policy: escalate, then deny (rule CL-6).
    #[must_use]
    pub const fn undeclared() -> Self {
        Self { on_expiry: OnExpiry::Escalate, default_answer: None, reminder_every: None }
    }

    /// Reads the policy that a tenant has for requests that declare none.
    ///
    /// # Errors
    ///
    /// [`DecisionError::InvalidRequest`] if its default answer could not settle this request, which then has to say itself
    /// what happens.
    pub(super) fn read_standing(
        declared: &Json,
        requires: &Requires,
        schemas: &dyn Schemas,
    ) -> Result<Self, DecisionError> {
        let reader = ObjectReader::new(declared, "ttl_policy")?;
        Self::read(reader, requires, schemas).map_err(|_| {
            DecisionError::invalid(
                "ttl_policy",
                "must be given: the default answer of this tenant's policy could not settle this request",
            )
        })
    }

    /// Reads a policy. A default answer must be one that could settle the request (rule D-5).
    pub(super) fn read(
        reader: ObjectReader<'_, '_>,
        requires: &Requires,
        schemas: &dyn Schemas,
    ) -> Result<Self, DecisionError> {
        let on_expiry = reader.choice("on_expiry", OnExpiry::ALL)?;
        let reminder_every = reminder_every(&reader)?;
        let default_answer = match (on_expiry, reader.optional("default_answer")) {
            (OnExpiry::Default, None) => {
                return Err(reader.error("default_answer", "is required with the policy `default`").into());
            }
            (OnExpiry::Default, Some(answer)) => {
                let place = reader.path();
                let place = place.key("default_answer");
                let Some(answer) = answer.as_object() else {
                    return Err(reader.error("default_answer", "must be an object").into());
                };
                if let Err(errors) = values::check(requires, answer, schemas) {
                    let names: Vec<&str> = errors
                        .iter()
                        .map(|error| error.name.as_str())
                        .filter(|name| requires.field(name).is_some())
                        .collect();
                    let names = if names.is_empty() { "an undeclared field".to_owned() } else { names.join(", ") };
                    return Err(DecisionError::invalid(
                        place.to_string(),
                        format!("must be an answer that could settle the request; look at: {names}"),
                    ));
                }
                Some(Json::Object(answer.clone()))
            }
            // Declared without need: kept and served, and never used.
            (_, declared) => {
                if let Some(answer) = declared {
                    let Some(values) = answer.as_object() else {
                        return Err(reader.error("default_answer", "must be an object").into());
                    };
                    if let [first, ..] = *values::raw_secrets(requires, values) {
                        let problem = format!("must not carry the value of a secret field; look at: {first}");
                        return Err(reader.error("default_answer", problem).into());
                    }
                }
                declared.cloned()
            }
        };
        reader.finish()?;
        Ok(Self { on_expiry, default_answer, reminder_every })
    }
}

/// Reads how often people are reminded: any time but none at all.
pub(super) fn reminder_every(reader: &ObjectReader<'_, '_>) -> Result<Option<ExactDuration>, DecodeError> {
    let every = super::raise::duration(reader, "reminder_every")?;
    if every.is_some_and(ExactDuration::is_zero) {
        return Err(reader.error("reminder_every", "must be longer than no time at all"));
    }
    Ok(every)
}
