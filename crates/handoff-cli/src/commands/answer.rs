//! `handoff answer`: answer a request, as a person, in whole or in part, or pass it on.

use handoff_client::{ClientError, Intent, NewAnswer};
use handoff_protocol::{
    decision::{ErrorCode, FieldKind, Requires, Target, terms::RequestState},
    id::RequestId,
    json::Json,
};

use super::names;
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
    #[arg(value_name = "REQUEST", value_parser = names::request)]
    request: RequestId,
    /// A value, NAME=VALUE; repeatable. `handoff show REQUEST` lists the fields
    #[arg(long = "value", value_name = "NAME=VALUE")]
    values: Vec<TypedValue>,
    /// Give these values now and leave the rest for later, or for somebody else
    #[arg(long, conflicts_with_all = ["unable", "delegate_to"])]
    partial: bool,
    /// Say that you cannot answer; the question stays open
    #[arg(long, conflicts_with_all = ["values", "delegate_to"])]
    unable: bool,
    /// Pass the question on: a person's id, `role:ROLE`, or `anyone`
    #[arg(long, value_name = "TARGET", value_parser = names::target, conflicts_with = "values")]
    delegate_to: Option<Target>,
    /// Words for the record
    #[arg(long, value_name = "TEXT")]
    note: Option<String>,
    /// The person's token; better given in the environment
    #[arg(long = "as", env = "HANDOFF_PERSON_TOKEN", hide_env_values = true, value_name = "TOKEN")]
    token: Option<String>,
    #[command(flatten)]
    output: Output,
    #[command(flatten)]
    remote: Remote,
}

pub(crate) async fn run(args: Args) -> Result<Exit, Failure> {
    let client = args.remote.person(args.token.as_deref())?;
    let request = client.request(args.request).await?;
    let requires = match Requires::read(&request.requires) {
        Ok(requires) => Some(requires),
        // What has ended is the server's to say, whatever its fields.
        Err(_) if request.state != RequestState::Pending => None,
        Err(error) => return Err(Failure::failed(format!("this program cannot answer the request: {error}"))),
    };
    let values = requires.as_ref().map(|requires| fields::values(requires, &args.values));
    let values = values.transpose().map_err(Failure::usage)?.unwrap_or_default();
    if let Some(title) = request.prompt.get("title").and_then(Json::as_str) {
        output::note(&format!("answering: {title}"));
    }
    let intent = match (args.delegate_to, args.unable, args.partial) {
        (Some(target), ..) => Intent::Delegate(target),
        (None, true, _) => Intent::DeclareUnable,
        (None, false, true) => Intent::GivePart,
        (None, false, false) => Intent::Decide,
    };
    let pending = match intent {
        Intent::Decide => "recorded; more people must agree before it counts\n",
        Intent::GivePart => "recorded; the rest is still to be given: `handoff show` lists it\n",
        Intent::Delegate(_) => "passed on; the question is still open\n",
        Intent::DeclareUnable => "recorded; the question is still open\n",
    };
    let answer = NewAnswer { values, intent, note: args.note, rendered_digest: None };
    let result = client.answer(args.request, &answer, None).await.map_err(|error| refused(error, requires.as_ref()))?;
    let json = output::json(&result)?;
    args.output.result(&json, || match &result.receipt {
        Some(receipt) => format!("answered; receipt {} ({})\n", receipt.id, receipt.digest),
        None => pending.to_owned(),
    })?;
    Ok(Exit::Done)
}

/// A refusal for its values, one line a field, with what the field would take.
fn refused(error: ClientError, requires: Option<&Requires>) -> Failure {
    let Some(refusal) = error.refusal().filter(|refusal| refusal.is(ErrorCode::AnswerValidationFailed)) else {
        return error.into();
    };
    let mut message = format!("{}: the values cannot be accepted", refusal.code);
    for fault in &refusal.fields {
        let words = fault.message.as_deref().unwrap_or("cannot be accepted");
        message.push_str(&format!("\n  {}: {words}", fault.name));
        if let Some(FieldKind::Choice { options, .. }) =
            requires.and_then(|known| known.field(&fault.name)).map(|field| &field.kind)
        {
            let ids: Vec<&str> = options.iter().map(|option| option.id.as_str()).collect();
            message.push_str(&format!(" ({})", ids.join(", ")));
        }
    }
    Failure::new(Exit::Refused, message)
}
