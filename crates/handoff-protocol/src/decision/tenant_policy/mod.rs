//! A tenant's policy document (section 24): defaults, floors, ladders, hours of quiet, limits.
//!
//! A document is read whole or refused whole, and it is applied to raises only: a request keeps the terms that it was
//! raised under, whatever the document becomes.

mod carried_out;
mod fit;
mod quiet;
mod read;
mod secrets;
mod terms;

use serde::{Deserialize, Serialize};

pub use self::terms::{AuthorityFloors, ChannelRule, PolicyTerms};
use super::{
    authority::Authority,
    callback::{CallbackFormat, CallbackPolicy},
    callback_url::CallbackUrl,
    directory::QuietWindow,
    routing::{Routing, RoutingAsk},
    terms::{Liveness, SharedWith, Urgency, WaiterTerminal},
};
use crate::{
    digest::Digest,
    duration::ExactDuration,
    id::{OrgId, PrincipalId},
    json::{DecodeError, Json},
};

/// A policy document that can be applied.
#[derive(Clone, Debug, PartialEq)]
pub struct TenantPolicy {
    /// The tenant that it is of.
    pub org_id: OrgId,
    /// What holds where a raise says nothing.
    pub defaults: PolicyDefaults,
    /// What every answer needs at the least, whatever a request declares.
    pub floors: Option<AuthorityFloors>,
    /// Who is reached where a raise names nobody.
    pub routing: PolicyRouting,
    /// What is said of channels, which can only narrow what their adapters declare.
    pub channels: Vec<ChannelRule>,
    /// Where signals are pushed to.
    pub callbacks: Vec<CallbackEndpoint>,
    /// What capabilities are held to.
    pub capabilities: CapabilityLimits,
    /// What is recorded of navigations: `none`, `origin` or `full_url`.
    pub record_navigations: Option<String>,
    /// How long things are kept.
    pub retention: Retention,
    /// The document as it was given.
    document: Json,
    digest: Digest,
}

/// A policy with the number that it has among its tenant's policies, from 1.
#[derive(Clone, Debug, PartialEq)]
pub struct VersionedPolicy {
    /// The number.
    pub version: u64,
    /// The policy.
    pub policy: TenantPolicy,
}

/// What holds where a raise says nothing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PolicyDefaults {
    /// How long until the deadline.
    pub ttl: Option<ExactDuration>,
    /// What happens then, as declared: whether a default answer fits is known once there is a request.
    pub ttl_policy: Option<Json>,
    /// How long an attempt window lasts.
    pub attempt_ttl: Option<ExactDuration>,
    /// Who may answer.
    pub authority: Option<Authority>,
    /// Whether waiters live on a lease.
    pub liveness: Option<Liveness>,
    /// What becomes of a request whose waiter dies.
    pub on_waiter_terminal: Option<WaiterTerminal>,
}

/// Who is reached where a raise names nobody.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PolicyRouting {
    /// Whom ladders reach that name nobody.
    pub default_targets: Option<Vec<super::target::Target>>,
    /// The ladder of each urgency that has one of its own.
    pub ladders: Vec<(Urgency, RoutingAsk)>,
    /// Whether a raise may say who is reached.
    pub allow_request_override: bool,
    /// When channels are quiet.
    pub quiet_hours: Vec<QuietWindow>,
}

/// Where signals are pushed to. Secrets are named, never given.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct CallbackEndpoint {
    /// The address.
    pub url: String,
    /// The names of the secrets that sign.
    pub secret_refs: Vec<String>,
    /// Whether it is pushed to.
    pub is_active: bool,
    /// How often a push is tried, where it says.
    pub max_attempts: Option<u64>,
    /// How long one try may take, in seconds, where it says.
    pub timeout_seconds: Option<u64>,
}

/// What capabilities are held to.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub struct CapabilityLimits {
    /// How long a grant may live from each arming of the attempt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grant_ttl: Option<ExactDuration>,
    /// How long a session's lease lasts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_lease: Option<ExactDuration>,
    /// The widest blast radius that is accepted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_shared_with: Option<SharedWith>,
}

