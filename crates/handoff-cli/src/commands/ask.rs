//! `handoff ask`: raise a request, wait, print the typed answer, acknowledge it.

use std::path::PathBuf;

use clap::builder::{PossibleValue, PossibleValuesParser};
use handoff_client::{CallKey, Client};
use handoff_protocol::{
    decision::{
        Decision, Requires, WaiterRef,
        terms::{Effective, Liveness, OnExpiry, RequestState},
    },
    duration::ExactDuration,
    id::RequestId,
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

use super::{input, names};

/// What `--help` ends with.
const EXAMPLES: &str = "\
Examples:
  handoff ask \"Refund 2,400 to Acme?\" --options approve,reject --ttl PT4H
  handoff ask \"How many?\" --field count:number --field why?:text
  handoff ask \"Deploy?\" --options yes,no --ttl PT1H --default-answer decision=no
  handoff ask \"Deploy?\" --options yes,no --no-wait --json
  handoff ask --resume req_01M8…

The exit code says how it ended: 0 answered, 5 expired, 6 cancelled, 7 superseded, 3 refused, 4 unreachable.";

/// Ask a person and wait for the answer, which is printed as JSON: one value a field.
///
/// Without fields the answer is one text, `answer`. The wait outlives restarts of the server. Started again with the
/// same --waiter-ref and the same question, it joins the request that is pending; with the same --idempotency-key, it
/// returns the same request even after that was answered.
#[derive(clap::Args)]
#[command(
    override_usage = "handoff ask [OPTIONS] <TITLE>\n       handoff ask [OPTIONS] --file <FILE>\n       \
                      handoff ask [OPTIONS] --resume <REQUEST>",
    after_help = EXAMPLES
)]
pub(crate) struct Args {
    /// What is asked, in one line
    #[arg(required_unless_present_any = ["file", "resume"])]
    title: Option<String>,
    /// What a person needs to know to answer
    #[arg(long, value_name = "TEXT")]
    body: Option<String>,
    /// A field of the answer: NAME:TYPE or NAME:TYPE:OPTION,OPTION, with `?` behind an optional NAME; repeatable.
    /// Types: choice, choices (several), text, number, boolean, attestation, document (JSON), `file_ref`
    #[arg(long = "field", value_name = "FIELD")]
    fields: Vec<FieldSpec>,
    /// One choice among these, as the field `decision`
    #[arg(long, value_name = "A,B,C", value_delimiter = ',')]
    options: Vec<String>,
    /// A whole request instead, as a JSON file; `-` reads standard input
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with_all = [
            "title", "body", "fields", "options", "ttl", "on_expiry", "default_answer", "leased", "role",
            "quorum"
        ]
    )]
    file: Option<PathBuf>,
    /// How long the question stands, for example PT4H or P2D; without it, until it is answered
    #[arg(long, value_name = "DURATION")]
    ttl: Option<String>,
    /// What happens when nobody answers in time [default: escalate, or default with --default-answer]
    #[arg(long, value_name = "POLICY", value_parser = policies(), requires = "ttl")]
    on_expiry: Option<String>,
    /// A value that holds when nobody answers in time, NAME=VALUE; repeatable
    #[arg(long, value_name = "NAME=VALUE", requires = "ttl")]
    default_answer: Vec<TypedValue>,
    /// Cancel the question if this program dies: it is asked for as long as somebody waits
    #[arg(long, conflicts_with = "no_wait")]
    leased: bool,
    /// Who waits: a name that finds the answer again [default: cli: and a fresh id]
    #[arg(long, value_name = "REF")]
    waiter_ref: Option<String>,
    /// The least role that may answer
    #[arg(long, value_parser = ["viewer", "editor", "admin"])]
    role: Option<String>,
    /// How many people must agree
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    quorum: Option<u64>,
    /// What makes this call the same call when it is made again
    #[arg(long, value_name = "KEY")]
    idempotency_key: Option<String>,
    /// Print the request's id and do not wait; with --json, the whole request
    #[arg(long, conflicts_with = "redeem")]
    no_wait: bool,
    /// Redeem the answer's authorization for this effect; exits 9 if that was done before
    #[arg(long, value_name = "EFFECT_KEY")]
    redeem: Option<String>,
    /// Ask nothing new: wait for the request that an earlier run asked, and go on as it would have
    #[arg(
        long,
        value_name = "REQUEST",
        value_parser = names::request,
        conflicts_with_all = [
            "title", "body", "fields", "options", "file", "ttl", "on_expiry", "default_answer", "leased", "waiter_ref",
            "role", "quorum", "idempotency_key", "no_wait"
        ]
    )]
    resume: Option<RequestId>,
    #[command(flatten)]
    output: Output,
    #[command(flatten)]
    remote: Remote,
}

