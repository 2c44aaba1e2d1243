//! Authority: what an answer needs, and whether an answerer has it (section 5).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    context::Policy,
    directory::Directory,
    error::{DecisionError, Lacking},
    limits,
    target::Target,
};
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
        let quorum = u64::try_from(quorum)
            .ok()
            .filter(|quorum| *quorum > 0)
            .ok_or_else(|| reader.error("quorum", "must be at least 1"))?;
        if reader.optional_boolean("forbid_requester")? == Some(false) {
            return Err(reader.error("forbid_requester", "can only be true: a requester never decides"));
        }
        let mut assignees = Vec::new();
        if let Some(array) = reader.optional_array("assignees")? {
            array.count_within(0, limits::ASSIGNEES)?;
            for item in array.items() {
                assignees.push(Target::read(item.object()?)?);
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

    /// Refuses a quorum that the deployment does not take, rather than taking it for a smaller one (rule A-8).
    pub(super) fn check_quorum(&self, policy: &Policy) -> Result<(), DecisionError> {
        #[cfg(feature = "planted-faults")]
        if crate::planted::Fault::QuorumBeyondTheMaximum.is_planted() {
            return Ok(());
        }
        if self.quorum <= policy.max_quorum {
            return Ok(());
        }
        let problem = format!("must be from 1 to {} on this server", policy.max_quorum);
        Err(DecisionError::invalid("requires.authority.quorum", problem))
    }

    /// Whether this principal, as it stands at a time, may answer (rules ). `also_assigned` are those whom
    /// the request was passed on to, besides the declared assignees; the directory knows who groups and rotations are.
    ///
    /// # Errors
    ///
    /// The first that is lacking: role, then strength, then assignment.
    pub fn check(
        &self,
        principal: &Principal,
        also_assigned: &[Target],
        directory: &Directory,
        now: Timestamp,
    ) -> Result<(), Lacking> {
        let (needed, needs) = (self.min_role, self.auth_strength);
        #[cfg(feature = "planted-faults")]
        let needed = if crate::planted::Fault::RoleUnchecked.is_planted() { Role::Viewer } else { needed };
        #[cfg(feature = "planted-faults")]
        let needs = if crate::planted::Fault::StrengthUnchecked.is_planted() { AuthStrength::LinkOnly } else { needs };
        if principal.role < needed {
            return Err(Lacking::Role(needed));
        }
        if principal.grade(now) < needs {
            return Err(Lacking::Strength(needs));
        }
        #[cfg(feature = "planted-faults")]
        if crate::planted::Fault::AssigneesUnchecked.is_planted() {
            return Ok(());
        }
        let mut may_answer = self.assignees.iter().chain(also_assigned);
        if !self.assignees.is_empty() && !may_answer.any(|target| directory.means(target, principal, now)) {
            return Err(Lacking::Assignment);
        }
        Ok(())
    }
}
