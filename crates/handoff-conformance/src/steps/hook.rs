//! A command of the profile, and what is expected of it.

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use super::call;
use crate::{
    case::{Call, Hook, Outcome},
    failure::Failure,
    hooks::Ran,
    http::{After, client},
    json::{self, cut},
    matcher::Mismatch,
    story::Story,
};

/// Between two tries.
const PAUSE: Duration = Duration::from_millis(100);

/// How long a call is held before what interrupts it.
const HELD: Duration = Duration::from_millis(300);

/// How long a call that was interrupted may take to end.
const LETS_GO: Duration = Duration::from_secs(3);

/// Runs the command, again and again where the step gives it time.
pub(super) async fn play(story: &mut Story, hook: &Hook) -> Result<(), Failure> {
    let mut with = BTreeMap::new();
    for (name, template) in &hook.with {
        let value = story.scope.value(template).map_err(Failure::of)?;
        with.insert(name.clone(), if let Value::String(text) = value { text } else { value.to_string() });
    }
    let started = Instant::now();
    loop {
        let ran = match &hook.interrupts {
            Some(call) => interrupting(story, call, hook, &with).await?,
            None => story.hook(&hook.name, &with).await?,
        };
        if !hook.may_contain {
            story.remember(&format!("the output of the hook `{}`", hook.name), both(&ran));
        }
        match is_told(hook, &ran).and_then(|()| meets(story, &hook.expect, &ran)) {
            Ok(()) => return story.keep(&hook.keep, json::read(&ran.stdout).ok().as_ref(), &ran.stdout),
            Err(_) if hook.within.is_some_and(|within| started.elapsed() < within) => {
                tokio::time::sleep(PAUSE).await;
            }
            Err(failure) => return Err(failure.upon(said(&ran))),
        }
    }
}

/// Runs the command while a call is held open, which must be over soon after the command is.
async fn interrupting(
    story: &Story,
    call: &Call,
    hook: &Hook,
    with: &BTreeMap<String, String>,
) -> Result<Ran, Failure> {
    let client = client(story.world.profile.patience.call(), After::Close).map_err(Failure::of)?;
    let held = call::make(story, call, call::outgoing(story, call)?, &client);
    tokio::pin!(held);
    tokio::select! {
        outcome = &mut held => {
            let failure = Failure::of(format!("`{}` was over before the command began", call.line));
            return Err(failure.upon(outcome.map_or_else(|none| none.to_string(), |reply| reply.brief())));
        }
        () = tokio::time::sleep(HELD) => {}
    }
    let running = story.hook(&hook.name, with);
    tokio::pin!(running);
    let mut over = false;
    let ran = loop {
        tokio::select! {
            ran = &mut running => break ran?,
            // With a reply or without, both show it.
            _ = &mut held, if !over => over = true,
        }
    };
    if !over && tokio::time::timeout(LETS_GO, held).await.is_err() {
        let seconds = LETS_GO.as_secs();
        return Err(Failure::of(format!("`{}` is still held {seconds} s after the command ended", call.line)));
    }
    Ok(ran)
}

/// Of a request that exists there is at least one event, so a list of events that is empty was never made.
fn is_told(hook: &Hook, ran: &Ran) -> Result<(), Failure> {
    if hook.name == "events" && ran.exit == Some(0) && ran.stdout.trim().is_empty() {
        return Err(Failure::of("the hook `events` printed nothing"));
    }
    Ok(())
}

fn meets(story: &Story, expect: &Outcome, ran: &Ran) -> Result<(), Failure> {
    if let Some(wanted) = &expect.exit {
        let holds = match wanted.as_i64() {
            Some(wanted) => ran.exit.map(i64::from) == Some(wanted),
            None => ran.exit != Some(0),
        };
        if !holds {
            let got = ran.exit.map_or_else(|| "a signal".to_owned(), |exit| exit.to_string());
            let mismatch = Mismatch { path: String::new(), expected: wanted.to_string(), got };
            return Err(Failure::unlike("the exit status", mismatch));
        }
    }
    let lines: Vec<_> = ran.stdout.lines().collect();
    story.hold("the lines that it printed", expect.lines.as_ref(), Some(&json!(lines)))?;
    story.hold("what it printed", expect.stdout.as_ref(), Some(&json!(ran.stdout)))?;
    story.hold("what it complained", expect.stderr.as_ref(), Some(&json!(ran.stderr)))?;
    story.hold("its output", expect.output.as_ref(), Some(&json!(both(ran))))?;
    if expect.json.is_some() {
        let printed =
            json::read(&ran.stdout).map_err(|problem| Failure::of(format!("it printed no JSON: {problem}")))?;
        story.hold("the JSON that it printed", expect.json.as_ref(), Some(&printed))?;
    }
    Ok(())
}

fn both(ran: &Ran) -> String {
    format!("{}{}", ran.stdout, ran.stderr)
}

fn said(ran: &Ran) -> String {
    let exit = ran.exit.map_or_else(|| "a signal".to_owned(), |exit| exit.to_string());
    format!("exit {exit}; {}", cut(both(ran).trim(), 600))
}
