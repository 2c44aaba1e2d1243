//! `handoff deliveries`, `redeliver`, `grade`, `dispositions` and `attempts`: what was tried to reach people and programs,
//! and what people did besides answering.

use handoff_protocol::{
    decision::{Delivery, DeliveryAttempt, PushAttempt, RecordedDisposition, Target, wire::ReportedGrade},
    id::{DeliveryId, RequestId, SignalId},
    json::to_json,
};

use super::names;
use crate::{
    exit::Exit,
    failure::Failure,
    output::{self, Output},
    remote::Remote,
};

/// List the deliveries of a request: to whom, through which channel, how far each got, why not further.
#[derive(clap::Args)]
pub(crate) struct ListArgs {
    /// The request's id
    #[arg(value_name = "REQUEST", value_parser = names::request)]
    request: RequestId,
    #[command(flatten)]
    output: Output,
    #[command(flatten)]
    remote: Remote,
}

/// Send a delivery once more, or push a signal once more.
#[derive(clap::Args)]
pub(crate) struct RedeliverArgs {
    /// The delivery's id; `handoff deliveries REQUEST` lists them
    #[arg(value_name = "DELIVERY", value_parser = names::delivery)]
    delivery: DeliveryId,
    #[command(flatten)]
    output: Output,
    #[command(flatten)]
    remote: Remote,
}

/// Report how far a delivery got, where a channel tells it later.
#[derive(clap::Args)]
pub(crate) struct GradeArgs {
    /// The delivery's id; `handoff deliveries REQUEST` lists them
    #[arg(value_name = "DELIVERY", value_parser = names::delivery)]
    delivery: DeliveryId,
    /// `delivered`: it arrived; `seen`: it was opened by somebody who was signed in
    #[arg(value_name = "GRADE", value_parser = names::grade)]
    grade: ReportedGrade,
    #[command(flatten)]
    output: Output,
    #[command(flatten)]
    remote: Remote,
}

/// List what people did with a request besides deciding it: who passed it on, who was unable, and their words.
#[derive(clap::Args)]
pub(crate) struct DispositionsArgs {
    /// The request's id
    #[arg(value_name = "REQUEST", value_parser = names::request)]
    request: RequestId,
    #[command(flatten)]
    output: Output,
    #[command(flatten)]
    remote: Remote,
}

/// List the attempts to push a signal to its callback.
#[derive(clap::Args)]
pub(crate) struct AttemptsArgs {
    /// The signal's id
    #[arg(value_name = "SIGNAL", value_parser = names::signal)]
    signal: SignalId,
    #[command(flatten)]
    output: Output,
    #[command(flatten)]
    remote: Remote,
}

pub(crate) async fn list(args: &ListArgs) -> Result<Exit, Failure> {
    let deliveries = args.remote.machine()?.deliveries(args.request).await?;
    args.output.result(&output::json(&deliveries)?, || table(&deliveries))?;
    Ok(Exit::Done)
}

pub(crate) async fn redeliver(args: &RedeliverArgs) -> Result<Exit, Failure> {
    let queued = args.remote.machine()?.redeliver(args.delivery, None).await?;
    let json = output::json(&queued)?;
    args.output
        .result(&json, || format!("{}: one more attempt, asked for at {}\n", queued.delivery_id, queued.queued_at))?;
    Ok(Exit::Done)
}

pub(crate) async fn grade(args: &GradeArgs) -> Result<Exit, Failure> {
    let delivery = args.remote.machine()?.report_grade(args.delivery, args.grade, None).await?;
    args.output.result(&output::json(&delivery)?, || table(std::slice::from_ref(&delivery)))?;
    Ok(Exit::Done)
}

pub(crate) async fn dispositions(args: &DispositionsArgs) -> Result<Exit, Failure> {
    let client = args.remote.machine()?;
    let mut all: Vec<RecordedDisposition> = Vec::new();
    let mut cursor: Option<String> = None;
    loop {
        let page = client.dispositions(args.request, cursor.as_deref()).await?;
        all.extend(page.data);
        cursor = page.next_cursor;
        if cursor.is_none() {
            break;
        }
    }
    args.output.result(&output::json(&all)?, || {
        let row = |one: &RecordedDisposition| {
            let who = one.by.display.clone().or_else(|| one.by.principal_id.map(|id| id.to_string()));
            [
                one.at.to_string(),
                who.unwrap_or_default(),
                one.disposition.as_str().to_owned(),
                one.delegate_to.as_ref().map(whom).unwrap_or_default(),
                one.note.clone().unwrap_or_default(),
            ]
        };
        output::table(["AT", "WHO", "WHAT", "TO", "NOTE"], &all.iter().map(row).collect::<Vec<_>>())
    })?;
    Ok(Exit::Done)
}

pub(crate) async fn attempts(args: &AttemptsArgs) -> Result<Exit, Failure> {
    let attempts = args.remote.machine()?.push_attempts(args.signal).await?;
    args.output.result(&output::json(&attempts)?, || {
        let row = |one: &PushAttempt| {
            // The outcome as the wire spells it.
            let outcome = to_json(&one.outcome).ok().and_then(|json| json.as_str().map(str::to_owned));
            [
                one.n.to_string(),
                one.started_at.to_string(),
                outcome.unwrap_or_default(),
                one.status_code.map(|code| code.to_string()).unwrap_or_default(),
                one.duration_ms.map(|millis| format!("{millis} ms")).unwrap_or_default(),
                one.error.clone().unwrap_or_default(),
            ]
        };
        let rows: Vec<_> = attempts.iter().map(row).collect();
        output::table(["N", "STARTED", "OUTCOME", "STATUS", "TOOK", "ERROR"], &rows)
    })?;
    Ok(Exit::Done)
}

/// Deliveries, a line each.
pub(super) fn table(deliveries: &[Delivery]) -> String {
    let row = |delivery: &Delivery| {
        let reason = delivery.suppressed_reason.map(|reason| format!(": {}", reason.as_str())).unwrap_or_default();
        [
            delivery.rung.to_string(),
            delivery.channel.clone(),
            whom(&delivery.target),
            format!("{}{reason}", delivery.state.as_str()),
            delivery.grade_reached.map(|grade| grade.as_str().to_owned()).unwrap_or_default(),
            delivery.attempts.last().map(tried).unwrap_or_default(),
            delivery.id.to_string(),
        ]
    };
    let rows: Vec<_> = deliveries.iter().map(row).collect();
    output::table(["RUNG", "CHANNEL", "WHO", "STATE", "PROVEN", "TRIED", "DELIVERY"], &rows)
}

/// A target in words.
pub(super) fn whom(target: &Target) -> String {
    format!("{} {}", target.kind.as_str(), target.value)
}

fn tried(last: &DeliveryAttempt) -> String {
    let said = [last.transport_status.as_deref(), last.error.as_deref()];
    let said: Vec<&str> = said.into_iter().flatten().collect();
    let again = last.next_attempt_at.map(|at| format!(", again at {at}")).unwrap_or_default();
    let words = if said.is_empty() { String::new() } else { format!(": {}", said.join(", ")) };
    format!("{}{words}{again}", last.n)
}
