//! Reading a policy document, member by member.

use std::collections::BTreeSet;

use super::{
    AuthorityFloors, CallbackEndpoint, CapabilityLimits, ChannelRule, PolicyDefaults, PolicyRouting, Retention,
    TenantPolicy, quiet, secrets,
};
use crate::{
    decision::{
        authority::Authority,
        body,
        callback_url::CallbackUrl,
        directory::Directory,
        error::DecisionError,
        known::check_target,
        limits, raise,
        routing::{self, RoutingAsk},
        target::Target,
        terms::{Grade, Liveness, OnExpiry, SharedWith, Urgency, WaiterTerminal},
    },
    duration::ExactDuration,
    id::{OrgId, PrincipalId},
    json::{DecodeError, Json, ObjectReader},
    principal::{AuthStrength, Role},
    timestamp::Timestamp,
};

/// How many channels a policy may name, and how many windows of quiet, and how many endpoints.
const ENTRIES: usize = 100;

/// The shortest lease of a session, in seconds: whoever holds one must have the time to renew it.
const SHORTEST_LEASE: u64 = 10;

/// Every member of the document, at any depth.
pub(super) const MEMBERS: &[&str] = &[
    "v",
    "org_id",
    "updated_at",
    "updated_by",
    "defaults",
    "authority_floors",
    "routing",
    "channels",
    "callbacks",
    "capabilities",
    "retention",
    "x-extensions",
    "ttl",
    "ttl_policy",
    "on_expiry",
    "default_answer",
    "reminder_every",
    "attempt_ttl",
    "authority",
    "min_role",
    "auth_strength",
    "assignees",
    "quorum",
    "forbid_requester",
    "reason",
    "kind",
    "value",
    "liveness",
    "on_waiter_terminal",
    "mode",
    "min_auth_strength",
    "allow_link_only",
    "secret_field_min_role",
    "default_targets",
    "ladders",
    "low",
    "normal",
    "high",
    "critical",
    "targets",
    "ladder",
    "after",
    "to",
    "allow_request_override",
    "quiet_hours",
    "from",
    "timezone",
    "override_urgency",
    "channel",
    "enabled",
    "max_grade",
    "can_authenticate_person",
    "requires_binding",
    "config_ref",
    "endpoints",
    "replay_window_seconds",
    "url",
    "secret_refs",
    "state",
    "max_attempts",
    "timeout_seconds",
    "grant_ttl",
    "session_lease",
    "max_shared_with",
    "record_navigations",
    "receipts",
    "rendered_copies",
    "delivery_attempts",
];

pub(super) fn policy(mut document: Json, tenant: OrgId) -> Result<TenantPolicy, DecodeError> {
    // Before anything else: what a newer version means is not for this one to guess.
    let version = document.get("v").and_then(Json::as_number).and_then(crate::json::Number::safe_integer);
    if version != Some(1) {
        return Err(DecodeError::new("v", "must be 1, the one version of policies that this server understands"));
    }
    // Next, so that no other message shows a name that is a secret.
    secrets::refuse_shapes(&document)?;
    let digest = body::digest(&mut document).map_err(|error| match error {
        DecisionError::InvalidRequest(error) => error,
        _ => DecodeError::new("", "has no canonical form"),
    })?;
    let reader = ObjectReader::new(&document, "")?;
    reader.integer("v")?;
    let org_id = OrgId::parse(reader.string("org_id")?).ok().filter(|org_id| *org_id == tenant);
    let org_id =
        org_id.ok_or_else(|| reader.error("org_id", "must be the tenant that the policy is configured for"))?;
    instant(&reader, "updated_at")?;
    if let Some(text) = reader.optional_string("updated_by")? {
        PrincipalId::parse(text).map_err(|_| reader.error("updated_by", "must be the id of a principal"))?;
    }
    reader.optional_object("x-extensions")?;
    let (capabilities, record_navigations) =
        reader.optional_object("capabilities")?.map(capabilities).transpose()?.unwrap_or_default();
    let policy = TenantPolicy {
        org_id,
        defaults: reader.optional_object("defaults")?.map(defaults).transpose()?.unwrap_or_default(),
        floors: reader.optional_object("authority_floors")?.map(floors).transpose()?,
        routing: match reader.optional_object("routing")? {
            Some(routing) => read_routing(routing)?,
            None => PolicyRouting { allow_request_override: true, ..PolicyRouting::default() },
        },
        channels: channels(&reader)?,
        callbacks: reader.optional_object("callbacks")?.map(callbacks).transpose()?.unwrap_or_default(),
        capabilities,
        record_navigations,
        retention: reader.optional_object("retention")?.map(retention).transpose()?.unwrap_or_default(),
        digest,
        document: Json::Null,
    };
    reader.finish()?;
    Ok(TenantPolicy { document, ..policy })
}

