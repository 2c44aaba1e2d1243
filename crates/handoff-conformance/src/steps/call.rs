//! One call, and what is expected of its reply.

use std::time::Duration;

use reqwest::Client;
use serde_json::{Value, json};

use crate::{
    case::{Call, Content, Expect, Keep, Raw},
    failure::Failure,
    http::{After, Kind, NoReply, Outgoing, Reply, client},
    matcher::Mismatch,
    story::Story,
};

/// Makes a call; its reply must be as expected.
pub(super) async fn once(story: &mut Story, call: &Call) -> Result<(), Failure> {
    let outgoing = outgoing(story, call)?;
    if let Some(time) = call.hang_up {
        return hang_up(story, outgoing, time).await;
    }
    let outcome = make(story, call, outgoing, &story.world.client.clone()).await;
    if call.expect.broken {
        return broken(outcome);
    }
    judge(story, call, &outcome.map_err(|none| Failure::of(none.to_string()))?)
}

/// There must be no reply, because the connection broke, and for no other reason.
pub(super) fn broken(outcome: Result<Reply, NoReply>) -> Result<(), Failure> {
    match outcome {
        Err(NoReply { kind: Kind::Broken, .. }) => Ok(()),
        Err(none) => Err(Failure::of(format!("the connection was to break, and {none}"))),
        Ok(reply) => Err(Failure::of("there is a reply, and the connection was to break").upon(reply.brief())),
    }
}

/// Sends what was made ready, and remembers what came back.
pub(super) async fn make(story: &Story, call: &Call, outgoing: Outgoing, client: &Client) -> Result<Reply, NoReply> {
    let reply = outgoing.send(client).await?;
    if !call.may_contain {
        story.remember(&call.line, reply.whole());
    }
    Ok(reply)
}

/// Holds a reply against what its call expects, and keeps what it says.
pub(super) fn judge(story: &mut Story, call: &Call, reply: &Reply) -> Result<(), Failure> {
    meets(story, &call.expect, reply).map_err(|failure| failure.upon(reply.brief()))?;
    story.met += 1;
    keep(story, &call.keep, reply)
}

/// Keeps parts of a reply.
pub(super) fn keep(story: &mut Story, keeps: &[(String, Keep)], reply: &Reply) -> Result<(), Failure> {
    for (name, keep) in keeps {
        if let Keep::Header(header) = keep {
            let value = reply.header(header);
            let value =
                value.ok_or_else(|| Failure::of(format!("there is no header `{header}` to keep as `{name}`")))?;
            story.scope.set(name, json!(value));
        }
    }
    story.keep(keeps, reply.json(), &reply.text)
}

/// Whether a reply is as expected.
pub(super) fn meets(story: &Story, expect: &Expect, reply: &Reply) -> Result<(), Failure> {
    story.hold("the status", expect.status.as_ref(), Some(&json!(reply.status)))?;
    for (name, matcher) in &expect.headers {
        let value = reply.header(name).map(Value::String);
        story.hold(&format!("the header `{name}`"), Some(matcher), value.as_ref())?;
    }
    if let Some(matcher) = &expect.body {
        let body = match &reply.body {
            None => None,
            Some(Ok(body)) => Some(body),
            Some(Err(problem)) => return Err(Failure::of(format!("the body is no strict JSON: {problem}"))),
        };
        story.hold("the body", Some(matcher), body)?;
    }
    for (asked, text) in &expect.raw {
        meets_raw(story, *asked, text, &reply.text)?;
    }
    let (at_least, at_most) = expect.took;
    let early = at_least.filter(|least| reply.took < *least).map(|time| ("at least", time));
    if let Some((words, time)) = early.or(at_most.filter(|most| reply.took > *most).map(|time| ("at most", time))) {
        let expected = format!("{words} {} ms", time.as_millis());
        let got = format!("{} ms", reply.took.as_millis());
        return Err(Failure::unlike("the time that the reply took", Mismatch { path: String::new(), expected, got }));
    }
    Ok(())
}

