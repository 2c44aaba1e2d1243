//! A tenant's policy document, as far as this build carries it out: what its published schema is made from.
//!
//! [`TenantPolicy::read`](crate::decision::tenant_policy::TenantPolicy::read) is the law here as well. What the contract
//! has and this build refuses, such as `retention`, is left out.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

use super::{Assignee, AuthoritySpec, RoutingSpec, TtlPolicySpec};
use crate::{
    decision::{
        limits,
        terms::{Grade, Liveness, SharedWith, WaiterTerminal},
    },
    duration::ExactDuration,
    id::{OrgId, PrincipalId},
    json::Object,
    principal::{AuthStrength, Role},
    timestamp::Timestamp,
};

/// What holds in a tenant: defaults, floors that only raise, who is reached and when, limits. It is read whole or refused
/// whole, names secrets and never carries one.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Policy")]
#[non_exhaustive]
pub struct PolicyDocument {
    /// The version of policies: 1.
    #[schemars(schema_with = "only_one")]
    pub v: u64,
    /// The tenant.
    pub org_id: OrgId,
    /// When it was changed, by the account of whoever did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub updated_at: Option<Timestamp>,
    /// Who changed it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub updated_by: Option<PrincipalId>,
    /// What holds where a raise says nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub defaults: Option<DefaultsSpec>,
    /// What every answer needs at the least, whatever a request declares.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub authority_floors: Option<FloorsSpec>,
    /// Who is reached, and when nobody is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub routing: Option<PolicyRoutingSpec>,
    /// What channels are trusted with: never more than they can do.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 100))]
    pub channels: Vec<ChannelRuleSpec>,
    /// Where signals are pushed to unless a raise says otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub callbacks: Option<PolicyCallbacksSpec>,
    /// What capabilities are held to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub capabilities: Option<CapabilityLimitsSpec>,
    /// Whatever else is to be kept with it; nothing looks at it.
    #[serde(rename = "x-extensions", skip_serializing_if = "Option::is_none")]
    pub extensions: Option<Object>,
}

/// What holds where a raise says nothing.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "PolicyDefaults")]
#[non_exhaustive]
pub struct DefaultsSpec {
    /// How long until the deadline.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ttl: Option<ExactDuration>,
    /// What happens at the deadline.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ttl_policy: Option<TtlPolicySpec>,
    /// How long an attempt to answer may take before the waiter is nudged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attempt_ttl: Option<ExactDuration>,
    /// Who may answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub authority: Option<AuthoritySpec>,
    /// Whether waiters live on a lease.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub liveness: Option<Liveness>,
    /// What becomes of a request whose waiter dies.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub on_waiter_terminal: Option<WaiterTerminal>,
    /// Can only be `advisory`: only a request says of itself that it is gated.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "only_advisory")]
    pub mode: Option<String>,
}

/// What every answer needs at the least.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "AuthorityFloors")]
#[non_exhaustive]
pub struct FloorsSpec {
    /// The lowest role; `viewer` where it is left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_role: Option<Role>,
    /// The weakest authentication; `session` where it is left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_auth_strength: Option<AuthStrength>,
    /// Whether a link alone may answer, where the deployment permits it too; it may not where this is left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allow_link_only: Option<bool>,
    /// Can only be `admin`: so much is needed wherever a secret is asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "only_admin")]
    pub secret_field_min_role: Option<Role>,
}

/// Who is reached, and when nobody is.
#[derive(Clone, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "PolicyRouting")]
#[non_exhaustive]
pub struct PolicyRoutingSpec {
    /// Whom ladders reach that name nobody.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = limits::ASSIGNEES))]
    pub default_targets: Vec<Assignee>,
    /// The ladder of each urgency that has one of its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ladders: Option<LaddersSpec>,
    /// Whether a raise may say by its `routing` who is reached; it may not where this is left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allow_request_override: Option<bool>,
    /// When channels reach nobody.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 100))]
    pub quiet_hours: Vec<QuietHoursSpec>,
}

