//! `handoff show`: a request and what it came to.

use std::fmt::Write as _;

use handoff_protocol::{
    decision::{
        Contributor, RecordedDisposition, Requires, Target,
        terms::RequestState,
        view::{RequestView, StepView},
    },
    id::RequestId,
    json::Json,
};

use super::{
    deliveries::{table, whom},
    names,
};
use crate::{
    exit::Exit,
    failure::Failure,
    fields,
    output::{self, Output, printable, printable_lines},
    remote::Remote,
};

/// Show a request: what was asked, what is wanted, what it came to.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The request's id
    #[arg(value_name = "REQUEST", value_parser = names::request)]
    request: RequestId,
    #[command(flatten)]
    output: Output,
    #[command(flatten)]
    remote: Remote,
}

pub(crate) async fn run(args: &Args) -> Result<Exit, Failure> {
    let client = args.remote.machine()?;
    let request = client.request(args.request).await?;
    // An older server does not tell; what it says of the request is shown all the same.
    let dispositions = match client.dispositions(args.request, None).await {
        Ok(page) => page.data,
        Err(_) => Vec::new(),
    };
    let json = output::json(&request)?;
    args.output.result(&json, || people(&request, &dispositions))?;
    Ok(Exit::Done)
}

fn people(request: &RequestView, dispositions: &[RecordedDisposition]) -> String {
    let mut text = String::new();
    let mut line = |line: &str| {
        text.push_str(line);
        text.push('\n');
    };
    let prompt = |name: &str| request.prompt.get(name).and_then(Json::as_str);
    line(&printable(prompt("title").unwrap_or_default()));
    if let Some(body) = prompt("body").filter(|body| !body.is_empty()) {
        line("");
        line(&printable_lines(body));
    }
    for item in request.prompt.get("evidence").and_then(Json::as_array).unwrap_or_default() {
        line("");
        line(&evidence(item));
    }
    line("");
    if request.state == RequestState::Pending
        && let Ok(requires) = Requires::read(&request.requires)
    {
        for field in &requires.fields {
            let optional = if field.required { "" } else { " (optional)" };
            line(&printable(&format!("  {}{optional}: {}; {}", field.name, field.title(), fields::expected(field))));
        }
        line("");
    }
    let mut facts: Vec<(&str, String)> = vec![
        ("request", request.id.to_string()),
        ("state", request.state.as_str().to_owned()),
        ("waiter", request.waiter_ref.to_string()),
        ("asked", request.created_at.to_string()),
    ];
    if request.test_mode {
        facts.push(("test", "yes, to try things out".to_owned()));
    }
    facts.extend(request.expires_at.map(|at| ("until", at.to_string())));
    facts.extend(request.answered_at.map(|at| ("answered", at.to_string())));
    facts.extend(progress(request, dispositions));
    facts.extend(request.cancel_reason.clone().map(|reason| ("reason", reason)));
    if let Some(receipt) = &request.receipt {
        let member = |pointer: &str| receipt.pointer(pointer).map(words);
        facts.extend(member("/decision/values").map(|values| ("values", values)));
        facts.extend(member("/decision/note").filter(|note| note != "null").map(|note| ("note", note)));
        facts.extend(member("/actor/display").filter(|name| name != "null").map(|name| ("by", name)));
        let decider = receipt.pointer("/actor/principal_id").and_then(Json::as_str);
        let agreed = receipt.pointer("/authority/endorsements").and_then(Json::as_array).unwrap_or_default();
        let others =
            agreed.iter().filter(|one| decider.is_none() || one.get("principal_id").and_then(Json::as_str) != decider);
        facts.extend(others.map(|one| ("and by", endorser(one))));
        facts.extend(member("/id").map(|id| ("receipt", id)));
        facts.extend(member("/chain/digest").map(|digest| ("digest", digest)));
    }
    if let Some(last) = request.corrections.last() {
        facts.push(("corrected by", format!("{last}, which holds for the record; nothing new is authorized")));
    }
    facts.extend(
        request.authorization.as_ref().map(|held| ("authorization", format!("{} ({})", held.id, held.state.as_str()))),
    );
    facts.push(("page", request.surface_url.clone()));
    for (name, fact) in facts {
        let mut row = String::new();
        // Writing to a string cannot fail.
        let _ = write!(row, "{name:<14}{}", printable(&fact));
        line(&row);
    }
    if request.state == RequestState::Pending {
        for (number, rung) in request.routing.ladder.iter().enumerate() {
            let at = request.created_at.saturating_add(rung.after);
            let to = rung.to.as_ref().map(|to| format!(", to {}", whom(to))).unwrap_or_default();
            line(&printable(&format!(
                "{:<14}at {at} through {}{to}",
                format!("rung {number}"),
                rung.channels.join(", ")
            )));
        }
    }
    if !request.deliveries.is_empty() {
        line("");
        text.push_str(&table(&request.deliveries));
    }
    text
}

