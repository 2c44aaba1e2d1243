//! What a request declares for the case that nobody answers (sections 6 and 10).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{error::DecisionError, requires::Requires, schemas::Schemas, terms::OnExpiry, values};
use crate::json::{Json, Object, ObjectReader};

/// A `ttl_policy`.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct TtlPolicy {
    /// What happens at the deadline.
    pub on_expiry: OnExpiry,
    /// The answer that counts then, for the policy `default`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Object>")]
    pub default_answer: Option<Json>,
}

impl TtlPolicy {
    /// What holds when a request has a `ttl` and no policy: escalate, then deny (rule C-6).
    #[must_use]
    pub const fn undeclared() -> Self {
        Self { on_expiry: OnExpiry::Escalate, default_answer: None }
    }

    /// Reads a policy. A default answer must be one that could settle the request (rule D-5).
    pub(super) fn read(
        reader: ObjectReader<'_, '_>,
        requires: &Requires,
        schemas: &dyn Schemas,
    ) -> Result<Self, DecisionError> {
        let on_expiry = reader.choice("on_expiry", OnExpiry::ALL)?;
        if reader.optional("reminder_every").is_some() {
            return Err(reader.error("reminder_every", "is not available on this server").into());
        }
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
        Ok(Self { on_expiry, default_answer })
    }
}