fn meets_raw(story: &Story, asked: Raw, template: &str, text: &str) -> Result<(), Failure> {
    let wanted = match asked {
        Raw::Equals | Raw::Contains => story.scope.text(template),
        Raw::Matches | Raw::Lacks => story.scope.expression(template),
    };
    let wanted = wanted.map_err(Failure::of)?;
    let found =
        || regex::Regex::new(&wanted).map(|found| found.is_match(text)).map_err(|error| Failure::of(error.to_string()));
    let (holds, words) = match asked {
        Raw::Equals => (text == wanted, "exactly"),
        Raw::Contains => (text.contains(&wanted), "a text that contains"),
        Raw::Matches => (found()?, "a text in which is found"),
        Raw::Lacks => (!found()?, "a text in which is not found"),
    };
    if holds {
        return Ok(());
    }
    let mismatch = Mismatch {
        path: String::new(),
        expected: format!("{words} `{}`", crate::json::cut(&wanted, 600)),
        got: crate::json::cut(text, 600),
    };
    Err(Failure::unlike("the raw body", mismatch))
}

/// Makes a call ready to be sent.
pub(super) fn outgoing(story: &Story, call: &Call) -> Result<Outgoing, Failure> {
    build(story, call).map_err(Failure::of)
}

fn build(story: &Story, call: &Call) -> Result<Outgoing, String> {
    let scope = &story.scope;
    let profile = &story.world.profile;
    let (method, path) = call.line.split_once(' ').unwrap_or(("GET", &call.line));
    let mut outgoing = Outgoing::new(method, &format!("{}{}", profile.base_url, scope.path(path)?))?;
    for (name, template) in &call.query {
        let value = scope.value(template)?;
        let values = if let Value::Array(values) = value { values } else { vec![value] };
        for value in values {
            let text = if let Value::String(text) = value { text } else { value.to_string() };
            outgoing.url.query_pairs_mut().append_pair(name, &text);
        }
    }
    if let Some(credential) = &call.credential {
        let token = &profile.credential(&scope.text(credential)?)?.token;
        outgoing.header("authorization", &format!("Bearer {token}"))?;
    }
    if let Some(label) = &call.key {
        outgoing.header("idempotency-key", &scope.text(&format!("${{key:{}}}", scope.text(label)?))?)?;
    }
    outgoing.body = match &call.content {
        Content::Empty => None,
        Content::Json(template) => Some(scope.value(template)?.to_string().into_bytes()),
        Content::Text(template) => Some(scope.text(template)?.into_bytes()),
        Content::Hex(digits) => Some(bytes(digits)?),
    };
    if outgoing.body.is_some() {
        outgoing.header("content-type", "application/json")?;
    }
    for (name, template) in &call.headers {
        let value = scope.value(template)?;
        outgoing.header(name, &if let Value::String(text) = value { text } else { value.to_string() })?;
    }
    Ok(outgoing)
}

/// Sends, and drops the connection after a time in which nothing may come.
async fn hang_up(story: &Story, outgoing: Outgoing, time: Duration) -> Result<(), Failure> {
    let own = client(story.world.profile.patience.call(), After::Close).map_err(Failure::of)?;
    match tokio::time::timeout(time, outgoing.send(&own)).await {
        Err(_) => Ok(()),
        Ok(Err(none)) => Err(Failure::of(format!("the connection failed before it was dropped: {none}"))),
        Ok(Ok(reply)) => Err(Failure::of("there was a reply before the connection was dropped").upon(reply.brief())),
    }
}

fn bytes(digits: &str) -> Result<Vec<u8>, String> {
    let no_bytes = || format!("`{digits}` is no row of hexadecimal digits");
    let digits: Vec<_> = digits.chars().filter(|digit| !digit.is_whitespace()).collect();
    let pairs = digits.chunks(2).map(|pair| {
        let text: String = pair.iter().collect();
        if pair.len() == 2 { u8::from_str_radix(&text, 16).map_err(|_| no_bytes()) } else { Err(no_bytes()) }
    });
    pairs.collect()
}
