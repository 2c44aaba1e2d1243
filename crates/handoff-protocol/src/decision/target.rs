//! Targets: who a request is meant for.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{limits, terms::TargetKind};
use crate::{
    json::{DecodeError, ObjectReader},
    principal::{Principal, Role},
};

/// A person, or a place that becomes people when somebody is to be reached (rule V-9).
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct Target {
    /// What the value names.
    pub kind: TargetKind,
    /// The name.
    #[schemars(length(max = limits::TARGET_VALUE_CHARS))]
    pub value: String,
}

impl Target {
    /// Anybody: the starter ladder's target.
    #[must_use]
    pub fn anyone() -> Self {
        Self { kind: TargetKind::Anyone, value: "*".to_owned() }
    }

    pub(super) fn read(reader: ObjectReader<'_, '_>) -> Result<Self, DecodeError> {
        let target = Self {
            kind: reader.choice("kind", TargetKind::ALL)?,
            value: reader.text("value", 0, limits::TARGET_VALUE_CHARS)?.to_owned(),
        };
        reader.finish()?;
        Ok(target)
    }

    /// Reads a target of whom an answer is to come: one that somebody can be known to be meant by.
    pub(super) fn read_answerer(reader: ObjectReader<'_, '_>) -> Result<Self, DecodeError> {
        let kind = reader.path();
        let kind = kind.key("kind");
        let fault = DecodeError::at(kind, "can be `principal`, `role` or `anyone` on this server");
        let target = Self::read(reader)?;
        if matches!(target.kind, TargetKind::Group | TargetKind::Rotation) { Err(fault) } else { Ok(target) }
    }

    /// Whether the principal is meant by this target (rule A-4): a role is met by that role or a higher one. Groups and
    /// rotations are resolved by a directory before they come here, so by themselves they mean nobody.
    #[must_use]
    pub fn means(&self, principal: &Principal) -> bool {
        match self.kind {
            TargetKind::Principal => principal.id().is_some_and(|id| id.to_string() == self.value),
            TargetKind::Role => Role::ALL.iter().any(|(name, role)| *name == self.value && principal.role >= *role),
            TargetKind::Anyone => true,
            TargetKind::Group | TargetKind::Rotation => false,
        }
    }
}
