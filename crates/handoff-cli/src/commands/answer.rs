//! `handoff answer`: answer a request, as a person, in whole or in part, or pass it on.

use std::path::{Path, PathBuf};

use handoff_client::{Client, ClientError, Intent, NewAnswer};
use handoff_protocol::{
    decision::{ErrorCode, FieldKind, Requires, Target, terms::RequestState, view::AnswerResult},
    id::RequestId,
    json::{Json, Object, read},
};

use super::{
    input, names,
    secrets::{self, SecretFile},
};
use crate::{
    exit::Exit,
    failure::Failure,
    fields::{self, TypedValue},
    output::{self, Output},
    remote::Remote,
};

/// Answer a request, as a person; a machine's key is always refused.
///
/// The credential of an anonymous link may answer and not read: give its values as NAME:=JSON, or the whole answer with
/// --file.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The request's id
    #[arg(value_name = "REQUEST", value_parser = names::request)]
    request: RequestId,
    /// A value, NAME=VALUE, read by the type of its field; or NAME:=JSON; repeatable. Of a field that takes several
    /// options, NAME=A,B or each on its own. `handoff show REQUEST` lists the fields
    #[arg(long = "value", value_name = "NAME=VALUE")]
    values: Vec<TypedValue>,
    /// The value of a secret field, from a file: NAME=FILE, `-` for standard input; repeatable. It goes to the request's
    /// sink and not into the answer
    #[arg(long = "secret", value_name = "NAME=FILE")]
    secrets: Vec<SecretFile>,
    /// Give these values now and leave the rest for later, or for somebody else
    #[arg(long, conflicts_with_all = ["unable", "delegate_to", "file"])]
    partial: bool,
    /// Say that you cannot answer; the question stays open
    #[arg(long, conflicts_with_all = ["values", "secrets", "delegate_to", "file"])]
    unable: bool,
    /// Pass the question on: a person's id, `role:NAME` (viewer, editor, admin), `group:NAME`, `rotation:NAME`, or `anyone`
    #[arg(long, value_name = "TARGET", value_parser = names::target, conflicts_with_all = ["values", "secrets", "file"])]
    delegate_to: Option<Target>,
    /// Words for the record
    #[arg(long, value_name = "TEXT")]
    note: Option<String>,
    /// The whole answer instead, as a JSON file: {"values": {…}}, and `note` if wanted; `-` reads standard input
    #[arg(long, value_name = "FILE", conflicts_with_all = ["values", "secrets", "note"])]
    file: Option<PathBuf>,
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
    let output = args.output;
    let open = match (&args.delegate_to, args.unable, args.partial, &args.file) {
        (Some(_), ..) => "passed on, and the question is still open",
        (None, false, true, _) => "the rest is still to be given: `handoff show` lists it",
        (None, false, false, None) => "more people must agree before it counts",
        (None, true, ..) | (None, false, false, Some(_)) => "the question is still open",
    };
    let result = match &args.file {
        Some(file) => {
            client.answer_with(args.request, &whole(file)?, None).await.map_err(|error| refused(error, None))?
        }
        None => composed(&client, args).await?,
    };
    let json = output::json(&result)?;
    output.result(&json, || match &result.receipt {
        Some(receipt) => format!("answered; receipt {} ({})\n", receipt.id, receipt.digest),
        None => format!("recorded; {open}\n"),
    })?;
    Ok(Exit::Done)
}

/// The whole answer of a file.
fn whole(file: &Path) -> Result<Json, Failure> {
    let body =
        read(&input::bytes(file)?).map_err(|error| Failure::usage(format!("the answer is not JSON: {error}")))?;
    match body.get("values").and_then(Json::as_object) {
        Some(_) => Ok(body),
        None => Err(Failure::usage("the answer must be a JSON object with the values in it: {\"values\": {…}}")),
    }
}

/// Answers with the values that the options give.
async fn composed(client: &Client, args: Args) -> Result<AnswerResult, Failure> {
    let request = match client.request(args.request).await {
        Ok(request) => Some(request),
        // A link may answer what it cannot read; then every value says its type itself.
        Err(error) if error.is_refused_with(ErrorCode::InsufficientScope) => None,
        Err(error) => return Err(error.into()),
    };
    let requires = match request.as_ref().map(|request| (request.state, Requires::read(&request.requires))) {
        Some((_, Ok(requires))) => Some(requires),
        // What has ended is the server's to say, whatever its fields.
        Some((state, Err(_))) if state != RequestState::Pending => None,
        Some((_, Err(error))) => {
            return Err(Failure::failed(format!("this program cannot answer the request: {error}")));
        }
        None => None,
    };
    let mut values = match (&request, &requires) {
        (_, Some(requires)) => fields::values(requires, &args.values).map_err(Failure::usage)?,
        (Some(_), None) => Object::new(),
        (None, None) => fields::json_values(&args.values).map_err(|mend| {
            Failure::usage(format!(
                "this credential may answer but not read the request, so its fields are not known: {mend}"
            ))
        })?,
    };
    let secrets = match &requires {
        Some(requires) => secrets::read(requires, &args.secrets)?,
        None if args.secrets.is_empty() => Vec::new(),
        None => return Err(Failure::usage("the request's fields are not known, so no secret can be sent")),
    };
    for (_, given) in &secrets {
        for name in given.expose().keys() {
            values.insert(name, Json::object([("provided", Json::from(true))]));
        }
    }
    if let Some(title) = request.as_ref().and_then(|request| request.prompt.get("title")).and_then(Json::as_str) {
        output::note(&format!("answering: {title}"));
    }
    for (place, given) in &secrets {
        client.submit_values_for(args.request, place, given, None).await?;
    }
    let intent = match (args.delegate_to, args.unable, args.partial) {
        (Some(target), ..) => Intent::Delegate(target),
        (None, true, _) => Intent::DeclareUnable,
        (None, false, true) => Intent::GivePart,
        (None, false, false) => Intent::Decide,
    };
    let answer = NewAnswer { values, intent, note: args.note, ..NewAnswer::default() };
    client.answer(args.request, &answer, None).await.map_err(|error| refused(error, requires.as_ref()))
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
