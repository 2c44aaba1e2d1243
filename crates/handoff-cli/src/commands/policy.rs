//! `handoff policy`: what a policy comes to, before anything is raised under it.

use std::{
    env,
    path::{Path, PathBuf},
    sync::Arc,
};

use handoff_engine::{
    clock::{Clock as _, SystemClock},
    identity::Holder,
};
use handoff_protocol::{
    decision::{
        Context, Explained, PlannedDelivery, Policy, Raise,
        capability::{BlastRadius, Capabilities},
        directory::Directory,
        explain,
        tenant_policy::{TenantPolicy, VersionedPolicy},
        terms::Suppression,
    },
    id::{Mint, OrgId, ServiceAccountId, Ulid, UserId},
    json::read,
    principal::{AuthStrength, Identity, Principal, Role, Scopes},
    timestamp::Timestamp,
};
use handoff_server::{Config, bootstrap, reaching, schemas::RegisteredSchemas};

use super::input;
use crate::{
    exit::Exit,
    failure::Failure,
    output::{self, Output},
};

/// Look at policies.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
    #[command(flatten)]
    output: Output,
}

#[derive(clap::Subcommand)]
enum Command {
    /// Say who a request would reach, when and how, and why not the others. Nothing is raised, and nobody is asked
    Explain {
        /// The body of a raise; `-` for standard input
        #[arg(value_name = "REQUEST.json")]
        request: PathBuf,
        /// The policy, instead of the one that the configuration names
        #[arg(long, value_name = "FILE")]
        policy: Option<PathBuf>,
        /// The server's configuration: its people, policies and channels
        #[arg(long, value_name = "FILE", env = "HANDOFF_CONFIG", hide_env_values = true)]
        config: Option<PathBuf>,
        /// The tenant; needed only when the configuration has more than one and no policy is given
        #[arg(long, value_name = "ORG_ID")]
        tenant: Option<OrgId>,
        /// At another moment than now, for example 2026-03-29T00:30:00Z
        #[arg(long, value_name = "TIME", value_parser = moment)]
        at: Option<Timestamp>,
    },
}

pub(crate) fn run(args: Args) -> Result<Exit, Failure> {
    let Command::Explain { request, policy, config, tenant, at } = args.command;
    let config = config.map(|path| configuration(&path)).transpose()?;
    let given = policy.map(|path| reaching::policy(&path, tenant, config.as_ref())).transpose();
    let given = given.map_err(|error| Failure::failed(error.to_string()))?;
    let tenant = choose(tenant, given.as_ref(), config.as_ref())?;
    let standing = standing(tenant, given, config.as_ref())?;
    let bytes = input::bytes(&request)?;
    let body = read(&bytes).map_err(|error| Failure::failed(format!("{}: {error}", input::name(&request))))?;
    let asker = asker(tenant);
    let refused =
        |error: &dyn std::fmt::Display| Failure::new(Exit::Refused, format!("the request would be refused: {error}"));
    let command = Raise::read(&asker, body, &standing).map_err(|error| refused(&error))?;
    // What its capabilities may touch is asked of their providers, and nobody is reached by it.
    let unknown = vec![BlastRadius::unknown(); command.capabilities().len()];
    let command = command.with_blast_radii(unknown);
    let now = at.unwrap_or_else(|| SystemClock.now());
    let mut mint = Mint::new(now, Ulid::MIN, [0; 32]);
    let mut context = Context { now, mint: &mut mint, policy: &standing, capabilities: &Capabilities::NONE };
    let explained = explain(&command, &asker, &mut context).map_err(|error| refused(&error))?;
    args.output.result(&output::json(&explained)?, || people(&explained))?;
    Ok(Exit::Done)
}

fn configuration(path: &Path) -> Result<Config, Failure> {
    // Nothing is opened, so that any database will do.
    let lookup =
        |name: &str| env::var_os(name).or_else(|| (name == "HANDOFF_DATABASE_URL").then(|| "sqlite:none.db".into()));
    Config::load(Some(path), lookup).map_err(|error| Failure::failed(error.to_string()))
}

/// Whose request it would be.
fn choose(named: Option<OrgId>, policy: Option<&TenantPolicy>, config: Option<&Config>) -> Result<OrgId, Failure> {
    let configured = config.map(|config| config.tenants.as_slice()).unwrap_or_default();
    match (named.or(policy.map(|policy| policy.org_id)), configured) {
        (Some(tenant), _) => Ok(tenant),
        (None, []) => Ok(OrgId::from_ulid(Ulid::MIN)),
        (None, [only]) => Ok(only.id),
        (None, several) => {
            let ids: Vec<String> = several.iter().map(|tenant| tenant.id.to_string()).collect();
            Err(Failure::usage(format!("there is more than one tenant; name one with --tenant: {}", ids.join(", "))))
        }
    }
}