fn defaults(reader: ObjectReader<'_, '_>) -> Result<PolicyDefaults, DecodeError> {
    // A default would turn every request into one that must be redeemed; only a request says that of itself.
    reader.optional_choice("mode", &[("advisory", ())])?;
    let defaults = PolicyDefaults {
        ttl: raise::duration(&reader, "ttl")?,
        ttl_policy: reader.optional_object("ttl_policy")?.map(ttl_policy).transpose()?,
        attempt_ttl: raise::duration(&reader, "attempt_ttl")?,
        authority: reader.optional_object("authority")?.map(authority).transpose()?,
        liveness: reader.optional_choice("liveness", Liveness::ALL)?,
        on_waiter_terminal: reader.optional_choice("on_waiter_terminal", WaiterTerminal::ALL)?,
    };
    reader.finish()?;
    Ok(defaults)
}

fn authority(reader: ObjectReader<'_, '_>) -> Result<Authority, DecodeError> {
    let path = reader.path().key("assignees").to_string();
    let authority = Authority::read(reader)?;
    check_targets(&authority.assignees, &path)?;
    Ok(authority)
}

/// Refuses roles and people that can be nobody in any deployment; which places there are is the directory's to say.
fn check_targets(targets: &[Target], path: &str) -> Result<(), DecodeError> {
    let nothing = Directory::default();
    let mut places = targets.iter().enumerate();
    places.try_for_each(|(place, target)| check_target(target, &nothing, &format!("{path}[{place}]")))
}

/// Reads the routing of an urgency.
fn ladder(reader: ObjectReader<'_, '_>) -> Result<RoutingAsk, DecodeError> {
    let path = reader.path().to_string();
    let asked = RoutingAsk::read(reader)?;
    check_targets(asked.targets.as_deref().unwrap_or_default(), &format!("{path}.targets"))?;
    for (place, rung) in asked.ladder.iter().flatten().enumerate() {
        if let Some(to) = &rung.to {
            check_target(to, &Directory::default(), &format!("{path}.ladder[{place}].to"))?;
        }
    }
    Ok(asked)
}

/// The form alone: each raise reads it again with its own fields.
fn ttl_policy(reader: ObjectReader<'_, '_>) -> Result<Json, DecodeError> {
    let on_expiry = reader.choice("on_expiry", OnExpiry::ALL)?;
    let answer = reader.optional_object("default_answer")?;
    if on_expiry == OnExpiry::Default && answer.is_none() {
        return Err(reader.error("default_answer", "is required with the policy `default`"));
    }
    crate::decision::expiry_policy::reminder_every(&reader)?;
    let declared = Json::Object(reader.json().clone());
    reader.finish()?;
    Ok(declared)
}

fn floors(reader: ObjectReader<'_, '_>) -> Result<AuthorityFloors, DecodeError> {
    let floors = AuthorityFloors {
        min_role: reader.optional_choice("min_role", &Role::ALL)?.unwrap_or_default(),
        min_auth_strength: reader.optional_choice("min_auth_strength", &AuthStrength::ALL)?.unwrap_or_default(),
        allow_link_only: reader.optional_boolean("allow_link_only")?.unwrap_or(false),
    };
    // It is so for every tenant (rule A-2), and a policy that wanted less would lower a floor.
    reader.optional_choice("secret_field_min_role", &[("admin", Role::Admin)])?;
    reader.finish()?;
    Ok(floors)
}

fn read_routing(reader: ObjectReader<'_, '_>) -> Result<PolicyRouting, DecodeError> {
    let mut ladders = Vec::new();
    if let Some(object) = reader.optional_object("ladders")? {
        for (name, urgency) in Urgency::ALL {
            if let Some(routing) = object.optional_object(name)? {
                ladders.push((*urgency, ladder(routing)?));
            }
        }
        object.finish()?;
    }
    let default_targets = routing::read_targets(&reader, "default_targets")?;
    check_targets(default_targets.as_deref().unwrap_or_default(), "routing.default_targets")?;
    let routing = PolicyRouting {
        default_targets,
        ladders,
        allow_request_override: reader.optional_boolean("allow_request_override")?.unwrap_or(false),
        quiet_hours: list(&reader, "quiet_hours", quiet::read)?,
    };
    reader.finish()?;
    Ok(routing)
}

/// Reads what is said of channels, of each once: of two that differ, one would hold and the other be forgotten.
fn channels(reader: &ObjectReader<'_, '_>) -> Result<Vec<ChannelRule>, DecodeError> {
    let rules = list(reader, "channels", channel)?;
    let mut seen = BTreeSet::new();
    match rules.iter().position(|rule| !seen.insert(rule.channel.as_str())) {
        None => Ok(rules),
        Some(place) => Err(DecodeError::at(
            reader.path().key("channels").index(place).key("channel"),
            "must be another: this channel stands there already",
        )),
    }
}

fn channel(reader: ObjectReader<'_, '_>) -> Result<ChannelRule, DecodeError> {
    let rule = ChannelRule {
        channel: reader.text("channel", 1, limits::CHANNEL_CHARS)?.to_owned(),
        is_enabled: reader.optional_boolean("enabled")?.unwrap_or(true),
        max_grade: reader.choice("max_grade", Grade::ALL)?,
        can_authenticate_person: reader.boolean("can_authenticate_person")?,
        requires_binding: reader.optional_boolean("requires_binding")?.unwrap_or(true),
    };
    // Which configuration a channel uses is the deployment's to say; the name is kept in the document.
    reader.optional_text("config_ref", 0, limits::REF_CHARS)?;
    reader.finish()?;
    Ok(rule)
}