/// How long things are kept, as ISO 8601 durations that may count years and months.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Retention {
    /// Receipts.
    pub receipts: Option<String>,
    /// Copies of what was shown.
    pub rendered_copies: Option<String>,
    /// What was tried of deliveries.
    pub delivery_attempts: Option<String>,
}

impl TenantPolicy {
    /// The name of every member that a document can have, at any depth: what a misspelled one may have been meant to be.
    pub const MEMBERS: &'static [&'static str] = read::MEMBERS;

    /// Reads a policy document of a tenant, whole or not at all.
    ///
    /// # Errors
    ///
    /// [`DecodeError`] naming the first member that is wrong or not known, and the mend. A version that is not known is
    /// the first thing that is looked at.
    ///
    /// ```
    /// use handoff_protocol::{decision::tenant_policy::TenantPolicy, id::OrgId, json::read_str};
    ///
    /// let tenant = OrgId::parse("org_01K0A2QW8ZC4YRXB2N6VD9FTHE")?;
    /// let newer = read_str(r#"{"v":2,"org_id":"org_01K0A2QW8ZC4YRXB2N6VD9FTHE"}"#)?;
    /// let refused = TenantPolicy::read(newer, tenant).unwrap_err();
    /// assert_eq!(refused.to_string(), "`v` must be 1, the one version of policies that this server understands");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn read(document: Json, tenant: OrgId) -> Result<Self, DecodeError> {
        read::policy(document, tenant)
    }

    /// The document as it was given.
    #[must_use]
    pub fn document(&self) -> &Json {
        &self.document
    }

    /// What tells one version from another.
    #[must_use]
    pub fn digest(&self) -> Digest {
        self.digest
    }
}

impl VersionedPolicy {
    /// What a request keeps of this policy when it is raised under it.
    #[must_use]
    pub fn terms(&self) -> PolicyTerms {
        PolicyTerms {
            version: self.version,
            floors: self.policy.floors,
            authority: self.policy.defaults.authority.clone(),
            quiet_hours: self.policy.routing.quiet_hours.clone(),
            channels: self.policy.channels.clone(),
            capabilities: self.policy.capabilities.clone(),
        }
    }
}

impl TenantPolicy {
    /// What holds of callbacks in this tenant: what the deployment says, and this policy's endpoint as the tenant's
    /// default (section 19).
    pub(super) fn callbacks_over(&self, deployment: &CallbackPolicy) -> CallbackPolicy {
        let mut callbacks = deployment.clone();
        let active = self.callbacks.iter().filter(|endpoint| endpoint.is_active);
        callbacks.endpoints.extend(active.map(|endpoint| super::callback::CallbackEndpoint {
            owner: Some(PrincipalId::Org(self.org_id)),
            url: Some(endpoint.url.clone()),
            secret_ref: endpoint.secret_refs.first().cloned(),
            format: CallbackFormat::default(),
        }));
        callbacks
    }

    /// Whether this policy says that nothing is pushed to an address, however it is spelled.
    pub(super) fn disables(&self, url: &str) -> bool {
        let url = CallbackUrl::parse(url);
        self.callbacks.iter().any(|endpoint| !endpoint.is_active && CallbackUrl::parse(&endpoint.url) == url)
    }
}

impl CapabilityLimits {
    /// Whether nothing is said.
    fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl PolicyRouting {
    /// The ladder of a raise of an urgency: what the raise says, what this policy says, what the deployment has, in this
    /// order, for targets and rungs each (rule V-10).
    #[must_use]
    pub(super) fn resolve(&self, asked: &RoutingAsk, urgency: Urgency, starter: &Routing) -> Routing {
        let ours = self.ladders.iter().find(|(of, _)| *of == urgency).map(|(_, routing)| routing);
        let targets = asked
            .targets
            .as_ref()
            .or_else(|| ours.and_then(|ours| ours.targets.as_ref()))
            .or(self.default_targets.as_ref())
            .unwrap_or(&starter.targets);
        let ladder =
            asked.ladder.as_ref().or_else(|| ours.and_then(|ours| ours.ladder.as_ref())).unwrap_or(&starter.ladder);
        Routing { targets: targets.clone(), ladder: ladder.clone() }
    }
}
