//! What the receiver got.

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use crate::{
    case::{Received, Secrets},
    failure::Failure,
    matcher::Matcher,
    receiver::Push,
    signature,
    story::Story,
};

/// Waits until as many pushes came as are expected, and holds them against what is expected of them.
pub(super) async fn play(story: &mut Story, step: &Received) -> Result<(), Failure> {
    let path = format!("{}{}", story.own_path, step.path);
    let like = step.like.as_ref().map(|like| story.matcher(like)).transpose()?;
    let count = story.matcher(&step.count)?;
    let started = Instant::now();
    let pushes = loop {
        let pushes = counted(story, &path, like.as_ref());
        match count.check(Some(&json!(pushes.len()))) {
            Ok(()) => break pushes,
            Err(mismatch) if started.elapsed() >= step.within => {
                let all: Vec<_> = story.world.receiver.pushes(&path).iter().map(Push::value).collect();
                let failure = Failure::unlike(&format!("the number of pushes on `{}`", step.path), mismatch);
                return Err(failure.upon(crate::json::cut(&json!(all).to_string(), 1200)));
            }
            Err(_) => story.world.receiver.wait().await,
        }
    };
    if let Some(time) = step.none_for {
        none_for(story, &path, like.as_ref(), pushes.len(), time).await?;
    }
    if let Some(secrets) = &step.signed_by {
        let secrets = values_of(secrets, &story.world.profile.callbacks.secrets)?;
        for (number, push) in (1..).zip(&pushes) {
            let checked = signature::check(push, &secrets);
            checked
                .map_err(|problem| Failure::of(format!("push {number}: {problem}")).upon(push.value().to_string()))?;
        }
    }
    let values: Value = pushes.iter().map(Push::value).collect();
    let holds = story.hold("what was received", step.expect.as_ref(), Some(&values));
    holds.map_err(|failure| failure.upon(crate::json::cut(&values.to_string(), 1200)))?;
    story.keep(&step.keep, Some(&values), &values.to_string())
}

/// The secrets that are meant; none at all would verify anything.
fn values_of<'profile>(
    secrets: &Secrets,
    known: &'profile BTreeMap<String, String>,
) -> Result<Vec<&'profile str>, Failure> {
    let values = match secrets {
        Secrets::All => known.values().map(String::as_str).collect(),
        Secrets::Named(names) => {
            let value = |name: &String| {
                let value = known.get(name).map(String::as_str);
                value.ok_or_else(|| Failure::of(format!("the profile names no callback secret `{name}`")))
            };
            names.iter().map(value).collect::<Result<Vec<_>, _>>()?
        }
    };
    if values.is_empty() { Err(Failure::of("the profile names no callback secret")) } else { Ok(values) }
}

fn counted(story: &Story, path: &str, like: Option<&Matcher>) -> Vec<Push> {
    let mut pushes = story.world.receiver.pushes(path);
    pushes.retain(|push| like.is_none_or(|like| like.check(Some(&push.value())).is_ok()));
    pushes
}

/// No more may come for a time.
async fn none_for(
    story: &Story,
    path: &str,
    like: Option<&Matcher>,
    were: usize,
    time: Duration,
) -> Result<(), Failure> {
    let started = Instant::now();
    while started.elapsed() < time {
        story.world.receiver.wait().await;
        let pushes = counted(story, path, like);
        if let Some(push) = pushes.get(were) {
            let after = started.elapsed().as_millis();
            return Err(Failure::of(format!("one more came, after {after} ms")).upon(push.value().to_string()));
        }
    }
    Ok(())
}
