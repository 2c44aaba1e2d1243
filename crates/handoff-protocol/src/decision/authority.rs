//! Authority: what an answer needs, and whether an answerer has it (section 5).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{error::Lacking, limits, target::Target, terms::TargetKind};
use crate::{
    json::{DecodeError, ObjectReader},
    principal::{AuthStrength, Principal, Role},
    timestamp::Timestamp,
};

/// The effective requirement of a request, as a receipt records it.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[schemars(rename = "EffectiveAuthority")]
pub struct Authority {
    /// The lowest role that may answer.
    pub min_role: Role,
    /// The weakest authentication that may answer.
    pub auth_strength: AuthStrength,
    /// Who may answer; empty for whoever satisfies the rest (rule A-4).
    #[serde(default)]
    #[schemars(length(max = limits::ASSIGNEES))]
    pub assignees: Vec<Target>,
    /// How many must agree (rule A-8).
    #[schemars(range(min = 1))]
    pub quorum: u64,
    /// Always true: a requester never decides (rule P-4).
    #[schemars(extend("const" = true))]
    pub forbid_requester: bool,
    /// Why so much is asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = limits::REASON_CHARS))]
    pub reason: Option<String>,
}

impl Default for Authority {
    fn default() -> Self {
        Self {
            min_role: Role::Viewer,
            auth_strength: AuthStrength::Session,
            assignees: Vec::new(),
            quorum: 1,
            forbid_requester: true,
            reason: None,
        }
    }
}

impl Authority {
    pub(super) fn read(reader: ObjectReader<'_, '_>) -> Result<Self, DecodeError> {
        let min_role = reader.optional_choice("min_role", &Role::ALL)?.unwrap_or_default();
        let auth_strength = reader.optional_choice("auth_strength", &AuthStrength::ALL)?.unwrap_or_default();
        let quorum = reader.optional_integer("quorum")?.unwrap_or(1);
        let quorum =
            u64::try_from(quorum).ok().filter(|quorum| (1..=limits::MAX_QUORUM).contains(quorum)).ok_or_else(|| {
                reader.error("quorum", format!("must be from 1 to {} on this server", limits::MAX_QUORUM))
            })?;
        if reader.optional_boolean("forbid_requester")? == Some(false) {
            return Err(reader.error("forbid_requester", "can only be true: a requester never decides"));
        }
        let mut assignees = Vec::new();
        if let Some(array) = reader.optional_array("assignees")? {
            array.count_within(0, limits::ASSIGNEES)?;
            for item in array.items() {
                let target = Target::read(item.object()?)?;
                if matches!(target.kind, TargetKind::Group | TargetKind::Rotation) {
                    return Err(item.error("can be a `principal`, a `role` or `anyone` on this server"));
                }
                assignees.push(target);
            }
        }
        let authority = Self {
            min_role,
            auth_strength,
            assignees,
            quorum,
            forbid_requester: true,
            reason: reader.optional_text("reason", 0, limits::REASON_CHARS)?.map(str::to_owned),
        };
        reader.finish()?;
        Ok(authority)
    }

    /// Whether this principal, as it stands at a time, may answer (rules ).
    ///
    /// # Errors
    ///
    /// The first that is lacking: role, then strength, then assignment.
    pub fn check(&self, principal: &Principal, now: Timestamp) -> Result<(), Lacking> {
        if principal.role < self.min_role {
            return Err(Lacking::Role(self.min_role));
        }
        if principal.grade(now) < self.auth_strength {
            return Err(Lacking::Strength(self.auth_strength));
        }
        if !self.assignees.is_empty() && !self.assignees.iter().any(|target| target.means(principal)) {
            return Err(Lacking::Assignment);
        }
        Ok(())
    }
}
