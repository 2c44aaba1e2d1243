//! Who can be reached and how: the directory, the policies and the channels of a configuration.

use std::{
    fs::File,
    io::Read as _,
    path::{Path, PathBuf},
    sync::Arc,
};

use handoff_channel_command::CommandChannel;
use handoff_channel_webhook::WebhookChannel;
use handoff_engine::{callback::CallbackTransport, channel::Channel, directory::FixedDirectory};
use handoff_protocol::{
    decision::{channels::Channels, tenant_policy::TenantPolicy},
    id::{OrgId, Ulid},
    json::{DecodeError, Json, read},
};

use crate::{
    config::{ChannelConfig, ChannelKind, Config},
    likeness,
};

/// The most that is read of a policy.
const LIMIT: u64 = 1 << 20;

/// A policy cannot be used; it is refused as a whole.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("the policy `{}`: {problem}", path.display())]
pub struct PolicyFileError {
    path: PathBuf,
    problem: String,
}

/// Reads the policy of each tenant that has one. Either all of them can be used or none is.
///
/// # Errors
///
/// [`PolicyFileError`] names the first file that is wrong, the member in it, and the mend.
pub fn policies(config: &Config) -> Result<Vec<(OrgId, Json)>, PolicyFileError> {
    let standing = config.policy();
    let mut policies = Vec::new();
    for tenant in &config.tenants {
        if let Some(path) = &tenant.policy {
            let read = policy(path, Some(tenant.id), Some(config))?;
            let fault = |error: DecodeError| PolicyFileError { path: path.clone(), problem: error.to_string() };
            read.check(&standing).map_err(fault)?;
            policies.push((tenant.id, read.document().clone()));
        }
    }
    Ok(policies)
}

/// Reads the policy of a tenant from a file, or of the tenant that it names itself. With a configuration it must also be
/// one that a server with it can carry out whole.
///
/// # Errors
///
/// [`PolicyFileError`], as for [`policies`].
pub fn policy(path: &Path, tenant: Option<OrgId>, config: Option<&Config>) -> Result<TenantPolicy, PolicyFileError> {
    let fault = |problem: String| PolicyFileError { path: path.to_path_buf(), problem };
    let mut bytes = Vec::new();
    File::open(path)
        .and_then(|file| file.take(LIMIT).read_to_end(&mut bytes))
        .map_err(|error| fault(error.to_string()))?;
    let document = read(&bytes).map_err(|error| fault(format!("is no JSON document: {error}")))?;
    let named = || document.get("org_id").and_then(Json::as_str).and_then(|text| OrgId::parse(text).ok());
    let tenant = tenant.or_else(named).unwrap_or(OrgId::from_ulid(Ulid::MIN));
    let policy = TenantPolicy::read(document, tenant).map_err(|error| fault(said(&error)))?;
    if let Some(config) = config {
        policy.check_carried_out(&config.callbacks).map_err(|error| fault(error.to_string()))?;
        policy.refuse_secrets(&secret_values(config)).map_err(|error| fault(error.to_string()))?;
    }
    Ok(policy)
}

/// A fault in words, with a suggestion for a member that is not known.
fn said(error: &DecodeError) -> String {
    let meant = likeness::meant(error, TenantPolicy::MEMBERS);
    format!("{error}{meant}")
}

/// What the programs of channels are given and may be secret: values that are long enough to be one.
fn secret_values(config: &Config) -> Vec<&str> {
    const LEAST: usize = 16;
    let environments = config.channels.iter().filter_map(|channel| match &channel.kind {
        ChannelKind::Command { environment, .. } => Some(environment),
        ChannelKind::Webhook { .. } => None,
    });
    environments.flatten().map(|(_, value)| value.as_str()).filter(|value| value.len() >= LEAST).collect()
}

/// The people of every tenant.
#[must_use]
pub fn directory(config: &Config) -> FixedDirectory {
    config
        .tenants
        .iter()
        .fold(FixedDirectory::default(), |directory, tenant| directory.with(tenant.id, tenant.people.clone()))
}

/// What each channel of a configuration can do, without making any.
#[must_use]
pub fn facts(config: &Config) -> Channels {
    config.channels.iter().fold(Channels::default(), |channels, channel| {
        let facts = match channel.kind {
            ChannelKind::Command { .. } => CommandChannel::FACTS,
            ChannelKind::Webhook { .. } => WebhookChannel::FACTS,
        };
        channels.with(&channel.name, facts)
    })
}

/// Whether a channel posts, and needs the transport that does.
pub(crate) fn posts(config: &Config) -> bool {
    config.channels.iter().any(|channel| matches!(channel.kind, ChannelKind::Webhook { .. }))
}

/// The channels, over a transport for those that post.
pub(crate) fn channels(config: &Config, transport: Option<&Arc<dyn CallbackTransport>>) -> Vec<Arc<dyn Channel>> {
    config.channels.iter().filter_map(|channel| built(channel, config, transport)).collect()
}

fn built(
    channel: &ChannelConfig,
    config: &Config,
    transport: Option<&Arc<dyn CallbackTransport>>,
) -> Option<Arc<dyn Channel>> {
    Some(match &channel.kind {
        ChannelKind::Command { program, arguments, environment, time_limit } => {
            let mut command = CommandChannel::new(&channel.name, program).time_limit(*time_limit);
            for argument in arguments {
                command = command.argument(argument);
            }
            for (name, value) in environment {
                command = command.variable(name, value);
            }
            Arc::new(command)
        }
        ChannelKind::Webhook { secrets } => {
            let active = config.callbacks.active(secrets.as_deref()).to_vec();
            Arc::new(WebhookChannel::new(&channel.name, Arc::clone(transport?), active))
        }
    })
}
