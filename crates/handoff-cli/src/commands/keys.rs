//! `handoff keys`: machines and their keys, and the published signing keys, in the store itself.

use std::io;

use clap::Subcommand;
use handoff_engine::identity::{MemberKind, NewCredential};
use handoff_protocol::{id::PrincipalId, secret::Secret};

use super::person;
use crate::{
    exit::Exit,
    failure::Failure,
    operator::StoreArgs,
    output::{self, Output},
};

/// Machines and their keys, and the published signing keys.
///
/// Opens the store directly, beside the server if that runs.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    store: StoreArgs,
    #[command(subcommand)]
    command: KeysCommand,
}

#[derive(Subcommand)]
enum KeysCommand {
    /// Add a machine and print its key, which is shown once
    Issue {
        /// The machine's name
        name: String,
    },
    /// List the machines
    List,
    /// Make a key or a person's token worthless at once; it is read from standard input, never from the command line
    Revoke,
    /// Print the published signing keys; with --json as a JWKS, which `handoff verify --keys` reads
    Signing,
}

pub(crate) async fn run(args: Args, output: Output) -> Result<Exit, Failure> {
    match args.command {
        KeysCommand::Issue { name } => {
            let operator = args.store.open_or_create().await?;
            let id = operator.engine.create_machine(operator.tenant, &name).await?;
            let holder = PrincipalId::ServiceAccount(id);
            let key = operator.engine.issue_key(operator.tenant, holder, NewCredential::default()).await?;
            person::one(output, "key", key.expose())?;
            output::note(&format!("the key of {id}; keep it in HANDOFF_API_KEY, it is not shown again"));
        }
        KeysCommand::List => {
            let operator = args.store.open().await?;
            person::members(output, &operator.members(MemberKind::Machine).await?)?;
        }
        KeysCommand::Revoke => {
            let operator = args.store.open().await?;
            let token = token()?;
            // Somebody who pasted something else must learn that nothing was revoked.
            operator
                .engine
                .authenticate(Some(token.expose()))
                .await
                .map_err(|_| Failure::failed("this key authenticates nobody in this store; nothing was revoked"))?;
            operator.engine.revoke(token.expose()).await?;
            output::note("revoked");
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
