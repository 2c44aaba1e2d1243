//! `handoff escalate` and `handoff reassign`: reach more people, or others.

use handoff_protocol::{decision::Target, id::RequestId};

use super::{deliveries::table, names};
use crate::{
    exit::Exit,
    failure::Failure,
    output::{self, Output},
    remote::Remote,
};

/// Fire the next rung of a pending request's ladder now, or a named one.
#[derive(clap::Args)]
pub(crate) struct EscalateArgs {
    /// The request's id
    #[arg(value_name = "REQUEST", value_parser = names::request)]
    request: RequestId,
    /// The rung, from 0 [default: the next]
    #[arg(long, value_name = "N", value_parser = names::rung)]
    rung: Option<u32>,
    #[command(flatten)]
    output: Output,
    #[command(flatten)]
    remote: Remote,
}

/// Ask somebody else, who may answer from then on. What was not sent yet is cancelled.
#[derive(clap::Args)]
pub(crate) struct ReassignArgs {
    /// The request's id
    #[arg(value_name = "REQUEST", value_parser = names::request)]
    request: RequestId,
    /// Who: a person's id, `role:NAME`, `group:NAME`, `rotation:NAME`, or `anyone`
    #[arg(long, value_name = "TARGET", value_parser = names::target)]
    to: Target,
    /// Why
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
    #[command(flatten)]
    output: Output,
    #[command(flatten)]
    remote: Remote,
}

pub(crate) async fn escalate(args: &EscalateArgs) -> Result<Exit, Failure> {
    let request = args.remote.machine()?.escalate(args.request, args.rung, None).await?;
    args.output.result(&output::json(&request)?, || table(&request.deliveries))?;
    Ok(Exit::Done)
}

pub(crate) async fn reassign(args: &ReassignArgs) -> Result<Exit, Failure> {
    let client = args.remote.machine()?;
    let request = client.reassign(args.request, &args.to, args.reason.as_deref(), None).await?;
    args.output.result(&output::json(&request)?, || table(&request.deliveries))?;
    Ok(Exit::Done)
}
