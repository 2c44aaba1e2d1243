//! Reading the steps of a scenario.

mod call;
mod others;

use serde_json::{Value, json};

use super::{Call, Keep, Step, Verb};
use crate::{
    matcher::{Matcher, Reading},
    members::{Fault, Members, Place},
};

/// The members that say what a step does; each step has exactly one.
const VERBS: [&str; 13] = [
    "call", "together", "until", "always", "each", "hook", "chain", "receipt", "receive", "received", "nowhere",
    "check", "set",
];

/// Reads the steps in an array.
pub(super) fn all(place: &Place<'_>) -> Result<Vec<Step>, Fault> {
    place.elements()?.iter().map(step).collect()
}

/// Whether a step cannot pass without a reply of the server that was as expected.
pub(super) fn calls(step: &Step) -> bool {
    match &step.verb {
        Verb::Call(call) => call.is_answered(),
        Verb::Together(together) => together.calls.iter().any(Call::is_answered),
        Verb::Until(..) | Verb::Always(..) | Verb::Chain(_) | Verb::Receipt(_) => true,
        Verb::Each(each) => each.steps.iter().any(calls),
        Verb::Hook(_) | Verb::Receive(_) | Verb::Received(_) | Verb::Nowhere(_) => false,
        Verb::Check(..) | Verb::Set(_) => false,
    }
}

fn step(place: &Place<'_>) -> Result<Step, Fault> {
    let members = place.members()?;
    let mut verbs = members.names().filter(|name| VERBS.contains(name));
    let (Some(verb), None) = (verbs.next(), verbs.next()) else {
        return Err(place.fault(format!("must have exactly one of `{}`", VERBS.join("`, `"))));
    };
    let why = members.optional("why").map(|why| why.string()).transpose()?;
    let verb = match verb {
        "call" => Verb::Call(call::judged(&members)?),
        "together" => Verb::Together(call::together(&members)?),
        "until" => call::repeated(&members, "until", "within").map(|(call, time)| Verb::Until(call, time))?,
        "always" => call::repeated(&members, "always", "for").map(|(call, time)| Verb::Always(call, time))?,
        "each" => Verb::Each(others::each(&members)?),
        "hook" => Verb::Hook(others::hook(&members)?),
        "chain" => Verb::Chain(others::chain(&members)?),
        "receipt" => Verb::Receipt(others::receipt(&members)?),
        "receive" => Verb::Receive(others::receive(&members)?),
        "received" => Verb::Received(others::received(&members)?),
        "check" => Verb::Check(members.required("check")?.value.clone(), matcher(&members.required("expect")?)?),
        "nowhere" => Verb::Nowhere(others::nowhere(&members)?),
        _ => Verb::Set(pairs(Some(members.required("set")?))?),
    };
    members.finish()?;
    Ok(Step { why, verb })
}

/// A matcher, checked for its form and kept as it is written: variables in it are replaced when it is used.
fn matcher(place: &Place<'_>) -> Result<Value, Fault> {
    let matcher = Matcher::read(place, Reading::Template)?;
    let anything = [None, Some(json!(null)), Some(json!(0)), Some(json!("")), Some(json!([])), Some(json!({}))];
    // What must not be can be anything else.
    let excludes = matches!(matcher, Matcher::Not(_));
    if !excludes && anything.iter().all(|thing| matcher.check(thing.as_ref()).is_ok()) {
        return Err(place.fault("accepts anything, so that it asks for nothing"));
    }
    Ok(place.value.clone())
}

/// A matcher that must not accept a value, which it would accept only if it asked for nothing.
fn matcher_without(place: &Place<'_>, value: &Value, problem: &str) -> Result<Value, Fault> {
    let read = Matcher::read(place, Reading::Template)?;
    if read.check(Some(value)).is_ok() { Err(place.fault(problem)) } else { matcher(place) }
}

fn optional_matcher(members: &Members<'_>, name: &str) -> Result<Option<Value>, Fault> {
    members.optional(name).map(|place| matcher(&place)).transpose()
}

/// Values by name, in the order of the names.
fn pairs(place: Option<Place<'_>>) -> Result<Vec<(String, Value)>, Fault> {
    let Some(place) = place else { return Ok(Vec::new()) };
    Ok(place.members()?.all().into_iter().map(|(name, place)| (name.to_owned(), place.value.clone())).collect())
}

/// What is kept, by the names of the variables.
fn keep(members: &Members<'_>) -> Result<Vec<(String, Keep)>, Fault> {
    let Some(place) = members.optional("keep") else { return Ok(Vec::new()) };
    place.members()?.all().into_iter().map(|(name, place)| Ok((name.to_owned(), kept(&place)?))).collect()
}

fn kept(place: &Place<'_>) -> Result<Keep, Fault> {
    if place.value.is_string() {
        return pointer(place).map(Keep::Pointer);
    }
    let members = place.members()?;
    let keep = if let Some(raw) = members.optional("raw") {
        Keep::Raw(pointer(&raw)?)
    } else if let Some(header) = members.optional("header") {
        Keep::Header(header.string()?)
    } else if let Some(capture) = members.optional("capture") {
        Keep::Capture(capture.string()?)
    } else {
        Keep::Where(matcher(&members.required("where")?)?, pointer(&members.required("at")?)?)
    };
    members.finish()?;
    Ok(keep)
}

fn pointer(place: &Place<'_>) -> Result<String, Fault> {
    let text = place.string()?;
    if text.is_empty() || text.starts_with('/') {
        Ok(text)
    } else {
        Err(place.fault("must be a JSON pointer: empty, or beginning with `/`"))
    }
}
