//! Commands for whoever runs the server: they open its store directly, beside it if it runs.

use std::sync::Arc;

use clap::Args;
use handoff_engine::{
    Engine,
    identity::{Member, MemberKind},
    store::{Inspect, Store},
};
use handoff_protocol::id::{OrgId, PrincipalId, UserId};
use handoff_server::{
    DatabaseUrl,
    store::{self, StoreOpenError},
};
use tokio::task::JoinHandle;

use crate::{failure::Failure, output};

/// Which store, and whose.
#[derive(Args, Clone)]
pub(crate) struct StoreArgs {
    /// The server's database
    #[arg(
        long,
        global = true,
        env = "HANDOFF_DATABASE_URL",
        hide_env_values = true,
        default_value = "sqlite:./handoff-data/handoff.db",
        value_name = "URL",
        help_heading = "Store"
    )]
    database: String,
    /// The tenant; needed only when there is more than one
    #[arg(long, global = true, value_name = "ORG_ID", help_heading = "Store")]
    tenant: Option<OrgId>,
}

/// A whole store.
#[derive(Args, Clone)]
pub(crate) struct Place {
    /// The server's database
    #[arg(
        long,
        env = "HANDOFF_DATABASE_URL",
        hide_env_values = true,
        default_value = "sqlite:./handoff-data/handoff.db",
        value_name = "URL",
        help_heading = "Store"
    )]
    database: String,
}

impl Place {
    /// Opens it and does nothing in it; one that is not there is made, unless it must be.
    pub(crate) async fn open(&self, existing: bool) -> Result<Arc<dyn Store>, Failure> {
        let url = address(&self.database)?;
        let open = if existing { store::open_existing } else { store::open_url };
        opened(tokio::task::spawn_blocking(move || open(&url))).await
    }
}

/// An open store and the tenant to work in.
pub(crate) struct Operator {
    pub(crate) engine: Engine,
    pub(crate) tenant: OrgId,
}

impl StoreArgs {
    /// Opens a store that is there.
    pub(crate) async fn open(&self) -> Result<Operator, Failure> {
        let url = self.url()?;
        let engine = engine(tokio::task::spawn_blocking(move || store::open_existing(&url))).await?;
        let tenant = match (self.tenant, engine.tenants().await?.as_slice()) {
            (Some(named), known) if known.contains(&named) => named,
            (Some(_), _) => return Err(Failure::usage("there is no such tenant in this store")),
            (None, [only]) => *only,
            (None, []) => {
                return Err(Failure::failed("the store is empty; `handoff keys issue NAME` adds the first machine"));
            }
            (None, several) => return Err(more_than_one(several)),
        };
        Ok(Operator { engine, tenant })
    }

    /// Opens a store that is there to look at everything in it, with the tenant that was named.
    pub(crate) async fn open_to_inspect(&self) -> Result<(Arc<dyn Inspect>, Option<OrgId>), Failure> {
        let url = self.url()?;
        let store = opened(tokio::task::spawn_blocking(move || store::open_to_inspect(&url))).await?;
        Ok((store, self.tenant))
    }

    /// Opens a store for adding to it: what is missing, the store and its first tenant, is made.
    pub(crate) async fn open_or_create(&self) -> Result<Operator, Failure> {
        let url = self.url()?;
        let engine = engine(tokio::task::spawn_blocking(move || store::open_url(&url))).await?;
        if self.tenant.is_none() && engine.tenants().await?.is_empty() {
            let tenant = engine.create_tenant().await?;
            output::note(&format!("the store was empty; its first tenant is {tenant}"));
            return Ok(Operator { engine, tenant });
        }
        drop(engine);
        self.open().await
    }

    fn url(&self) -> Result<DatabaseUrl, Failure> {
        address(&self.database)
    }
}

fn address(text: &str) -> Result<DatabaseUrl, Failure> {
    DatabaseUrl::parse(text).map_err(|error| Failure::usage(format!("the database: {error}")))
}

async fn engine(opening: Opening<Arc<dyn Store>>) -> Result<Engine, Failure> {
    let store = opened(opening).await?;
    Engine::builder().store(store).build().await.map_err(|error| Failure::failed(error.to_string()))
}

/// A store that is being opened.
type Opening<S> = JoinHandle<Result<S, StoreOpenError>>;

async fn opened<S>(opening: Opening<S>) -> Result<S, Failure> {
    opening
        .await
        .map_err(|error| Failure::failed(format!("opening the store was interrupted: {error}")))?
        .map_err(|error| Failure::failed(error.to_string()))
}

fn more_than_one(tenants: &[OrgId]) -> Failure {
    let names: Vec<String> = tenants.iter().map(ToString::to_string).collect();
    Failure::usage(format!("there is more than one tenant; name one with --tenant: {}", names.join(", ")))
}

impl Operator {
    /// The members of one kind.
    pub(crate) async fn members(&self, kind: MemberKind) -> Result<Vec<Member>, Failure> {
        let members = self.engine.members(self.tenant).await?;
        Ok(members.into_iter().filter(|member| member.kind == kind).collect())
    }

    /// Whether some member of a kind has this name.
    pub(crate) async fn is_taken(&self, kind: MemberKind, name: &str) -> Result<bool, Failure> {
        Ok(self.members(kind).await?.iter().any(|member| member.display.as_deref() == Some(name)))
    }

    /// The person of an id or of a name that only one has.
    pub(crate) async fn person(&self, named: &str) -> Result<UserId, Failure> {
        match self.one(MemberKind::Person, named).await? {
            PrincipalId::User(id) => Ok(id),
            other => Err(Failure::failed(format!("{other} is no person"))),
        }
    }

    /// The member of an id or of a name that only one of its kind has.
    pub(crate) async fn one(&self, kind: MemberKind, named: &str) -> Result<PrincipalId, Failure> {
        let (one, several, listed) = match kind {
            MemberKind::Person => ("person", "people have", "handoff person list"),
            MemberKind::Machine => ("machine", "machines have", "handoff keys list"),
        };
        let members = self.members(kind).await?;
        let fits = |member: &&Member| member.id.to_string() == named || member.display.as_deref() == Some(named);
        let found: Vec<PrincipalId> = members.iter().filter(fits).map(|member| member.id).collect();
        match found.as_slice() {
            [id] => Ok(*id),
            [] => Err(Failure::failed(format!("there is no {one} of this id or name; `{listed}` shows all"))),
            ids => {
                let ids: Vec<String> = ids.iter().map(ToString::to_string).collect();
                Err(Failure::usage(format!("several {several} this name; name one by id: {}", ids.join(", "))))
            }
        }
    }
}
