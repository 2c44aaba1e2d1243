//! `handoff ask`: raise a request, wait, print the typed answer, acknowledge it.

mod body;
mod interruption;
mod outcome;

use std::path::PathBuf;

use clap::builder::{PossibleValue, PossibleValuesParser};
use handoff_client::{CallKey, Client};
use handoff_protocol::{
    decision::{Target, view::RequestView},
    duration::ExactDuration,
    id::RequestId,
};

use self::{interruption::Signals, outcome::Redemption};
use super::names;
use crate::{
    exit::Exit,
    failure::Failure,
    fields::{FieldSpec, TypedValue},
    output::{self, Output},
    remote::Remote,
    waiting,
};

/// What `--help` ends with.
const EXAMPLES: &str = "\
Examples:
  handoff ask \"Refund 2,400 to Acme?\" --options approve,reject --ttl PT4H
  handoff ask \"How many?\" --field count:number --field why?:text
  handoff ask \"Deploy?\" --options yes,no --ttl PT1H --default-answer decision=no
  handoff ask \"Deploy?\" --options yes,no --redeem deploy:7 --redeem-if decision=yes
  handoff ask \"Deploy?\" --options yes,no --no-wait --json
  handoff ask \"Deploy?\" --options yes,no --assignee group:operations --to rotation:on-call
  handoff ask --resume req_01M8…

The exit code says how it ended: 0 answered, 5 expired, 6 cancelled, 7 superseded, 3 refused, 4 unreachable, 9 the effect
was redeemed before, 10 not the answer that --redeem-if names; 129, 130, 143 stopped by a signal while it waited, after
saying how to go on. `handoff --help` lists them all.";

/// Ask a person and wait for the answer, which is printed as JSON: one value a field.
///
/// Without fields the answer is one text, `answer`. The wait outlives restarts of the server. Started again with the
/// same --waiter-ref and the same question, it joins the request that is pending; with the same --idempotency-key and the
/// same question, it returns the same request even after that was answered.
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
            "title", "body", "fields", "options", "ttl", "on_expiry", "default_answer", "leased", "role", "test",
            "quorum", "assignees", "targets", "callback", "secret_ref", "resume_ref", "resume_file"
        ]
    )]
    file: Option<PathBuf>,
    /// How long the question stands, for example PT4H or P2D; without it, until it is answered
    #[arg(long, value_name = "DURATION", value_parser = names::duration)]
    ttl: Option<ExactDuration>,
    /// What happens when nobody answers in time [default: escalate, or default with --default-answer]
    #[arg(long, value_name = "POLICY", value_parser = policies(), requires = "ttl")]
    on_expiry: Option<String>,
    /// A value that holds when nobody answers in time, NAME=VALUE; repeatable
    #[arg(long, value_name = "NAME=VALUE", requires = "ttl")]
    default_answer: Vec<TypedValue>,
    /// Cancel the question if this program ends: it is asked for as long as somebody waits. Ctrl-C cancels it at once; a
    /// program that was killed is noticed 90 seconds after it was last heard of
    #[arg(long, conflicts_with = "no_wait")]
    leased: bool,
    /// To try things out: the request is marked as a test wherever it is shown
    #[arg(long)]
    test: bool,
    /// Who waits: a name that finds the answer again [default: cli: and the --idempotency-key, else a fresh id]
    #[arg(long, value_name = "REF")]
    waiter_ref: Option<String>,
    /// The least role that may answer
    #[arg(long, value_parser = ["viewer", "editor", "admin"])]
    role: Option<String>,
    /// How many people must agree
    #[arg(long, value_name = "N", value_parser = names::quorum)]
    quorum: Option<u64>,
    /// Who may answer, nobody else: a person's id, `role:NAME`, `group:NAME`, `rotation:NAME`; repeatable
    #[arg(long = "assignee", value_name = "TARGET", value_parser = names::target)]
    assignees: Vec<Target>,
    /// Whom to reach, instead of those whom the server would: as for --assignee, or `anyone`; repeatable
    #[arg(long = "to", value_name = "TARGET", value_parser = names::target)]
    targets: Vec<Target>,
    /// Where signals are pushed to as well, until they are acknowledged
    #[arg(long, value_name = "URL")]
    callback: Option<String>,
    /// Which set of the server's secrets signs what is pushed
    #[arg(long, value_name = "NAME", requires = "callback")]
    secret_ref: Option<String>,
    /// A text that comes back with each signal and is shown nowhere else
    #[arg(long, value_name = "TEXT")]
    resume_ref: Option<String>,
    /// A file that comes back with each signal, encrypted while it is kept, up to 64 KiB; `-` reads standard input
    #[arg(long, value_name = "FILE")]
    resume_file: Option<PathBuf>,
    /// What makes this call the same call when it is made again
    #[arg(long, value_name = "KEY")]
    idempotency_key: Option<String>,
    /// Print the request's id and do not wait; with --json, the whole request
    #[arg(long, conflicts_with = "redeem")]
    no_wait: bool,
    /// Redeem the answer's authorization for this effect; exits 9 if that was done before. Any answer is authorized, a
    /// "no" as well: --redeem-if says which one the effect needs
    #[arg(long, value_name = "EFFECT_KEY")]
    redeem: Option<String>,
    /// Redeem only if the answer has this value, NAME=VALUE; repeatable, and all must hold. Otherwise nothing is redeemed,
    /// and it exits 10
    #[arg(long, value_name = "NAME=VALUE", requires = "redeem")]
    redeem_if: Vec<TypedValue>,
    /// Ask nothing new: wait for the request that an earlier run asked, and go on as it would have
    #[arg(
        long,
        value_name = "REQUEST",
        value_parser = names::request,
        conflicts_with_all = [
            "title", "body", "fields", "options", "file", "ttl", "on_expiry", "default_answer", "leased", "waiter_ref",
            "role", "quorum", "idempotency_key", "no_wait", "test", "assignees", "targets", "callback", "secret_ref",
            "resume_ref", "resume_file"
        ]
    )]
    resume: Option<RequestId>,
    #[command(flatten)]
    output: Output,
    #[command(flatten)]
    remote: Remote,
}

