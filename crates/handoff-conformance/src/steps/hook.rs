//! A command of the profile, and what is expected of it.

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use crate::{
    case::{Hook, Outcome},
    failure::Failure,
    hooks::Ran,
    json::{self, cut},
    matcher::Mismatch,
    story::Story,
};

/// Between two tries.
const PAUSE: Duration = Duration::from_millis(100);

/// Runs the command, again and again where the step gives it time.
pub(super) async fn play(story: &mut Story, hook: &Hook) -> Result<(), Failure> {
    let mut with = BTreeMap::new();
    for (name, template) in &hook.with {
        let value = story.scope.value(template).map_err(Failure::of)?;
        with.insert(name.clone(), if let Value::String(text) = value { text } else { value.to_string() });
    }
    let started = Instant::now();
    loop {
        let ran = story.hook(&hook.name, &with).await?;
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
