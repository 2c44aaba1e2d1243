//! How matchers are written.
//!
//! | written | expects |
//! |---|---|
//! | `{"$absent": true}`, `{"$present": true}` | that nothing is there; that something is, null included |
//! | `{"$type": "integer"}` | a type: `string`, `integer`, `number`, `object`, `array`, `null`, `boolean` |
//! | `{"$matches": "…"}`, `{"$lacks": "…"}` | a text in which the regular expression is found, or is not |
//! | `{"$contains": M}`, `{"$every": M}` | an array of which one element matches, or each |
//! | `{"$count": {"n": M, "of": M}}` | an array of which so many elements match |
//! | `{"$unordered": [M, …]}` | an array of just these, in any order |
//! | `{"$ascending": "/id"}`, `{"$distinct": "/id"}` | an array whose elements rise strictly, or all differ, by that part |
//! | `{"$length": M}` | the number of elements, members or characters |
//! | `{"$only": {…}}` | an object with these members and no others |
//! | `{"$exactly": V}` | equality in every part |
//! | `{"$any": [M, …]}`, `{"$all": [M, …]}`, `{"$not": M}` | one of these, all of these, not this |
//! | `{"$greater": n}`, `{"$at_least": n}`, `{"$less": n}`, `{"$at_most": n}` | a number so compared |
//! | `{"$after": t}`, `{"$not_before": t}`, `{"$before": t}`, `{"$not_after": t}` | a time so compared |
//! | `{"$seconds_after": {"time": t, "at_least": n, "at_most": n}}` | a time that comes so many seconds after another |
//! | `{"$time": true}`, `{"$digest": true}`, `{"$id": "req"}` | the form of a time, of a digest, of an id with that prefix |
//! | `{"$digest_of": V}` | the digest of V's canonical form |
//!
//! Several of these in one object must all hold.

use jiff::Timestamp;
use regex::Regex;
use serde_json::Value;

use super::{Kind, Matcher, Relation};
use crate::{
    members::{Fault, Place},
    scope::{Piece, pieces},
};

/// Whether a matcher is read as it is written in a case, or with its variables replaced.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Reading {
    /// Where a variable stands, anything can come to stand.
    Template,
    /// Everything is what it is.
    Value,
}

impl Matcher {
    /// Reads a matcher.
    ///
    /// # Errors
    ///
    /// It is not one: the fault names the place.
    pub fn read(place: &Place<'_>, reading: Reading) -> Result<Self, Fault> {
        match place.value {
            Value::Array(_) => Ok(Self::Elements(list(place, reading)?)),
            Value::Object(members) if members.keys().any(|name| name.starts_with('$') && !name.starts_with("${")) => {
                let members = place.members()?;
                let read = members.all().into_iter().map(|(name, argument)| directive(name, &argument, reading));
                let mut all: Vec<_> = read.collect::<Result<_, _>>()?;
                Ok(if all.len() == 1 { all.remove(0) } else { Self::All(all) })
            }
            Value::Object(_) => Ok(Self::Members(named(place, reading)?)),
            literal => Ok(Self::Equal(literal.clone())),
        }
    }
}

fn directive(name: &str, argument: &Place<'_>, reading: Reading) -> Result<Matcher, Fault> {
    let one = || Matcher::read(argument, reading).map(Box::new);
    let number = |relation| Ok(Matcher::Number(relation, number(argument, reading)?));
    let time = |relation| Ok(Matcher::Time(relation, time(argument, reading)?));
    match name {
        "$absent" => flag(argument, Matcher::Absent),
        "$present" => flag(argument, Matcher::Present),
        "$time" => flag(argument, Matcher::Timestamp),
        "$digest" => flag(argument, Matcher::Digest),
        "$type" => kind(argument).map(Matcher::Type),
        "$matches" => expression(argument, reading).map(Matcher::Matches),
        "$lacks" => expression(argument, reading).map(Matcher::Lacks),
        "$contains" => one().map(Matcher::Contains),
        "$every" => one().map(Matcher::Every),
        "$count" => count(argument, reading),
        "$length" => one().map(Matcher::Length),
        "$not" => one().map(Matcher::Not),
        "$any" => list(argument, reading).map(Matcher::Any),
        "$all" => list(argument, reading).map(Matcher::All),
        "$unordered" => list(argument, reading).map(Matcher::Unordered),
        "$only" => named(argument, reading).map(Matcher::Only),
        "$exactly" => Ok(Matcher::Exactly(argument.value.clone())),
        "$digest_of" => Ok(Matcher::DigestOf(argument.value.clone())),
        "$greater" => number(Relation::Greater),
        "$at_least" => number(Relation::AtLeast),
        "$less" => number(Relation::Less),
        "$at_most" => number(Relation::AtMost),
        "$after" => time(Relation::Greater),
        "$not_before" => time(Relation::AtLeast),
        "$before" => time(Relation::Less),
        "$not_after" => time(Relation::AtMost),
        "$seconds_after" => seconds_after(argument, reading),
        "$id" => argument.string().map(Matcher::Id),
        "$ascending" => argument.string().map(Matcher::Ascending),
        "$distinct" => argument.string().map(Matcher::Distinct),
        _ => Err(argument.fault("is not a matcher that is known")),
    }
}