/// What can happen at the deadline, each with its meaning (rule CL-6).
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
    let (request, said, redemption) = match args.resume {
        Some(id) => {
            let request = client.request(id).await?;
            let redemption = Redemption::read(args.redeem, &args.redeem_if, &request.requires)?;
            (request, "waiting again", redemption)
        }
        None => {
            let key = args.idempotency_key.as_deref().map(CallKey::parse).transpose()?;
            let body = body::read(&args)?;
            let requires = body.get("requires").cloned().unwrap_or_default();
            let redemption = Redemption::read(args.redeem, &args.redeem_if, &requires)?;
            let raised = client.raise(&body, key.as_ref()).await?;
            let asked = if raised.was_created { "asked" } else { "already asked" };
            (raised.request, asked, redemption)
        }
    };
    // Before anybody can know that there is something to interrupt.
    let signals = Signals::listen()?;
    output::note(&format!("{said}: {}", request.surface_url));
    if args.no_wait {
        output.result(&output::json(&request)?, || format!("{}\n", request.id))?;
        return Ok(Exit::Done);
    }
    wait(&client, request, redemption.as_ref(), output, signals).await
}

/// Waits and goes on with what comes, until a signal ends it.
async fn wait(
    client: &Client,
    request: RequestView,
    redemption: Option<&Redemption>,
    output: Output,
    mut signals: Signals,
) -> Result<Exit, Failure> {
    let waiter = interruption::Waiter::of(&request);
    let ends = async {
        let id = request.id;
        let reached = waiting::decision(client, request).await?;
        outcome::finish(client, &reached, redemption, id, output).await
    };
    tokio::select! {
        ended = ends => ended,
        exit = signals.next() => {
            waiter.leave(client).await;
            Ok(exit)
        }
    }
}
