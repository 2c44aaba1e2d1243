//! `handoff cancel`: take a pending request back.

use handoff_protocol::id::RequestId;

use super::names;
use crate::{
    exit::Exit,
    failure::Failure,
    output::{self, Output},
    remote::Remote,
};

/// Take a pending request back. A person's answer that came first stands.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The request's id
    #[arg(value_name = "REQUEST", value_parser = names::request)]
    request: RequestId,
    /// Why; shown to whoever was about to answer
    #[arg(long, value_name = "TEXT")]
    reason: String,
    #[command(flatten)]
    output: Output,
    #[command(flatten)]
    remote: Remote,
}

pub(crate) async fn run(args: &Args) -> Result<Exit, Failure> {
    let request = args.remote.machine()?.cancel(args.request, &args.reason, None).await?;
    let json = output::json(&request)?;
    args.output.result(&json, || format!("cancelled {}\n", request.id))?;
    Ok(Exit::Done)
}