fn callbacks(reader: ObjectReader<'_, '_>) -> Result<Vec<CallbackEndpoint>, DecodeError> {
    let endpoints = list(&reader, "endpoints", endpoint)?;
    if reader.optional_integer("replay_window_seconds")?.is_some_and(|seconds| seconds != 300) {
        return Err(reader.error("replay_window_seconds", "can only be 300: receivers allow as much"));
    }
    reader.finish()?;
    Ok(endpoints)
}

fn endpoint(reader: ObjectReader<'_, '_>) -> Result<CallbackEndpoint, DecodeError> {
    let url = reader.text("url", 1, limits::CALLBACK_URL_CHARS)?;
    CallbackUrl::parse(url).map_err(|error| reader.error("url", error.to_string()))?;
    let mut secret_refs = Vec::new();
    if let Some(array) = reader.optional_array("secret_refs")? {
        array.count_within(0, 2)?;
        for item in array.items() {
            secret_refs.push(item.text(1, limits::SECRET_REF_CHARS)?.to_owned());
        }
    }
    let positive = |name: &str| -> Result<Option<u64>, DecodeError> {
        let Some(given) = reader.optional_integer(name)? else { return Ok(None) };
        let given = u64::try_from(given).ok().filter(|given| *given > 0);
        given.map(Some).ok_or_else(|| reader.error(name, "must be at least 1"))
    };
    let endpoint = CallbackEndpoint {
        url: url.to_owned(),
        secret_refs,
        is_active: reader.optional_choice("state", &[("active", true), ("disabled", false)])?.unwrap_or(true),
        max_attempts: positive("max_attempts")?,
        timeout_seconds: positive("timeout_seconds")?,
    };
    reader.finish()?;
    Ok(endpoint)
}

/// The limits, and how much of navigations is recorded.
fn capabilities(reader: ObjectReader<'_, '_>) -> Result<(CapabilityLimits, Option<String>), DecodeError> {
    let longer = |name: &str, seconds: u64, mend: &str| -> Result<Option<ExactDuration>, DecodeError> {
        let given = raise::duration(&reader, name)?;
        match given {
            Some(given) if given.seconds() < seconds => Err(reader.error(name, mend)),
            given => Ok(given),
        }
    };
    let limits = CapabilityLimits {
        grant_ttl: longer("grant_ttl", 1, "must be longer than nothing")?,
        session_lease: longer("session_lease", SHORTEST_LEASE, "must be at least `PT10S`")?,
        max_shared_with: reader.optional_choice("max_shared_with", SharedWith::ALL)?,
    };
    let levels = ["none", "origin", "full_url"].map(|level| (level, level));
    let navigations = reader.optional_choice("record_navigations", &levels)?.map(str::to_owned);
    reader.finish()?;
    Ok((limits, navigations))
}

fn retention(reader: ObjectReader<'_, '_>) -> Result<Retention, DecodeError> {
    let window = |name: &str| -> Result<Option<String>, DecodeError> {
        let Some(text) = reader.optional_string(name)? else { return Ok(None) };
        if is_calendar_duration(text) {
            return Ok(Some(text.to_owned()));
        }
        Err(reader.error(name, "must be a duration such as `P90D` or `P1Y6M`"))
    };
    let retention = Retention {
        receipts: window("receipts")?,
        rendered_copies: window("rendered_copies")?,
        delivery_attempts: window("delivery_attempts")?,
    };
    reader.finish()?;
    Ok(retention)
}

/// Whether a text is an ISO 8601 duration of whole numbers; years and months may be among them (rule B-6).
fn is_calendar_duration(text: &str) -> bool {
    let Some(text) = text.strip_prefix('P') else { return false };
    let (date, time) = text.split_once('T').map_or((text, None), |(date, time)| (date, Some(time)));
    let components = |mut text: &str, designators: &[char]| {
        for designator in designators {
            if let Some((digits, rest)) = text.split_once(*designator) {
                if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
                    return false;
                }
                text = rest;
            }
        }
        text.is_empty()
    };
    !text.is_empty()
        && components(date, &['Y', 'M', 'W', 'D'])
        && time.is_none_or(|time| !time.is_empty() && components(time, &['H', 'M', 'S']))
}

fn instant(reader: &ObjectReader<'_, '_>, name: &str) -> Result<(), DecodeError> {
    let Some(text) = reader.optional_string(name)? else { return Ok(()) };
    Timestamp::parse(text).map(|_| ()).map_err(|error| reader.error(name, error.to_string()))
}

fn list<T>(
    reader: &ObjectReader<'_, '_>,
    name: &str,
    read: impl Fn(ObjectReader<'_, '_>) -> Result<T, DecodeError>,
) -> Result<Vec<T>, DecodeError> {
    let Some(array) = reader.optional_array(name)? else { return Ok(Vec::new()) };
    array.count_within(0, ENTRIES)?;
    array.items().map(|item| read(item.object()?)).collect()
}