/// What can happen at the deadline, each with its meaning (rule C-6).
fn policies() -> PossibleValuesParser {
    PossibleValuesParser::new([
        PossibleValue::new("escalate").help("ask the next in line, if any; then nothing is allowed"),
        PossibleValue::new("expire_and_deny").help("nothing is allowed, at once; the answer is empty"),
        PossibleValue::new("default").help("the values of --default-answer count; nothing is authorized"),
        PossibleValue::new("park").help("the question stands on, without a deadline"),
    ])
}

pub(crate) async fn run(args: Args) -> Result<Exit, Failure> {
    let (client, output) = (args.remote.machine()?, args.output);
    if let Some(id) = args.resume {
        let request = client.request(id).await?;
        output::note(&format!("waiting again: {}", request.surface_url));
        let reached = waiting::decision(&client, request).await?;
        return finish(&client, &reached, args.redeem.as_deref(), id, output).await;
    }
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
    finish(&client, &reached, args.redeem.as_deref(), id, output).await
}

/// Redeems if asked to, prints, and only then acknowledges.
async fn finish(
    client: &Client,
    reached: &Reached,
    effect: Option<&str>,
    id: RequestId,
    output: Output,
) -> Result<Exit, Failure> {
    let decision = &reached.decision;
    let mut exit = waiting::exit(decision.outcome);
    let mut told = output::json(decision)?;
    if let Some(members) = told.as_object_mut() {
        members.insert("request_id", id.to_string());
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
    if let Some(ending) = ending(decision) {
        output::note(&ending);
    } else if let (None, Some(authorization)) = (effect, decision.authorization_id) {
        output::note(&format!("`handoff redeem {authorization} EFFECT_KEY` spends the answer on one effect, once"));
    }
    output.result(&told, || format!("{}\n", decision.values.to_text()))?;
    if let Some(signal) = &reached.signal {
        client.acknowledge(signal.id, signal.resume_token, true, None).await?;
    }
    Ok(exit)
}

/// How it ended, where it was not answered.
fn ending(decision: &Decision) -> Option<String> {
    Some(match (decision.outcome, decision.effective) {
        (RequestState::Answered, _) => return None,
        (RequestState::Expired, Some(Effective::Default)) => "nobody answered; the declared default counts; nothing \
            was authorized, so nothing was redeemed"
            .to_owned(),
        (RequestState::Superseded, _) => {
            let successor = decision.superseded_by.map(|id| format!(" by {id}"));
            format!("superseded{}", successor.unwrap_or_default())
        }
        (outcome, effective) => {
            let effective = effective.map(|effective| format!("; in effect: {}", effective.as_str()));
            format!("{}{}", outcome.as_str(), effective.unwrap_or_default())
        }
    })
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
    let mut authority = Object::new();
    if let Some(role) = &args.role {
        authority.insert("min_role", role.as_str());
    }
    if let Some(quorum) = args.quorum {
        authority.insert("quorum", quorum);
    }
    if !authority.is_empty() {
        requires.insert("authority", authority);
    }
    let requires = Json::from(requires);
    let mut body = Object::new();
    body.insert("waiter_ref", waiter_ref(args)?);
    body.insert("prompt", prompt);
    if args.leased {
        body.insert("liveness", Liveness::Leased.as_str());
    }
    if let Some(ttl) = &args.ttl {
        if ExactDuration::parse(ttl).is_ok_and(ExactDuration::is_zero) {
            return Err(Failure::usage(
                "--ttl leaves no time to answer; give one such as PT4H, or leave it out for a question without a deadline",
            ));
        }
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
