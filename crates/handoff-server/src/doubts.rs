//! What a configuration says that leads nowhere as things are. It may come to lead somewhere, a program may be installed
//! later for example, so it is no fault: `handoffd config check` prints these lines, and a start logs them.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

use handoff_protocol::{
    decision::{Target, directory::Directory, tenant_policy::TenantPolicy, terms::TargetKind},
    id::{OrgId, UserId},
    json::Json,
};

use crate::{
    config::{ChannelKind, Config, TenantConfig},
    reaching,
};

/// Where programs are looked for by their bare names when nothing says otherwise.
const PATH: &str = "/bin:/usr/bin";

/// A line for each thing that leads nowhere.
#[must_use]
pub fn doubts(config: &Config, policies: &[(OrgId, Json)]) -> Vec<String> {
    let mut lines = Vec::new();
    for channel in &config.channels {
        let name = &channel.name;
        match &channel.kind {
            ChannelKind::Command { program, environment, .. } => {
                let path = environment.iter().find(|(name, _)| name == "PATH").map(|(_, value)| value.as_str());
                lines.extend(missing(program, path.unwrap_or(PATH)).map(|problem| {
                    format!("the channel `{name}`: {problem}; its deliveries are suppressed until this is mended")
                }));
            }
            ChannelKind::Webhook { secrets } if config.callbacks.active(secrets.as_deref()).is_empty() => {
                lines.push(format!(
                    "the channel `{name}`: no secret signs what it posts, so its deliveries are suppressed; set \
                     `callback_secrets`, or name a set of `callback_secret_sets` that holds one"
                ));
            }
            ChannelKind::Webhook { .. } => {}
        }
    }
    let inherited = std::env::var("PATH").unwrap_or_else(|_| PATH.to_owned());
    for (name, command) in &config.sinks {
        lines.extend(
            missing(&command.program, &inherited)
                .map(|problem| format!("the sink `{name}`: {problem}; what is submitted to it is refused until then")),
        );
    }
    for tenant in &config.tenants {
        of_tenant(config, tenant, &mut lines);
    }
    for (id, document) in policies {
        let tenant = config.tenants.iter().find(|tenant| tenant.id == *id);
        if let (Some(tenant), Ok(policy)) = (tenant, TenantPolicy::read(document.clone(), *id)) {
            of_policy(config, tenant, &policy, &mut lines);
        }
    }
    lines
}

/// Why a program cannot be started, if it cannot.
fn missing(program: &Path, path: &str) -> Option<String> {
    let bare = program.components().count() == 1;
    let places: Vec<PathBuf> = if bare {
        std::env::split_paths(path).map(|folder| folder.join(program)).collect()
    } else {
        vec![program.into()]
    };
    if places.iter().any(|place| can_run(place)) {
        return None;
    }
    let shown = program.display();
    Some(if places.iter().any(|place| place.exists()) {
        format!("`{shown}` is no program that can be started")
    } else if bare {
        format!("there is no program `{shown}` in {path}")
    } else {
        format!("there is no program `{shown}`")
    })
}

#[cfg(unix)]
fn can_run(place: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;

    place.metadata().is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn can_run(place: &Path) -> bool {
    place.is_file()
}

fn knows_channel(config: &Config, name: &str) -> bool {
    reaching::facts(config).get(name).is_some()
}

fn of_tenant(config: &Config, tenant: &TenantConfig, lines: &mut Vec<String>) {
    let (id, people) = (tenant.id, &tenant.people);
    for person in people.people() {
        for contact in person.contacts.iter().filter(|contact| !knows_channel(config, &contact.channel)) {
            let (who, channel) = (person.id, &contact.channel);
            lines.push(format!("{id}: a contact of {who} is for the channel `{channel}`, which is not configured"));
        }
    }
    let strangers = |members: &[UserId]| -> Vec<String> {
        members.iter().filter(|member| people.person(**member).is_none()).map(ToString::to_string).collect()
    };
    for (name, members) in people.groups() {
        if members.is_empty() {
            lines.push(format!("{id}: nobody is in the group `{name}`"));
        }
        stranger_lines(id, "group", name, &strangers(members), lines);
    }
    for (name, rotation) in people.rotations() {
        stranger_lines(id, "rotation", name, &strangers(&rotation.members), lines);
    }
}

fn stranger_lines(id: OrgId, kind: &str, name: &str, strangers: &[String], lines: &mut Vec<String>) {
    if !strangers.is_empty() {
        let strangers = strangers.join(", ");
        lines
            .push(format!("{id}: the {kind} `{name}` names who is not among `people` and is not reached: {strangers}"));
    }
}

fn of_policy(config: &Config, tenant: &TenantConfig, policy: &TenantPolicy, lines: &mut Vec<String>) {
    let id = tenant.id;
    let rungs = || policy.routing.ladders.iter().flat_map(|(_, routing)| routing.ladder.iter().flatten());
    let named = rungs().flat_map(|rung| rung.channels.iter());
    let quiet = policy.routing.quiet_hours.iter().flat_map(|window| window.channels.iter());
    let ruled = policy.channels.iter().map(|rule| &rule.channel);
    let unknown: BTreeSet<&String> =
        named.chain(quiet).chain(ruled).filter(|name| !knows_channel(config, name)).collect();
    lines.extend(
        unknown.into_iter().map(|name| format!("{id}: its policy names the channel `{name}`, which is not configured")),
    );
    let listed = policy.routing.ladders.iter().flat_map(|(_, routing)| routing.targets.iter().flatten());
    let assignees = policy.defaults.authority.iter().flat_map(|authority| authority.assignees.iter());
    let targets = policy.routing.default_targets.iter().flatten().chain(listed).chain(assignees);
    let unknown: BTreeSet<String> = targets
        .chain(rungs().filter_map(|rung| rung.to.as_ref()))
        .filter(|target| !knows(&tenant.people, target))
        .map(|target| format!("{} `{}`", target.kind.as_str(), target.value))
        .collect();
    lines.extend(
        unknown.into_iter().map(|target| format!("{id}: its policy names the {target}, which is not configured")),
    );
}

fn knows(people: &Directory, target: &Target) -> bool {
    match target.kind {
        TargetKind::Group => people.groups().any(|(name, _)| name == target.value),
        TargetKind::Rotation => people.rotations().any(|(name, _)| name == target.value),
        TargetKind::Principal => UserId::parse(&target.value).is_ok_and(|id| people.person(id).is_some()),
        TargetKind::Role | TargetKind::Anyone => true,
    }
}
