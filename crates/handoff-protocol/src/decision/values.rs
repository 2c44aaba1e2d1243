//! Checking submitted values against the declared fields (section 7).

use std::collections::HashSet;

use super::{
    error::{FieldError, FieldErrorCode},
    field::{Field, FieldKind, is_provided},
    requires::Requires,
    schemas::Schemas,
};
use crate::json::{Json, Object, normalize_numbers};

/// Checks the values of a settling answer and collects every fault.
///
/// A `text` of a request that declares a sink for its values may say that its value went there.
///
/// # Errors
///
/// Each faulty field with its code: raw secrets first, since they are the fault that matters most, then declared fields
/// in declared order, then undeclared ones.
pub fn check(requires: &Requires, values: &Object, schemas: &dyn Schemas) -> Result<(), Vec<FieldError>> {
    let mut errors = Vec::new();
    for field in &requires.fields {
        match values.get(&field.name).filter(|value| !value.is_null()) {
            #[cfg(feature = "planted-faults")]
            None if crate::planted::Fault::RequiredMayBeMissing.is_planted() => {}
            None if field.required => {
                errors.push(fault(&field.name, FieldErrorCode::Required, "is required".to_owned()));
            }
            None => {}
            Some(value) if requires.value_sink.is_some() && is_text(field) && is_provided(value) => {}
            Some(value) => {
                if let Err((code, message)) = field.check(value, schemas) {
                    #[cfg(feature = "planted-faults")]
                    let message = crate::planted::quoting(message, value);
                    errors.push(fault(&field.name, code, message));
                }
            }
        }
    }
    for name in values.keys().filter(|name| requires.field(name).is_none()) {
        errors.push(fault(name, FieldErrorCode::UndeclaredField, "was not declared by this request".to_owned()));
    }
    errors.sort_by_key(|error| error.code != FieldErrorCode::SecretValueNotPermitted);
    #[cfg(feature = "planted-faults")]
    errors.truncate(if crate::planted::Fault::OnlyTheFirstFault.is_planted() { 1 } else { usize::MAX });
    #[cfg(feature = "planted-faults")]
    errors.retain(|error| {
        error.code != FieldErrorCode::UndeclaredField || !crate::planted::Fault::UndeclaredValuesAccepted.is_planted()
    });
    if errors.is_empty() { Ok(()) } else { Err(errors) }
}

/// Checks the values of a partial answer and collects every fault: what is submitted is judged, and what is missing is not
/// (rule S-3).
///
/// # Errors
///
/// As for [`check`].
pub fn check_submitted(requires: &Requires, values: &Object, schemas: &dyn Schemas) -> Result<(), Vec<FieldError>> {
    let faults = check(requires, values, schemas).err().unwrap_or_default();
    let is_missing = |fault: &FieldError| {
        fault.code == FieldErrorCode::Required && values.get(&fault.name).is_none_or(Json::is_null)
    };
    let faults: Vec<FieldError> = faults.into_iter().filter(|fault| !is_missing(fault)).collect();
    if faults.is_empty() { Ok(()) } else { Err(faults) }
}

/// Refuses raw secrets in values that nobody judges or keeps otherwise (rule K-S6): even the digest of a body that held
/// one would let it be tried out.
///
/// # Errors
///
/// Each secret field that holds a value.
pub(super) fn check_secrets(requires: &Requires, values: &Object) -> Result<(), Vec<FieldError>> {
    let code = FieldErrorCode::SecretValueNotPermitted;
    let faults: Vec<FieldError> = raw_secrets(requires, values)
        .into_iter()
        .map(|name| fault(name, code, "must not be given; the value itself goes to the request's sink".to_owned()))
        .collect();
    if faults.is_empty() { Ok(()) } else { Err(faults) }
}

/// The fields that hold a raw secret (rule K-S6), whatever else may be wrong with the values.
pub(super) fn raw_secrets<'r>(requires: &'r Requires, values: &Object) -> Vec<&'r str> {
    let secrets = requires.fields.iter().filter(|field| matches!(field.kind, FieldKind::Secret));
    secrets
        .filter(|field| values.get(&field.name).is_some_and(|value| !value.is_null() && !is_provided(value)))
        .map(|field| field.name.as_str())
        .collect()
}

fn is_text(field: &Field) -> bool {
    matches!(field.kind, FieldKind::Text { .. })
}

/// Brings the numbers of an answer's values to their stored spelling, or names each top-level field that holds one that
/// cannot be represented (rules N-3, N-4).
///
/// # Errors
///
/// One `out_of_range` a field.
pub fn normalize(values: &mut Json) -> Result<(), Vec<FieldError>> {
    normalize_numbers(values).map_err(|paths| {
        let mut named = HashSet::new();
        paths
            .iter()
            .map(|path| path.first_key().unwrap_or_default())
            .filter(|name| named.insert(*name))
            .map(|name| {
                fault(name, FieldErrorCode::OutOfRange, "must hold integers within +/-(2^53 - 1) alone".to_owned())
            })
            .collect()
    })
}

fn fault(name: &str, code: FieldErrorCode, message: String) -> FieldError {
    FieldError { name: name.to_owned(), code, message: Some(message) }
}
