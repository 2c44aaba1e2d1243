//! Whether a person who is named is known here, where a directory says who is.

use handoff_protocol::{
    decision::{DecisionError, Policy, Target, terms::TargetKind},
    id::{PrincipalId, UserId},
};

use crate::{
    identity::documents::PrincipalRecord,
    transaction::{Halt, View},
};

/// Checks that a person whom a request is passed to is known: to the directory, or as somebody who may enter. A server
/// without a directory knows of nobody and takes everybody.
///
/// # Errors
///
/// [`DecisionError::InvalidRequest`] names the target's value and the mend.
pub(super) fn check_person(
    view: &View<'_>,
    target: &Target,
    policy: &Policy,
    path: &str,
) -> Result<(), Halt<DecisionError>> {
    let directory = &policy.directory;
    if target.kind != TargetKind::Principal || directory.is_empty() {
        return Ok(());
    }
    // What is no id of a person is refused with its own words.
    let Ok(id) = UserId::parse(&target.value) else { return Ok(()) };
    if directory.person(id).is_some() || view.get::<PrincipalRecord, _>(PrincipalId::User(id))?.is_some() {
        return Ok(());
    }
    let problem = "must be the id of somebody whom this server knows";
    Err(Halt::Refuse(DecisionError::invalid(format!("{path}.value"), problem)))
}
