//! `handoff ask`: raise a request, wait, print the typed answer, acknowledge it.

use std::path::PathBuf;

use handoff_client::{CallKey, Client};
use handoff_protocol::{
    decision::{
        Requires, WaiterRef,
        terms::{OnExpiry, RequestState},
    },
    json::{Json, Object, read},
};

use crate::{
    exit::Exit,
    failure::Failure,
    fields::{self, FieldSpec, TypedValue},
    output::{self, Output},
    remote::Remote,
    waiting::{self, Reached},
};

use super::input;

/// Ask a person and wait for the answer, which is printed as JSON: one value a field.
///
/// Without fields the answer is one text, `answer`. The wait outlives restarts of the server. Started again with the
/// same --waiter-ref and the same question, it joins the request that is pending; with the same --idempotency-key, it
/// returns the same request even after that was answered.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// What is asked, in one line
    #[arg(required_unless_present = "file")]
    title: Option<String>,
    /// What a person needs to know to answer
    #[arg(long, value_name = "TEXT")]
    body: Option<String>,
    /// A field of the answer: NAME:TYPE or NAME:TYPE:OPTION,OPTION, with `?` behind an optional NAME; repeatable.
    /// Types: choice, choices (several), text, number, boolean, attestation
    #[arg(long = "field", value_name = "FIELD")]
    fields: Vec<FieldSpec>,
    /// One choice among these, as the field `decision`
    #[arg(long, value_name = "A,B,C", value_delimiter = ',')]
    options: Vec<String>,
    /// A whole request instead, as a JSON file; `-` reads standard input
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with_all = ["title", "body", "fields", "options", "ttl", "on_expiry", "default_answer", "role"]
    )]
    file: Option<PathBuf>,
    /// How long the question stands, for example PT4H or P2D
    #[arg(long, value_name = "DURATION")]
    ttl: Option<String>,
    /// What happens when nobody answers in time
    #[arg(long, value_name = "POLICY", value_parser = ["expire_and_deny", "escalate", "default", "park"], requires = "ttl")]
    on_expiry: Option<String>,
    /// A value that holds when nobody answers in time, NAME=VALUE; repeatable
    #[arg(long, value_name = "NAME=VALUE", requires = "ttl")]
    default_answer: Vec<TypedValue>,
    /// Who waits: a name that finds the answer again [default: cli: and a fresh id]
    #[arg(long, value_name = "REF")]
    waiter_ref: Option<String>,
    /// The least role that may answer
    #[arg(long, value_parser = ["viewer", "editor", "admin"])]
    role: Option<String>,
    /// What makes this call the same call when it is made again
    #[arg(long, value_name = "KEY")]
    idempotency_key: Option<String>,
    /// Print the request's id and do not wait
    #[arg(long, conflicts_with = "redeem")]
    no_wait: bool,
    /// Redeem the answer's authorization for this effect; exits 9 if that was done before
    #[arg(long, value_name = "EFFECT_KEY")]
    redeem: Option<String>,
}

pub(crate) async fn run(args: Args, remote: &Remote, output: Output) -> Result<Exit, Failure> {
    let client = remote.machine()?;
    let key = args.idempotency_key.as_deref().map(CallKey::parse).transpose()?;
    let body = body(&args)?;
    let raised = client.raise(&body, key.as_ref()).await?;
    let request = raised.request;
    if raised.was_created {
        output::note(&format!("asked: {}", request.surface_url));
    } else {
        output::note(&format!("already asked: {}", request.surface_url));
    }
    if args.no_wait {
        output.result(&output::json(&request)?, || format!("{}\n", request.id))?;
        return Ok(Exit::Done);
    }
    let id = request.id;
    let reached = waiting::decision(&client, request).await?;
    finish(&client, &reached, args.redeem.as_deref(), Json::from(id.to_string()), output).await
}

