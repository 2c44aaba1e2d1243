//! `handoff cancel`: take a pending request back.

use handoff_protocol::id::RequestId;

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
    #[arg(value_name = "REQUEST")]
    request: RequestId,
    /// Why; shown to whoever was about to answer
    #[arg(long, value_name = "TEXT")]
    reason: String,
}

pub(crate) async fn run(args: &Args, remote: &Remote, output: Output) -> Result<Exit, Failure> {
    let request = remote.machine()?.cancel(args.request, &args.reason, None).await?;
    let json = output::json(&request)?;
    output.result(&json, || format!("cancelled {}\n", request.id))?;
    Ok(Exit::Done)
}
