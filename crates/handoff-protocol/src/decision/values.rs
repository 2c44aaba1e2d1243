//! Checking submitted values against the declared fields (section 7).

use std::collections::HashSet;

use super::{
    error::{FieldError, FieldErrorCode},
    requires::Requires,
    schemas::Schemas,
};
use crate::json::{Json, Object, normalize_numbers};

/// Checks the values of a settling answer and collects every fault.
///
/// # Errors
///
/// Each faulty field with its code, declared fields first, in declared order.
pub fn check(requires: &Requires, values: &Object, schemas: &dyn Schemas) -> Result<(), Vec<FieldError>> {
    let mut errors = Vec::new();
    for field in &requires.fields {
        match values.get(&field.name).filter(|value| !value.is_null()) {
            None if field.required => {
                errors.push(fault(&field.name, FieldErrorCode::Required, "is required".to_owned()));
            }
            None => {}
            Some(value) => {
                if let Err((code, message)) = field.check(value, schemas) {
                    errors.push(fault(&field.name, code, message));
                }
            }
        }
    }
    for name in values.keys().filter(|name| requires.field(name).is_none()) {
        errors.push(fault(name, FieldErrorCode::UndeclaredField, "was not declared by this request".to_owned()));
    }
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
