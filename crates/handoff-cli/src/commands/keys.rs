//! `handoff keys`: machines and their keys, and the published signing keys, in the store itself.

use std::io;

use clap::Subcommand;
use handoff_engine::{
    IdentityError,
    identity::{Credential, MemberKind, NewCredential},
};
use handoff_protocol::{id::PrincipalId, json::Json, secret::Secret};

use super::{names, person};
use crate::{
    exit::Exit,
    failure::Failure,
    operator::{Operator, StoreArgs},
    output::{self, Output},
};

/// Machines and their keys, and the published signing keys.
///
/// Opens the store directly, beside the server if that runs.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    store: StoreArgs,
    #[command(flatten)]
    output: Output,
    #[command(subcommand)]
    command: KeysCommand,
}

#[derive(Subcommand)]
enum KeysCommand {
    /// Add a machine and print its key, which is shown once; with --for, another key of a machine that is there
    ///
    /// To replace a key: issue another with --for, put it in the place of the old one, then revoke the old one.
    #[command(
        override_usage = "handoff keys issue [OPTIONS] <NAME>\n       handoff keys issue [OPTIONS] --for <MACHINE>"
    )]
    Issue {
        /// The new machine's name
        #[arg(value_parser = names::display, required_unless_present = "machine", conflicts_with = "machine")]
        name: Option<String>,
        /// The machine that gets another key: its id, or its name if no other has it
        #[arg(long = "for", value_name = "MACHINE")]
        machine: Option<String>,
    },
    /// List the machines and their keys, each by its fingerprint, the people who have tokens, and the anonymous links
    List,
    /// Make a key or a person's token worthless at once, by its fingerprint or by itself
    ///
    /// Without a fingerprint, the key is read from standard input; a key itself is never put on the command line.
    Revoke {
        /// The fingerprint, as `handoff keys list` shows it
        fingerprint: Option<String>,
    },
    /// Say that a signing key signs no more; what it signed stays valid, and it stays published
    ///
    /// A server that runs with the key goes on signing until it is restarted. To rotate: retire the key, move its file
    /// away, restart the server; it makes and publishes a new key.
    Retire {
        /// The key, as `handoff keys signing` shows it
        kid: String,
    },
    /// Print the published signing keys; with --json as a JWKS, which `handoff verify --keys` reads
    Signing,
}

pub(crate) async fn run(args: Args) -> Result<Exit, Failure> {
    let output = args.output;
    match args.command {
        KeysCommand::Issue { name, machine } => {
            let (operator, holder) = holder(&args.store, name, machine).await?;
            let key = operator.engine.issue_key(operator.tenant, holder, NewCredential::default()).await?;
            person::one(output, "key", key.expose())?;
            output::note(&format!("a key of {holder}; keep it in HANDOFF_API_KEY, it is not shown again"));
        }
        KeysCommand::List => {
            let operator = args.store.open().await?;
            list(&operator, output).await?;
        }
        KeysCommand::Revoke { fingerprint: Some(fingerprint) } => {
            let operator = args.store.open().await?;
            operator.engine.revoke_credential(operator.tenant, &fingerprint).await.map_err(|error| match error {
                IdentityError::NotFound(_) => Failure::failed(
                    "no key of this tenant has this fingerprint; nothing was revoked; `handoff keys list` shows them",
                ),
                other => other.into(),
            })?;
            revoked(output)?;
        }
        KeysCommand::Revoke { fingerprint: None } => {
            let operator = args.store.open().await?;
            let token = token()?;
            // Somebody who pasted something else must learn that nothing was revoked.
            operator
                .engine
                .authenticate(Some(token.expose()))
                .await
                .map_err(|_| Failure::failed("this key authenticates nobody in this store; nothing was revoked"))?;
            operator.engine.revoke(token.expose()).await?;
            revoked(output)?;
        }
        KeysCommand::Retire { kid } => {
            let operator = args.store.open().await?;
            operator.engine.retire_key(&kid).await.map_err(|error| match error {
                IdentityError::NotFound(_) => {
                    Failure::failed("no signing key is published under this id; `handoff keys signing` shows them")
                }
                other => other.into(),
            })?;
            output
                .result(&Json::object([("retired", Json::from(kid.as_str()))]), || format!("{kid} signs no more\n"))?;
            output::note(
                "a server that still runs with this key goes on signing until it is restarted: move the key's file away, \
                 then restart; it makes and publishes a new key",
            );
        }
        KeysCommand::Signing => {
            let operator = args.store.open().await?;
            let statuses = operator.engine.signing_keys().await?;
            let jwks = operator.engine.key_set().await?;
            let json = output::json(&jwks)?;
            output.result(&json, || {
                let rows: Vec<_> = statuses
                    .iter()
                    .map(|status| {
                        let state =
                            status.jwk.retired_at.map_or_else(|| "signs".to_owned(), |at| format!("retired {at}"));
                        [status.jwk.kid.clone().unwrap_or_default(), status.created_at.to_string(), state]
                    })
                    .collect();
                output::table(["KEY", "PUBLISHED", "STATE"], &rows)
            })?;
        }
    }
    Ok(Exit::Done)
}