/// Redeems if asked to, prints, and only then acknowledges.
async fn finish(
    client: &Client,
    reached: &Reached,
    effect: Option<&str>,
    request_id: Json,
    output: Output,
) -> Result<Exit, Failure> {
    let decision = &reached.decision;
    let mut exit = waiting::exit(decision.outcome);
    let mut told = output::json(decision)?;
    if let Some(members) = told.as_object_mut() {
        members.insert("request_id", request_id);
    }
    if let (Some(effect), RequestState::Answered, Some(authorization)) =
        (effect, decision.outcome, decision.authorization_id)
    {
        let redeemed = client.redeem(authorization, effect, None).await?;
        if let Some(members) = told.as_object_mut() {
            members.insert("redemption", output::json(&redeemed)?);
        }
        if !redeemed.first_redemption {
            output::note(&format!("this effect was redeemed before, at {}: do not repeat it", redeemed.redeemed_at));
            exit = Exit::Repeated;
        }
    }
    if decision.outcome != RequestState::Answered {
        let effective = decision.effective.map(|effective| format!("; in effect: {}", effective.as_str()));
        output::note(&format!("{}{}", decision.outcome.as_str(), effective.unwrap_or_default()));
    }
    output.result(&told, || format!("{}\n", decision.values.to_text()))?;
    if let Some(signal) = &reached.signal {
        client.acknowledge(signal.id, signal.resume_token, true, None).await?;
    }
    Ok(exit)
}

fn body(args: &Args) -> Result<Json, Failure> {
    let Some(file) = &args.file else { return composed(args) };
    let text = input::bytes(file)?;
    let mut body = read(&text).map_err(|error| Failure::usage(format!("the request is not JSON: {error}")))?;
    let members = body.as_object_mut().ok_or_else(|| Failure::usage("the request must be a JSON object"))?;
    if args.waiter_ref.is_some() || !members.contains_key("waiter_ref") {
        members.insert("waiter_ref", waiter_ref(args)?);
    }
    Ok(body)
}

/// The request that the options describe.
fn composed(args: &Args) -> Result<Json, Failure> {
    let mut prompt = Object::new();
    prompt.insert("title", args.title.as_deref().unwrap_or_default());
    if let Some(body) = &args.body {
        prompt.insert("body", body.as_str());
    }
    let mut specs = args.fields.clone();
    if !args.options.is_empty() {
        specs.insert(0, FieldSpec::choice("decision", fields::split_list(&args.options.join(","))));
    }
    if specs.is_empty() {
        specs.push(FieldSpec::text("answer"));
    }
    let fields: Vec<Json> = specs.iter().map(FieldSpec::to_json).collect();
    let mut requires = Object::new();
    requires.insert("v", 1);
    requires.insert("answer", Json::object([("fields", fields)].map(|(name, fields)| (name, Json::from(fields)))));
    if let Some(role) = &args.role {
        requires.insert("authority", Json::object([("min_role", Json::from(role.as_str()))]));
    }
    let requires = Json::from(requires);
    let mut body = Object::new();
    body.insert("waiter_ref", waiter_ref(args)?);
    body.insert("prompt", prompt);
    if let Some(ttl) = &args.ttl {
        body.insert("ttl", ttl.as_str());
    }
    if let Some(policy) = expiry(args, &requires)? {
        body.insert("ttl_policy", policy);
    }
    body.insert("requires", requires);
    Ok(Json::from(body))
}

fn expiry(args: &Args, requires: &Json) -> Result<Option<Json>, Failure> {
    let on_expiry = match (&args.on_expiry, args.default_answer.is_empty()) {
        (None, true) => return Ok(None),
        (None, false) => OnExpiry::Default.as_str(),
        (Some(policy), _) => policy.as_str(),
    };
    let mut policy = Object::new();
    policy.insert("on_expiry", on_expiry);
    if !args.default_answer.is_empty() {
        let requires = Requires::read(requires).map_err(|error| Failure::usage(error.to_string()))?;
        policy.insert("default_answer", fields::values(&requires, &args.default_answer).map_err(Failure::usage)?);
    }
    Ok(Some(Json::from(policy)))
}

fn waiter_ref(args: &Args) -> Result<String, Failure> {
    match &args.waiter_ref {
        Some(text) => {
            WaiterRef::parse(text).map_err(|error| Failure::usage(error.to_string()))?;
            Ok(text.clone())
        }
        None => Ok(format!("cli:{}", CallKey::mint()?.as_str())),
    }
}