/// What would hold: the policy that is given, or that of the configuration, and the configuration's people and channels.
fn standing(tenant: OrgId, given: Option<TenantPolicy>, config: Option<&Config>) -> Result<Policy, Failure> {
    let mut standing = Policy::default();
    let mut policy = given;
    if let Some(config) = config {
        let schemas = RegisteredSchemas::load(&config.schemas).map_err(|error| Failure::failed(error.to_string()))?;
        standing =
            Policy { channels: Arc::new(reaching::facts(config)), schemas: Arc::new(schemas), ..config.policy() };
        let configured = config.tenants.iter().find(|configured| configured.id == tenant);
        if let (None, Some(path)) = (&policy, configured.and_then(|configured| configured.policy.as_ref())) {
            let read = reaching::policy(path, Some(tenant), Some(config))
                .map_err(|error| Failure::failed(error.to_string()))?;
            policy = Some(read);
        }
        let mut people = configured.map(|configured| configured.people.clone()).unwrap_or_default();
        roles(&mut people, tenant, config)?;
        standing.directory = Arc::new(people);
    }
    if let Some(policy) = &policy {
        policy.check(&standing).map_err(|error| Failure::failed(format!("the policy is refused: {error}")))?;
    }
    standing.tenant = policy.map(|policy| Arc::new(VersionedPolicy { version: 0, policy }));
    Ok(standing)
}

/// The roles that the configuration brings along. Those that people were given in a store are not known here.
fn roles(people: &mut Directory, tenant: OrgId, config: &Config) -> Result<(), Failure> {
    let principals = bootstrap::read(config).map_err(|error| Failure::failed(error.to_string()))?.principals;
    let of_tenant: Vec<_> = principals.iter().filter(|principal| principal.tenant == tenant).collect();
    people.set_roles(|person: UserId| {
        of_tenant.iter().find(|principal| principal.holder == Holder::Person(person)).map(|principal| principal.role)
    });
    Ok(())
}

/// A machine that may do everything that a machine may.
fn asker(tenant: OrgId) -> Principal {
    Principal {
        tenant,
        identity: Identity::Machine(ServiceAccountId::from_ulid(Ulid::MIN)),
        role: Role::Viewer,
        strength: AuthStrength::Session,
        reauth_at: None,
        mfa_at: None,
        scopes: Scopes::All,
        display: None,
        on_behalf_of: None,
        test: false,
    }
}

fn people(explained: &Explained) -> String {
    let rows: Vec<[String; 5]> = explained.deliveries.iter().map(row).collect();
    let mut text = output::table(["RUNG", "AT", "CHANNEL", "WHO", "WHAT"], &rows);
    let mut line = |line: String| {
        text.push_str(&output::printable(&line));
        text.push('\n');
    };
    line(String::new());
    let (role, strength) = (explained.min_role.as_str(), explained.auth_strength.as_str());
    line(format!("can be answered by: {role} or higher, authenticated as {strength} or stronger"));
    if !explained.assignees.is_empty() {
        let named: Vec<String> =
            explained.assignees.iter().map(|target| format!("{} {}", target.kind.as_str(), target.value)).collect();
        line(format!("among them only: {}", named.join(", ")));
    }
    if explained.quorum > 1 {
        line(format!("of whom {} must agree", explained.quorum));
    }
    match (explained.expires_at, explained.on_expiry) {
        (Some(at), Some(policy)) => line(format!("ends: {at}, then {}", policy.as_str())),
        _ => line("ends: never by itself".to_owned()),
    }
    for never in &explained.never_reached {
        let name = never.display.clone().unwrap_or_else(|| never.person.to_string());
        line(match never.kept_back {
            Some(reason) => format!("not reached: {name}: {}", words(reason)),
            None => format!("not reached: {name}: no rung is for them"),
        });
    }
    text
}

fn row(planned: &PlannedDelivery) -> [String; 5] {
    let target = || format!("{} {}", planned.target.kind.as_str(), planned.target.value);
    [
        planned.rung.to_string(),
        planned.at.to_string(),
        planned.channel.clone(),
        planned.display.clone().unwrap_or_else(target),
        what(planned),
    ]
}

fn what(planned: &PlannedDelivery) -> String {
    let what =
        planned.kept_back.map_or_else(|| "reached".to_owned(), |reason| format!("not reached: {}", words(reason)));
    if planned.left_out == 0 { what } else { format!("{what}; {} more of that place are not", planned.left_out) }
}

/// Why a delivery is kept back, in words.
const fn words(reason: Suppression) -> &'static str {
    match reason {
        Suppression::NoRecipient => "there is nobody in that place",
        Suppression::NoAddress => "no address on this channel",
        Suppression::ChannelUnknown => "no such channel is configured",
        Suppression::ChannelNotConfigured => "the channel is not in use",
        Suppression::Duplicate => "is reached through this channel already",
        Suppression::QuietHours => "quiet hours",
        Suppression::ConsentMissing => "the address is not confirmed",
    }
}

fn moment(text: &str) -> Result<Timestamp, String> {
    Timestamp::parse(text).map_err(|error| error.to_string())
}