/// A ladder for each urgency; the deployment's for those that are left out.
#[derive(Clone, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "PolicyLadders")]
#[non_exhaustive]
pub struct LaddersSpec {
    /// Of what can wait.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub low: Option<RoutingSpec>,
    /// Of what is as usual.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub normal: Option<RoutingSpec>,
    /// Of what should not wait.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub high: Option<RoutingSpec>,
    /// Of what must not wait.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub critical: Option<RoutingSpec>,
}

/// When channels reach nobody, by a clock.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "PolicyQuietHours")]
#[non_exhaustive]
pub struct QuietHoursSpec {
    /// Which channels.
    #[schemars(length(min = 1), inner(length(min = 1, max = limits::CHANNEL_CHARS)))]
    pub channels: Vec<String>,
    /// From when, `22:00`.
    #[schemars(regex(pattern = r"^([01]\d|2[0-3]):[0-5]\d$"))]
    pub from: String,
    /// Until when; where that is earlier, until the next day.
    #[schemars(regex(pattern = r"^([01]\d|2[0-3]):[0-5]\d$"))]
    pub to: String,
    /// By which clock, as the IANA names it: `Europe/Berlin`.
    #[schemars(length(min = 1, max = limits::ZONE_CHARS))]
    pub timezone: String,
    /// What comes through all the same; nothing where it is left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "only_critical")]
    pub override_urgency: Option<String>,
}

/// What a channel is trusted with.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "PolicyChannel")]
#[non_exhaustive]
pub struct ChannelRuleSpec {
    /// Which channel.
    #[schemars(length(min = 1, max = limits::CHANNEL_CHARS))]
    pub channel: String,
    /// Whether it is used; it is where this is left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub enabled: Option<bool>,
    /// How far it is trusted to prove.
    pub max_grade: Grade,
    /// Whether it is trusted to tell who answers.
    pub can_authenticate_person: bool,
    /// Whether only addresses are used that their people confirmed; so it is where this is left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requires_binding: Option<bool>,
}

/// Where signals are pushed to.
#[derive(Clone, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "PolicyCallbacks")]
#[non_exhaustive]
pub struct PolicyCallbacksSpec {
    /// The endpoints: one that is active, which is the default of the tenant, and any that are disabled.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 100))]
    pub endpoints: Vec<PolicyEndpointSpec>,
    /// Can only be 300.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "only_five_minutes")]
    pub replay_window_seconds: Option<u64>,
}

/// An endpoint.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "PolicyEndpoint")]
#[non_exhaustive]
pub struct PolicyEndpointSpec {
    /// The address: `http` or `https`, without user and fragment.
    #[schemars(extend("format" = "uri"), length(min = 1, max = limits::CALLBACK_URL_CHARS))]
    pub url: String,
    /// The name of the set of secrets that signs; the unnamed ones where there is none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 1), inner(length(min = 1, max = limits::SECRET_REF_CHARS)))]
    pub secret_refs: Vec<String>,
    /// `disabled` where nothing is pushed to it, not even for a raise that names it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<EndpointState>,
}

/// Whether an endpoint is pushed to.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum EndpointState {
    /// It is.
    Active,
    /// It is not.
    Disabled,
}

/// What capabilities are held to.
#[derive(Clone, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "CapabilityLimits")]
#[non_exhaustive]
pub struct CapabilityLimitsSpec {
    /// How long a grant may live: a raise that asks for more is refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grant_ttl: Option<ExactDuration>,
    /// How long a session's lease lasts, ten seconds at the least; two minutes where it is left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_lease: Option<ExactDuration>,
    /// With whom a resource may be shared at the most: a raise that asks for one that is shared more widely is refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_shared_with: Option<SharedWith>,
    /// Can only be `origin`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "only_origin")]
    pub record_navigations: Option<String>,
}

fn only_one(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "integer", "const": 1 })
}

fn only_five_minutes(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "integer", "const": 300 })
}

fn only_advisory(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "string", "const": "advisory" })
}

fn only_admin(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "string", "const": "admin" })
}

fn only_critical(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "string", "const": "critical" })
}

fn only_origin(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "string", "const": "origin" })
}
