//! Targets that can mean nobody, ever: refused where somebody is to answer. Where somebody is only to be reached, nobody is
//! an outcome and no error (rule V-9).

use super::{directory::Directory, error::DecisionError, requires::Requires, target::Target, terms::TargetKind};
use crate::{id::UserId, json::DecodeError, principal::Role};

/// Checks that each assignee can be somebody, as far as the directory knows.
///
/// # Errors
///
/// [`DecisionError::InvalidRequest`] names the first that cannot, and the mend.
pub(super) fn check_assignees(requires: &Requires, directory: &Directory) -> Result<(), DecisionError> {
    let assignees = requires.authority.assignees.iter().enumerate();
    assignees.into_iter().try_for_each(|(place, target)| {
        Ok(check_target(target, directory, &format!("requires.authority.assignees[{place}]"))?)
    })
}

/// Checks that a target at a path can be somebody: that a role is one, that an id is that of a person, and that a place is
/// known, where there is a directory that knows places.
///
/// # Errors
///
/// [`DecodeError`] names the target's value and the mend.
pub(super) fn check_target(target: &Target, directory: &Directory, path: &str) -> Result<(), DecodeError> {
    let problem = match target.kind {
        TargetKind::Role if !Role::ALL.iter().any(|(name, _)| *name == target.value) => {
            "must be a role: `viewer`, `editor` or `admin`"
        }
        TargetKind::Principal if UserId::parse(&target.value).is_err() => {
            "must be the id of a person, `usr_` and a ULID: nobody else answers"
        }
        TargetKind::Group if !directory.knows_group(&target.value) => {
            "must be a group that this server is configured with"
        }
        TargetKind::Rotation if !directory.knows_rotation(&target.value) => {
            "must be a rotation that this server is configured with"
        }
        TargetKind::Role | TargetKind::Principal | TargetKind::Group | TargetKind::Rotation | TargetKind::Anyone => {
            return Ok(());
        }
    };
    Err(DecodeError::new(format!("{path}.value"), problem))
}
