//! Reading calls, alone and together.

use std::time::Duration;

use serde_json::{Value, json};

use super::{keep, matcher, matcher_without, optional_matcher, pairs};
use crate::{
    case::{Call, Content, Count, Expect, Raw, Together, read::flag},
    members::{Fault, Members, Place},
};

/// A call by itself: it must say what is expected of the reply.
pub(super) fn judged(members: &Members<'_>) -> Result<Call, Fault> {
    let call = read(members)?;
    if call.is_answered() && call.expect.status.is_none() {
        return Err(members.fault("must say in `expect` which `status` is expected"));
    }
    if call.hang_up.is_some() && members.optional("expect").is_some() {
        return Err(members.fault("cannot expect a reply and `hang_up`"));
    }
    if call.times != 1 || !call.after.is_zero() {
        return Err(members.fault("can have `times` and `after` only within `together`"));
    }
    Ok(call)
}

/// A call that is repeated, and how long.
pub(super) fn repeated(members: &Members<'_>, verb: &str, time: &str) -> Result<(Box<Call>, Duration), Fault> {
    let inner = members.required(verb)?.members()?;
    let call = judged(&inner)?;
    inner.finish()?;
    if !call.is_answered() {
        return Err(members.fault("cannot repeat a call that gets no reply"));
    }
    Ok((Box::new(call), members.required(time)?.duration()?))
}

/// Calls that are released together.
pub(super) fn together(members: &Members<'_>) -> Result<Together, Fault> {
    let place = members.required("together")?;
    let calls = place.elements()?.into_iter().map(|element| {
        let inner = element.members()?;
        let call = read(&inner)?;
        inner.finish()?;
        Ok(call)
    });
    let calls: Vec<_> = calls.collect::<Result<_, _>>()?;
    let counts =
        members.optional("expect").map_or(Ok(Vec::new()), |place| place.elements()?.iter().map(count).collect())?;
    let judged = |call: &Call| call.expect.status.is_some() || !call.is_answered();
    if counts.is_empty() && !calls.iter().all(judged) {
        return Err(place.fault("must say what is expected: in each call, or in `expect` of them all"));
    }
    Ok(Together { calls, counts, keep: keep(members)? })
}

fn count(place: &Place<'_>) -> Result<Count, Fault> {
    let members = place.members()?;
    let like = members.required("where")?;
    // Each reply must fit one of these: one that fits whatever comes would ask for nothing.
    if like.members()?.names().all(|name| !["status", "body"].contains(&name)) {
        return Err(like.fault("must say something of the `status` or the `body`"));
    }
    let count = Count { count: matcher(&members.required("count")?)?, like: expect(&members.required("where")?)? };
    members.finish()?;
    Ok(count)
}

fn read(members: &Members<'_>) -> Result<Call, Fault> {
    let line = members.required("call")?;
    let text = line.string()?;
    if !text
        .split_once(' ')
        .is_some_and(|(method, path)| method.bytes().all(|byte| byte.is_ascii_uppercase()) && path.starts_with('/'))
    {
        return Err(line.fault("must be a method and a path, such as `POST /v1/requests`"));
    }
    let credential = members.required("as")?;
    let credential = if credential.value.is_null() { None } else { Some(credential.string()?) };
    let times = members.optional("times").map_or(Ok(1), |place| {
        u32::try_from(place.integer()?)
            .ok()
            .filter(|times| (1..=200).contains(times))
            .ok_or_else(|| place.fault("must be 1 to 200"))
    })?;
    Ok(Call {
        line: text,
        credential,
        key: members.optional("key").map(|place| place.string()).transpose()?,
        headers: pairs(members.optional("headers"))?,
        query: pairs(members.optional("query"))?,
        content: content(members)?,
        times,
        after: members.optional("after").map_or(Ok(Duration::ZERO), |place| place.duration())?,
        hang_up: members.optional("hang_up").map(|place| place.duration()).transpose()?,
        may_contain: flag(members, "may_contain")?,
        expect: members.optional("expect").map_or(Ok(Expect::default()), |place| expect(&place))?,
        keep: keep(members)?,
    })
}

fn content(members: &Members<'_>) -> Result<Content, Fault> {
    let body = members.optional("body").map(|place| Content::Json(place.value.clone()));
    let text = members.optional("text").map(|place| place.string().map(Content::Text)).transpose()?;
    let hex = members.optional("hex").map(|place| place.string().map(Content::Hex)).transpose()?;
    let mut given = [body, text, hex].into_iter().flatten();
    match (given.next(), given.next()) {
        (None, _) => Ok(Content::Empty),
        (Some(content), None) => Ok(content),
        _ => Err(members.fault("can have one of `body`, `text` and `hex`")),
    }
}

fn expect(place: &Place<'_>) -> Result<Expect, Fault> {
    let members = place.members()?;
    if flag(&members, "broken")? {
        members.finish()?;
        return Ok(Expect { broken: true, ..Expect::default() });
    }
    let mut headers = Vec::new();
    if let Some(place) = members.optional("headers") {
        for (name, place) in place.members()?.all() {
            headers.push((name.to_owned(), matcher(&place)?));
        }
    }
    let expect = Expect {
        broken: false,
        status: members.optional("status").map(|place| status(&place)).transpose()?,
        headers,
        body: optional_matcher(&members, "body")?,
        raw: members.optional("raw").map_or(Ok(Vec::new()), |place| raw(&place))?,
        took: members.optional("took").map_or(Ok((None, None)), |place| took(&place))?,
    };
    members.finish()?;
    Ok(expect)
}

/// A status that a server gives which has nothing to give is never expected.
fn status(place: &Place<'_>) -> Result<Value, Fault> {
    matcher_without(place, &json!(599), "accepts a status that no case can expect, so that it asks for nothing")
}

fn raw(place: &Place<'_>) -> Result<Vec<(Raw, String)>, Fault> {
    let members = place.members()?;
    let mut asked = Vec::new();
    for (name, raw) in
        [("equals", Raw::Equals), ("contains", Raw::Contains), ("matches", Raw::Matches), ("lacks", Raw::Lacks)]
    {
        let Some(place) = members.optional(name) else { continue };
        let texts = if place.value.is_array() { place.strings()? } else { vec![place.string()?] };
        asked.extend(texts.into_iter().map(|text| (raw, text)));
    }
    members.finish()?;
    Ok(asked)
}

fn took(place: &Place<'_>) -> Result<(Option<Duration>, Option<Duration>), Fault> {
    let members = place.members()?;
    let time = |name| members.optional(name).map(|place| place.duration()).transpose();
    let took = (time("at_least")?, time("at_most")?);
    members.finish()?;
    Ok(took)
}