fn count(argument: &Place<'_>, reading: Reading) -> Result<Matcher, Fault> {
    let members = argument.members()?;
    let one = |name| Matcher::read(&members.required(name)?, reading).map(Box::new);
    let count = Matcher::Count(one("n")?, one("of")?);
    members.finish()?;
    Ok(count)
}

fn flag(argument: &Place<'_>, matcher: Matcher) -> Result<Matcher, Fault> {
    if argument.value == &Value::Bool(true) { Ok(matcher) } else { Err(argument.fault("can only be `true`")) }
}

fn list(place: &Place<'_>, reading: Reading) -> Result<Vec<Matcher>, Fault> {
    place.elements()?.iter().map(|element| Matcher::read(element, reading)).collect()
}

fn named(place: &Place<'_>, reading: Reading) -> Result<Vec<(String, Matcher)>, Fault> {
    let members = place.members()?;
    members.all().into_iter().map(|(name, place)| Ok((name.to_owned(), Matcher::read(&place, reading)?))).collect()
}

fn kind(place: &Place<'_>) -> Result<Kind, Fault> {
    match place.string()?.as_str() {
        "string" => Ok(Kind::String),
        "integer" => Ok(Kind::Integer),
        "number" => Ok(Kind::Number),
        "object" => Ok(Kind::Object),
        "array" => Ok(Kind::Array),
        "null" => Ok(Kind::Null),
        "boolean" => Ok(Kind::Boolean),
        _ => Err(place.fault("must be `string`, `integer`, `number`, `object`, `array`, `null` or `boolean`")),
    }
}

fn expression(place: &Place<'_>, reading: Reading) -> Result<Regex, Fault> {
    let text = place.string()?;
    let text = match reading {
        Reading::Value => text,
        Reading::Template => {
            let pieces = pieces(&text).map_err(|problem| place.fault(problem))?;
            pieces.iter().map(|piece| if let Piece::Text(text) = piece { text } else { "x" }).collect()
        }
    };
    Regex::new(&text).map_err(|error| place.fault(format!("is no regular expression: {error}")))
}

fn number(place: &Place<'_>, reading: Reading) -> Result<f64, Fault> {
    match place.value {
        value if reading == Reading::Template && variable(value) => Ok(0.0),
        value => value.as_f64().ok_or_else(|| place.fault("must be a number")),
    }
}

fn time(place: &Place<'_>, reading: Reading) -> Result<Timestamp, Fault> {
    match place.value {
        value if reading == Reading::Template && variable(value) => Ok(Timestamp::UNIX_EPOCH),
        value => value.as_str().and_then(|text| text.parse().ok()).ok_or_else(|| place.fault("must be a time")),
    }
}

fn seconds_after(place: &Place<'_>, reading: Reading) -> Result<Matcher, Fault> {
    if reading == Reading::Template && variable(place.value) {
        return Err(place.fault("must be an object with `time`, `at_least` and `at_most`"));
    }
    let members = place.members()?;
    let time = time(&members.required("time")?, reading)?;
    let at_least = number(&members.required("at_least")?, reading)?;
    let at_most = number(&members.required("at_most")?, reading)?;
    members.finish()?;
    Ok(Matcher::SecondsAfter(time, at_least, at_most))
}

/// Whether anything can come to stand here.
fn variable(value: &Value) -> bool {
    value.as_str().is_some_and(|text| text.contains("${"))
}
