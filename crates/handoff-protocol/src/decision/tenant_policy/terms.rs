//! What a request keeps of the policy that it was raised under.

use serde::{Deserialize, Serialize};

use super::CapabilityLimits;
use crate::{
    decision::{
        authority::Authority,
        channels::ChannelFacts,
        directory::QuietWindow,
        terms::{Grade, Urgency},
    },
    principal::{AuthStrength, Role},
    timestamp::Timestamp,
};

/// The terms of a policy that outlast the raise.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct PolicyTerms {
    /// The number of the policy.
    pub version: u64,
    /// What every answer needs at the least.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub floors: Option<AuthorityFloors>,
    /// Who may answer where the request does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub authority: Option<Authority>,
    /// When channels are quiet.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub quiet_hours: Vec<QuietWindow>,
    /// What is said of channels.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub channels: Vec<ChannelRule>,
    /// What capabilities are held to.
    #[serde(default, skip_serializing_if = "CapabilityLimits::is_empty")]
    pub capabilities: CapabilityLimits,
}

/// What every answer needs at the least. Floors raise and never lower.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct AuthorityFloors {
    /// The lowest role.
    pub min_role: Role,
    /// The weakest authentication.
    pub min_auth_strength: AuthStrength,
    /// Whether a link alone may answer where the deployment permits it too.
    pub allow_link_only: bool,
}

/// What a policy says of a channel.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct ChannelRule {
    /// Which channel.
    pub channel: String,
    /// Whether it is used.
    pub is_enabled: bool,
    /// How far it is trusted to prove.
    pub max_grade: Grade,
    /// Whether it is trusted to tell who answers.
    pub can_authenticate_person: bool,
    /// Whether only addresses are used that their people confirmed.
    pub requires_binding: bool,
}

impl AuthorityFloors {
    /// The requirement that holds where less was declared.
    #[must_use]
    pub fn raise(self, mut declared: Authority) -> Authority {
        declared.min_role = declared.min_role.max(self.min_role);
        declared.auth_strength = declared.auth_strength.max(self.min_auth_strength);
        declared
    }
}

impl PolicyTerms {
    /// What is said of a channel.
    #[must_use]
    pub fn channel(&self, name: &str) -> Option<&ChannelRule> {
        self.channels.iter().find(|rule| rule.channel == name)
    }

    /// Whether a channel is to be quiet now.
    #[must_use]
    pub fn holds_back(&self, channel: &str, urgency: Urgency, now: Timestamp) -> bool {
        self.quiet_hours.iter().any(|window| window.holds_back(channel, urgency, now))
    }
}

impl ChannelRule {
    /// What a channel can do under this rule: never more than its adapter declares.
    #[must_use]
    pub fn narrow(&self, facts: ChannelFacts) -> ChannelFacts {
        ChannelFacts {
            max_grade: facts.max_grade.min(self.max_grade),
            can_authenticate_person: facts.can_authenticate_person && self.can_authenticate_person,
            ..facts
        }
    }
}
