//! Sinks: where values go that this server must not keep (section 17).

use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;
use zeroize::Zeroizing;

use super::{
    answer::check_authority,
    context::{Context, check_person},
    error::DecisionError,
    idempotency::IdempotencyKey,
    limits,
    request::Request,
};
use crate::{
    digest::Digest,
    json::{DecodeError, Json, Object, ObjectReader},
    principal::Principal,
    secret::Secret,
};

/// A declared `value_sink`: where the values of a request go.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ValueSink {
    /// Whose it is; the deployment's default sink where none is named.
    pub provider: Option<String>,
    /// What the provider is to do with the values, in its own words.
    pub op: Option<String>,
    /// Where they go, opaque here (rule K-S7).
    pub reference: String,
}

impl ValueSink {
    pub(super) fn read(reader: ObjectReader<'_, '_>) -> Result<Self, DecodeError> {
        let owned = |text: Option<&str>| text.map(str::to_owned);
        let reference = reader.text("ref", 1, limits::SINK_REF_CHARS)?;
        if reference.contains("://") {
            return Err(reader.error("ref", "must be the provider's own name for the place, and not an address"));
        }
        let sink = Self {
            provider: owned(reader.optional_text("provider", 0, limits::SINK_NAME_CHARS)?),
            op: owned(reader.optional_text("op", 0, limits::SINK_NAME_CHARS)?),
            reference: reference.to_owned(),
        };
        reader.finish()?;
        Ok(sink)
    }
}

/// Values on their way to a sink. They are wiped when this is dropped, and nothing prints them.
#[derive(Debug)]
pub struct SinkSubmission {
    values: Secret<Json>,
}

impl SinkSubmission {
    /// Reads the body of a submission by a principal.
    ///
    /// # Errors
    ///
    /// [`DecisionError::RequesterMayNotAnswer`] for a machine (rule P-5), [`DecisionError::InsufficientScope`] for a
    /// link, then [`DecisionError::InvalidRequest`], which names members and never what is in them.
    pub fn read(principal: &Principal, body: Secret<Json>) -> Result<Self, DecisionError> {
        check_person(principal)?;
        let reader = ObjectReader::new(body.expose(), "")?;
        let values = reader.object("values")?;
        if values.json().len() > limits::ANSWER_MEMBERS {
            return Err(reader.error("values", format!("must hold at most {} members", limits::ANSWER_MEMBERS)).into());
        }
        reader.finish()?;
        let take = |body: &mut Json| body.as_object_mut().and_then(|body| body.remove("values")).unwrap_or_default();
        Ok(Self { values: body.take(take) })
    }

    /// What a repeat under the same idempotency key must equal (rule K-5).
    ///
    /// It is kept with the replay for a day, so it must not let anyone try secrets out: it is keyed with the
    /// idempotency key itself, of which only a digest is kept.
    ///
    /// # Errors
    ///
    /// [`DecisionError::InvalidRequest`] for a number that has no canonical form.
    pub fn digest(&self, key: &IdempotencyKey) -> Result<Digest, DecisionError> {
        // Where the number stands is left out: names below the first may belong to the secret.
        let canonical = self.values.expose().canonical().map(Zeroizing::new);
        let canonical = canonical.map_err(|_| {
            DecisionError::invalid(
                "values",
                "must hold integers within +/-(2^53 - 1) alone; send other numbers as text",
            )
        })?;
        let mut mac = Hmac::<Sha256>::new_from_slice(key.as_str().as_bytes()).map_err(|_| DecisionError::Internal)?;
        mac.update(canonical.as_bytes());
        Ok(Digest::from_bytes(mac.finalize().into_bytes().into()))
    }

    /// The names that were submitted, for whoever checks them: the values stay here.
    #[must_use]
    pub fn names(&self) -> SubmittedNames {
        let members = self.values.expose().as_object().into_iter().flatten();
        SubmittedNames(members.map(|(name, value)| (name.to_owned(), Json::from(!value.is_null()))).collect())
    }

    /// Hands the values over, an object of one member a field.
    #[must_use]
    pub fn into_values(self) -> Secret<Json> {
        self.values
    }
}

/// The names of a submission, each with whether it has a value.
#[derive(Clone, Debug, PartialEq)]
pub struct SubmittedNames(Object);

impl SubmittedNames {
    /// The names, in their order.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.keys()
    }
}

/// Checks that values may go to a request's sink (rules K-S1, K-S2): the request is pending, the principal could answer it,
/// and every name is a declared field's.
///
/// # Errors
///
/// The settled conflict of a request that ended; [`DecisionError::InsufficientAuthority`];
/// [`DecisionError::AuthStrengthNotPermitted`]; [`DecisionError::InvalidRequest`] for a request that does not declare the
/// place, and naming the first name that is not declared or has no value.
pub fn check_submission(
    pending: &Request,
    reference: &str,
    submitted: &SubmittedNames,
    principal: &Principal,
    context: &Context<'_>,
) -> Result<(), DecisionError> {
    pending.check_pending()?;
    let requires = pending.requires()?;
    check_authority(pending, &requires, principal, context)?;
    if !pending.sink_refs().contains(&reference) {
        return Err(DecisionError::invalid(
            "request_id",
            "is of a request that does not declare this place for values",
        ));
    }
    let names = Json::Object(submitted.0.clone());
    let names = ObjectReader::new(&names, "values")?;
    for field in &requires.fields {
        if names.optional_boolean(&field.name)? == Some(false) {
            return Err(names.error(&field.name, "must have a value").into());
        }
    }
    #[cfg(feature = "planted-faults")]
    if crate::planted::Fault::UndeclaredSinkNames.is_planted() {
        return Ok(());
    }
    Ok(names.finish()?)
}
