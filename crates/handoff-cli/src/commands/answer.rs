//! `handoff answer`: answer a request, as a person.

use handoff_client::NewAnswer;
use handoff_protocol::{
    decision::{Requires, terms::RequestState},
    id::RequestId,
    json::Json,
};

use crate::{
    exit::Exit,
    failure::Failure,
    fields::{self, TypedValue},
    output::{self, Output},
    remote::Remote,
};

/// Answer a request, as a person; a machine's key is always refused.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The request's id
    #[arg(value_name = "REQUEST")]
    request: RequestId,
    /// A value, NAME=VALUE; repeatable. `handoff show REQUEST` lists the fields
    #[arg(long = "value", value_name = "NAME=VALUE")]
    values: Vec<TypedValue>,
    /// Words for the receipt
    #[arg(long, value_name = "TEXT")]
    note: Option<String>,
    /// The person's token; better given in the environment
    #[arg(long = "as", env = "HANDOFF_PERSON_TOKEN", hide_env_values = true, value_name = "TOKEN")]
    token: Option<String>,
}

pub(crate) async fn run(args: Args, remote: &Remote, output: Output) -> Result<Exit, Failure> {
    let client = remote.person(args.token.as_deref())?;
    let request = client.request(args.request).await?;
    let values = match Requires::read(&request.requires) {
        Ok(requires) => fields::values(&requires, &args.values).map_err(Failure::usage)?,
        // What has ended is the server's to say, whatever its fields.
        Err(_) if request.state != RequestState::Pending => Default::default(),
        Err(error) => return Err(Failure::failed(format!("this program cannot answer the request: {error}"))),
    };
    if let Some(title) = request.prompt.get("title").and_then(Json::as_str) {
        output::note(&format!("answering: {title}"));
    }
    let answer = NewAnswer { values, note: args.note, rendered_digest: None };
    let result = client.answer(args.request, &answer, None).await?;
    let json = output::json(&result)?;
    output.result(&json, || match &result.receipt {
        Some(receipt) => format!("answered; receipt {} ({})\n", receipt.id, receipt.digest),
        None => "recorded; the request is still pending\n".to_owned(),
    })?;
    Ok(Exit::Done)
}
