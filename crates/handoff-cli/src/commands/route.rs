//! `handoff escalate` and `handoff reassign`: reach more people, or others.

use handoff_protocol::{
    decision::{Target, view::RequestView},
    id::RequestId,
};

use super::names;
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
    #[arg(long, value_name = "N")]
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
    args.output.result(&output::json(&request)?, || deliveries(&request))?;
    Ok(Exit::Done)
}

pub(crate) async fn reassign(args: &ReassignArgs) -> Result<Exit, Failure> {
    let client = args.remote.machine()?;
    let request = client.reassign(args.request, &args.to, args.reason.as_deref(), None).await?;
    args.output.result(&output::json(&request)?, || deliveries(&request))?;
    Ok(Exit::Done)
}

fn deliveries(request: &RequestView) -> String {
    let rows: Vec<[String; 5]> = request
        .deliveries
        .iter()
        .map(|delivery| {
            let reason = delivery.suppressed_reason.map(|reason| format!(": {}", reason.as_str())).unwrap_or_default();
            [
                delivery.rung.to_string(),
                delivery.channel.clone(),
                format!("{} {}", delivery.target.kind.as_str(), delivery.target.value),
                format!("{}{reason}", delivery.state.as_str()),
                delivery.id.to_string(),
            ]
        })
        .collect();
    output::table(["RUNG", "CHANNEL", "WHO", "STATE", "DELIVERY"], &rows)
}
