//! `handoff person`: the people of a tenant, in the store itself.

use clap::Subcommand;
use handoff_engine::identity::{Member, MemberKind, NewCredential};
use handoff_protocol::{
    duration::ExactDuration,
    id::{PrincipalId, RequestId},
    json::Json,
    principal::Role,
};

use super::{
    address::{self, Known},
    names,
};
use crate::{
    exit::Exit,
    failure::Failure,
    operator::StoreArgs,
    output::{self, Output},
};

/// People: add them, let them in, change what they may decide.
///
/// Opens the store directly, beside the server if that runs.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    store: StoreArgs,
    #[command(flatten)]
    output: Output,
    #[command(subcommand)]
    command: PersonCommand,
}

#[derive(Subcommand)]
enum PersonCommand {
    /// Add a person; prints the new id
    Add {
        /// The name, as receipts show it
        #[arg(value_parser = names::display)]
        name: String,
        /// What the person may decide: viewer, editor or admin
        #[arg(long, default_value = "viewer", value_parser = parse_role)]
        role: Role,
    },
    /// List the people
    List,
    /// Print an address with which the person enters, once
    ///
    /// It begins with the address that the server says people open, its public base, unless another is given here.
    Link {
        /// Id or name
        person: String,
        /// The request that the person should see first
        #[arg(long, value_name = "REQUEST", value_parser = names::request)]
        request: Option<RequestId>,
        /// How long the address can be used
        #[arg(long, default_value = "PT15M", value_name = "DURATION", value_parser = names::duration)]
        ttl: ExactDuration,
        /// The address that people open [default: what the server says]
        #[arg(long, env = "HANDOFF_PUBLIC_BASE", hide_env_values = true, value_name = "URL")]
        public_base: Option<String>,
        /// The server's address, where people open that one as well
        #[arg(long, value_name = "URL")]
        url: Option<String>,
    },
    /// Print a token with which the person's own programs act; it is shown once
    Key {
        /// Id or name
        person: String,
    },
    /// Change what a person may decide, from the next answer on
    Role {
        /// Id or name
        person: String,
        /// viewer, editor or admin
        #[arg(value_parser = parse_role)]
        role: Role,
    },
}

pub(crate) async fn run(args: Args) -> Result<Exit, Failure> {
    let output = args.output;
    match args.command {
        PersonCommand::Add { name, role } => {
            let operator = args.store.open_or_create().await?;
            let taken = operator.is_taken(MemberKind::Person, &name).await?;
            let id = operator.engine.create_person(operator.tenant, &name, role).await?;
            one(output, "id", &id.to_string())?;
            if taken {
                output::note("somebody else has this name already; from now on, name both by id");
            }
        }
        PersonCommand::List => {
            let operator = args.store.open().await?;
            members(output, &operator.members(MemberKind::Person).await?)?;
        }
        PersonCommand::Link { person, request, ttl, public_base, url } => {
            let operator = args.store.open().await?;
            let announced = operator.engine.announced_public_base().await?;
            let base = address::for_people(&Known {
                named: public_base.as_deref(),
                url: url.as_deref(),
                announced: announced.as_deref(),
                programs: std::env::var("HANDOFF_URL").ok().as_deref(),
            })?;
            let person = operator.person(&person).await?;
            let token = operator.engine.issue_link(operator.tenant, person, ttl, request).await?;
            one(output, "address", &format!("{base}/enter/{}", token.expose()))?;
            output::note("whoever opens this address first enters as that person; it works once");
        }
        PersonCommand::Key { person } => {
            let operator = args.store.open().await?;
            let person = PrincipalId::User(operator.person(&person).await?);
            let token = operator.engine.issue_key(operator.tenant, person, NewCredential::default()).await?;
            one(output, "token", token.expose())?;
            output::note("keep it in HANDOFF_PERSON_TOKEN; it is not shown again");
        }
        PersonCommand::Role { person, role } => {
            let operator = args.store.open().await?;
            let person = operator.person(&person).await?;
            operator.engine.set_role(operator.tenant, person, role).await?;
            let json = Json::object([("id", Json::from(person.to_string())), ("role", Json::from(role.as_str()))]);
            output.result(&json, || format!("the role is now {}\n", role.as_str()))?;
        }
    }
    Ok(Exit::Done)
}

/// Prints one value, so that a script can take it as it is.
pub(crate) fn one(output: Output, name: &str, value: &str) -> Result<(), Failure> {
    output.result(&Json::object([(name, Json::from(value))]), || format!("{value}\n"))
}

/// Prints people.
fn members(output: Output, members: &[Member]) -> Result<(), Failure> {
    let json = |member: &Member| {
        Json::object([
            ("id", Json::from(member.id.to_string())),
            ("name", Json::from(member.display.clone())),
            ("role", Json::from(member.role.as_str())),
            ("created_at", Json::from(member.created_at.to_string())),
            ("disabled_at", Json::from(member.disabled_at.map(|at| at.to_string()))),
        ])
    };
    let row = |member: &Member| {
        let state = if member.disabled_at.is_some() { "disabled" } else { "active" };
        let name = member.display.clone().unwrap_or_default();
        [member.id.to_string(), member.role.as_str().to_owned(), state.to_owned(), member.created_at.to_string(), name]
    };
    output.result(&Json::Array(members.iter().map(json).collect()), || {
        let rows: Vec<_> = members.iter().map(row).collect();
        output::table(["ID", "ROLE", "STATE", "ADDED", "NAME"], &rows)
    })
}

fn parse_role(text: &str) -> Result<Role, String> {
    let found = Role::ALL.iter().find(|(name, _)| *name == text);
    found.map(|(_, role)| *role).ok_or_else(|| "the roles are viewer, editor and admin".to_owned())
}
