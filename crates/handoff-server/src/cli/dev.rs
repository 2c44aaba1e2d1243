//! `handoffd dev`: a server for one's own machine, with a person and a program ready to use.

use std::{
    env, fs, io,
    path::{Path, PathBuf},
};

use handoff_engine::{
    Engine,
    identity::{Member, MemberKind, NewCredential},
};
use handoff_protocol::{
    duration::ExactDuration,
    id::{OrgId, PrincipalId, UserId},
    principal::Role,
    secret::Secret,
};
use handoff_server::{Config, LogFormat, Server, private_file};

use super::{failure::Failure, logging, output, serve, signals::Signals};

/// The file with the key of the program that asks.
const KEY_FILE: &str = "dev-key";

/// How long the link can be used.
const LINK_HOURS: u64 = 12;

pub(super) async fn run(data: PathBuf, port: u16) -> Result<(), Failure> {
    let filter = env::var("RUST_LOG").ok().filter(|filter| !filter.is_empty());
    logging::start(filter.as_deref().unwrap_or("warn"), LogFormat::Text)?;
    make_directory(&data).map_err(|error| Failure::Directory { path: data.clone(), error })?;
    let mut config = Config::dev(&data);
    config.bind.set_port(port);
    let signals = Signals::listen()?;
    let server = Server::start(config).await?;
    let welcome = welcome(server.engine(), &data).await?;
    output::say(welcome).map_err(Failure::Output)?;
    serve::until_stopped(server, signals).await
}

async fn welcome(engine: &Engine, data: &Path) -> Result<String, Failure> {
    let (tenant, key) = machine(engine, &data.join(KEY_FILE)).await?;
    let person = person(engine, tenant).await?;
    let link = engine.issue_link(tenant, person, ExactDuration::from_hours(LINK_HOURS), None).await?;
    let (base, link, key) = (engine.public_base(), link.expose(), key.expose());
    let data = data.display();
    Ok(format!(
        "Handoff is running at {base}, with its data in {data}. Stop it with Ctrl-C.

Open the page (this link works once; each start prints a new one):

  {base}/enter/{link}

Then ask yourself something from another terminal:

  HANDOFF_URL={base} HANDOFF_API_KEY={key} \\
    handoff ask \"Ship version 1.0?\" --options yes,no"
    ))
}

/// The program that asks: whose key is in the file, or a new one whose key is put there.
async fn machine(engine: &Engine, file: &Path) -> Result<(OrgId, Secret<String>), Failure> {
    if let Some(kept) = private_file::read(file)? {
        let key = Secret::new(kept.expose().trim().to_owned());
        // A key of another store, or one that was revoked, is no use here.
        if let Ok(principal) = engine.authenticate(Some(key.expose())).await {
            return Ok((principal.tenant, key));
        }
    }
    let tenant = match engine.tenants().await?.first() {
        Some(tenant) => *tenant,
        None => engine.create_tenant().await?,
    };
    let known = member(engine, tenant, |member| member.kind == MemberKind::Machine).await?;
    let holder = match known {
        Some(member) => member.id,
        None => PrincipalId::ServiceAccount(engine.create_machine(tenant, "my program").await?),
    };
    let key = engine.issue_key(tenant, holder, NewCredential::default()).await?;
    private_file::replace(file, &key)?;
    Ok((tenant, key))
}

/// The person who answers.
async fn person(engine: &Engine, tenant: OrgId) -> Result<UserId, Failure> {
    let known =
        member(engine, tenant, |member| member.kind == MemberKind::Person && member.role == Role::Admin).await?;
    match known.map(|member| member.id) {
        Some(PrincipalId::User(person)) => Ok(person),
        _ => Ok(engine.create_person(tenant, "Me", Role::Admin).await?),
    }
}

async fn member(engine: &Engine, tenant: OrgId, suits: impl Fn(&Member) -> bool) -> Result<Option<Member>, Failure> {
    let members = engine.members(tenant).await?;
    Ok(members.into_iter().find(|member| member.disabled_at.is_none() && suits(member)))
}

/// Makes the directory, for its owner alone.
fn make_directory(path: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}