/// Who gets the key: a new machine, or one that is there.
async fn holder(
    store: &StoreArgs,
    name: Option<String>,
    machine: Option<String>,
) -> Result<(Operator, PrincipalId), Failure> {
    if let Some(machine) = machine {
        let operator = store.open().await?;
        let holder = operator.one(MemberKind::Machine, machine.trim()).await?;
        return Ok((operator, holder));
    }
    let name = name.ok_or_else(|| Failure::usage("name the new machine, or one that is there with --for"))?;
    let operator = store.open_or_create().await?;
    let taken = operator.is_taken(MemberKind::Machine, &name).await?;
    let id = operator.engine.create_machine(operator.tenant, &name).await?;
    if taken {
        output::note(
            "another machine has this name already, and this is a new one beside it; for another key of that one, revoke \
             this key and use --for with its id",
        );
    }
    Ok((operator, PrincipalId::ServiceAccount(id)))
}

fn revoked(output: Output) -> Result<(), Failure> {
    output.result(&Json::object([("revoked", Json::from(true))]), || "revoked\n".to_owned())
}

/// Prints the machines, each with its keys, the people whose programs have tokens, and the links, which are nobody's.
async fn list(operator: &Operator, output: Output) -> Result<(), Failure> {
    let mut members = operator.members(MemberKind::Machine).await?;
    members.extend(operator.members(MemberKind::Person).await?);
    let credentials = operator.engine.credentials(operator.tenant).await?;
    let now = operator.engine.now();
    let state = |key: &Credential| match (key.revoked_at, key.expires_at) {
        (Some(_), _) => "revoked",
        (None, Some(at)) if at <= now => "expired",
        _ => "active",
    };
    let (mut rows, mut json) = (Vec::new(), Vec::new());
    for member in &members {
        let name = member.display.clone().unwrap_or_default();
        let keys: Vec<&Credential> = credentials.iter().filter(|key| key.holder == Some(member.id)).collect();
        if keys.is_empty() && member.kind == MemberKind::Person {
            continue;
        }
        json.push(Json::object([
            ("id", Json::from(member.id.to_string())),
            ("name", Json::from(member.display.clone())),
            ("created_at", Json::from(member.created_at.to_string())),
            ("keys", Json::Array(keys.iter().map(|key| key_json(key, state(key))).collect())),
        ]));
        if keys.is_empty() {
            rows.push([member.id.to_string(), "-".to_owned(), "no key".to_owned(), "-".to_owned(), name.clone()]);
        }
        rows.extend(keys.into_iter().map(|key| {
            let (issued, state) = (key.created_at.to_string(), state(key).to_owned());
            [member.id.to_string(), key.fingerprint.clone(), state, issued, name.clone()]
        }));
    }
    for link in credentials.iter().filter(|key| key.holder.is_none()) {
        let name = link.display.clone().unwrap_or_default();
        json.push(Json::object([
            ("id", Json::Null),
            ("name", Json::from(link.display.clone())),
            ("created_at", Json::from(link.created_at.to_string())),
            ("keys", Json::Array(vec![key_json(link, state(link))])),
        ]));
        let (issued, state) = (link.created_at.to_string(), state(link).to_owned());
        rows.push(["anonymous link".to_owned(), link.fingerprint.clone(), state, issued, name]);
    }
    output.result(&Json::Array(json), || output::table(["HOLDER", "FINGERPRINT", "STATE", "ISSUED", "NAME"], &rows))
}

fn key_json(key: &Credential, state: &str) -> Json {
    Json::object([
        ("fingerprint", Json::from(key.fingerprint.as_str())),
        ("state", Json::from(state)),
        ("test", Json::from(key.test)),
        ("created_at", Json::from(key.created_at.to_string())),
        ("expires_at", Json::from(key.expires_at.map(|at| at.to_string()))),
        ("revoked_at", Json::from(key.revoked_at.map(|at| at.to_string()))),
    ])
}

/// The first line of standard input.
fn token() -> Result<Secret<String>, Failure> {
    if io::IsTerminal::is_terminal(&io::stdin()) {
        output::note("paste the key to revoke, then press Enter:");
    }
    let mut line = String::new();
    io::stdin()
        .read_line(&mut line)
        .map_err(|error| Failure::failed(format!("standard input cannot be read: {error}")))?;
    let token = Secret::new(line.trim().to_owned());
    if token.expose().is_empty() {
        return Err(Failure::usage("expected the key to revoke on standard input"));
    }
    Ok(token)
}