/// What was given on the way to the answer, by names and never by value.
fn progress(request: &RequestView, dispositions: &[RecordedDisposition]) -> Vec<(&'static str, String)> {
    let step = |step: &StepView| {
        let (given, at) = (step.recorded.fields_provided.join(", "), step.recorded.at);
        ("given", format!("{given} at {at} by {}", contributor(&step.by)))
    };
    let mut facts: Vec<(&str, String)> = request.steps.iter().map(step).collect();
    let quorum = request.requires.pointer("/authority/quorum").and_then(Json::as_i64).unwrap_or(1);
    if quorum > 1 && request.state == RequestState::Pending {
        let answered = u64::try_from(request.endorsements.len()).unwrap_or(u64::MAX);
        let agreeing = request.agreeing.filter(|agreeing| *agreeing < answered);
        let differ = agreeing.map(|agreeing| format!(" who differ, {agreeing} at the most agree so far"));
        facts.push(("answered by", format!("{answered}{}; {quorum} must agree", differ.unwrap_or_default())));
    }
    facts.extend(dispositions.iter().map(disposed));
    let is_told = |target: &&Target| dispositions.iter().any(|one| one.delegate_to.as_ref() == Some(target));
    let untold = request.also_assigned.iter().filter(|target| !is_told(target));
    facts.extend(untold.map(|target| ("passed on to", format!("{} {}", target.kind.as_str(), target.value))));
    facts
}

/// What somebody did besides answering: to whom it went, who did it, when and why.
fn disposed(done: &RecordedDisposition) -> (&'static str, String) {
    let who = contributor(&done.by);
    let why = done.note.as_ref().map(|note| format!(": {note}")).unwrap_or_default();
    match &done.delegate_to {
        Some(to) => ("passed on to", format!("{} {} by {who} at {}{why}", to.kind.as_str(), to.value, done.at)),
        None => ("unable", format!("{who} at {}{why}", done.at)),
    }
}

/// Who gave something, by name where there is one.
fn contributor(by: &Contributor) -> String {
    let id = || by.principal_id.map_or_else(|| "whoever had a link".to_owned(), |id| id.to_string());
    by.display.clone().filter(|name| !name.trim().is_empty()).unwrap_or_else(id)
}

/// Who else agreed, and when; the names of people are not in the receipt.
fn endorser(one: &Json) -> String {
    let text = |name: &str| one.get(name).and_then(Json::as_str);
    let note = text("note").map(|note| format!(": {note}")).unwrap_or_default();
    format!(
        "{} at {}{note}",
        text("principal_id").unwrap_or("whoever had a link"),
        text("at").unwrap_or("an unknown time")
    )
}

fn evidence(item: &Json) -> String {
    let label = item.get("label").and_then(Json::as_str).unwrap_or_default();
    let shown = ["url", "value", "ref"].into_iter().filter_map(|name| item.get(name)).map(words);
    printable(&format!("{label}: {}", shown.collect::<Vec<_>>().join(" ")))
}

/// A text as it is, anything else as JSON.
fn words(json: &Json) -> String {
    json.as_str().map_or_else(|| json.to_text(), str::to_owned)
}
