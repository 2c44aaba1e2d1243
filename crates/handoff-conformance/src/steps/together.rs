//! Calls that are released at the same instant, each over a connection that is already open.

use std::time::Instant;

use futures::future;
use serde_json::json;
use tokio::sync::Barrier;

use super::call;
use crate::{
    case::{Call, Count, Keep, Together},
    failure::Failure,
    http::{After, NoReply, Outgoing, Reply, client},
    story::Story,
};

/// Makes all calls at once, and judges the replies when all are there.
pub(super) async fn play(story: &mut Story, together: &Together) -> Result<(), Failure> {
    let mut ready = Vec::new();
    for call in &together.calls {
        for nth in 1..=call.times {
            story.scope.set("nth", json!(nth));
            ready.push((call, call::outgoing(story, call)?, open(story).await?));
        }
    }
    let barrier = Barrier::new(ready.len());
    let sent =
        ready.into_iter().map(|(call, outgoing, connection)| release(story, &barrier, call, outgoing, connection));
    let outcomes = future::join_all(sent).await;
    let mut replies = Vec::with_capacity(outcomes.len());
    for (call, outcome) in outcomes {
        let within = |failure: Failure| failure.within(&call.line, None);
        match outcome {
            None => {}
            Some(outcome) if call.expect.broken => call::broken(outcome).map_err(within)?,
            Some(Ok(reply)) if call.hang_up.is_some() => {
                let failure = Failure::of("there was a reply before the connection was dropped");
                return Err(within(failure.upon(reply.brief())));
            }
            Some(outcome) => replies.push((call, outcome.map_err(|none| within(Failure::of(none.to_string())))?)),
        }
    }
    for (call, reply) in &replies {
        call::judge(story, call, reply).map_err(|failure| failure.within(&call.line, None))?;
    }
    let replies: Vec<_> = replies.into_iter().map(|(_, reply)| reply).collect();
    counted(story, &together.counts, &replies)?;
    for (name, keep) in &together.keep {
        let Keep::Where(like, pointer) = keep else {
            return Err(Failure::of(format!("`{name}` must be kept by `where` and `at`: there are several replies")));
        };
        let matcher = story.matcher(like)?;
        let found = replies.iter().find(|reply| matcher.check(Some(&as_value(reply))).is_ok());
        let part = found.and_then(|reply| reply.json()).and_then(|json| json.pointer(pointer)).cloned();
        let part = part
            .ok_or_else(|| Failure::of(format!("no reply has what is to be kept as `{name}`")).upon(all(&replies)))?;
        story.scope.set(name, part);
    }
    Ok(())
}

/// A connection of its own that has carried a call already.
async fn open(story: &Story) -> Result<reqwest::Client, Failure> {
    let profile = &story.world.profile;
    let own = client(profile.patience.call(), After::Keep).map_err(Failure::of)?;
    let warm = Outgoing::new("GET", &format!("{}/v1/meta", profile.base_url)).map_err(Failure::of)?;
    warm.send(&own).await.map_err(|none| Failure::of(format!("no connection can be opened: {none}")))?;
    Ok(own)
}

/// None where the connection was dropped, as the call wants it.
async fn release<'call>(
    story: &Story,
    barrier: &Barrier,
    call: &'call Call,
    outgoing: Outgoing,
    connection: reqwest::Client,
) -> (&'call Call, Option<Result<Reply, NoReply>>) {
    barrier.wait().await;
    // All replies are timed from the release, so that how late a call was sent makes none of them look quicker.
    let released = Instant::now() + call.after;
    if !call.after.is_zero() {
        tokio::time::sleep(call.after).await;
    }
    let made = call::make(story, call, outgoing, &connection);
    let outcome = match call.hang_up {
        None => Some(made.await),
        Some(time) => tokio::time::timeout(time, made).await.ok(),
    };
    let timed = |reply| Reply { took: released.elapsed(), ..reply };
    (call, outcome.map(|outcome| outcome.map(timed)))
}

/// Each description fits as many replies as it says, and each reply fits one.
fn counted(story: &Story, counts: &[Count], replies: &[Reply]) -> Result<(), Failure> {
    if counts.is_empty() {
        return Ok(());
    }
    let fits = |count: &Count, reply: &Reply| call::meets(story, &count.like, reply);
    for count in counts {
        let number = replies.iter().filter(|reply| fits(count, reply).is_ok()).count();
        let what = "the number of replies as described";
        story.hold(what, Some(&count.count), Some(&json!(number))).map_err(|failure| failure.upon(all(replies)))?;
    }
    for reply in replies {
        let failures: Vec<_> = counts.iter().map_while(|count| fits(count, reply).err()).collect();
        if failures.len() == counts.len()
            && let Some(failure) = failures.into_iter().next()
        {
            return Err(failure.after("a reply fits no description").upon(reply.brief()));
        }
    }
    Ok(())
}

/// A reply as `where` sees it.
fn as_value(reply: &Reply) -> serde_json::Value {
    json!({"status": reply.status, "body": reply.json()})
}

fn all(replies: &[Reply]) -> String {
    replies.iter().map(Reply::brief).collect::<Vec<_>>().join(" | ")
}
