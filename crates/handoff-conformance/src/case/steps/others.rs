//! Reading every step that is not a call.

use std::time::Duration;

use serde_json::json;

use super::{all, keep, matcher, optional_matcher, pairs};
use crate::{
    case::{Chain, Each, Hook, Nowhere, Outcome, ReceiptCheck, Receive, Received, Secrets, read::flag},
    members::{Fault, Members, Place},
};

pub(super) fn each(members: &Members<'_>) -> Result<Each, Fault> {
    let values = members.required("each")?;
    let variable = values.value.as_str().is_some_and(|text| text.starts_with("${"));
    if !values.value.is_array() && !variable {
        return Err(values.fault("must be an array, or a variable that holds one"));
    }
    Ok(Each {
        values: values.value.clone(),
        name: members.required("as_value")?.string()?,
        steps: all(&members.required("steps")?)?,
    })
}

pub(super) fn hook(members: &Members<'_>) -> Result<Hook, Fault> {
    Ok(Hook {
        name: members.required("hook")?.string()?,
        with: pairs(members.optional("with"))?,
        within: members.optional("within").map(|place| place.duration()).transpose()?,
        expect: outcome(&members.required("expect")?)?,
        keep: keep(members)?,
        may_contain: flag(members, "may_contain")?,
    })
}

fn outcome(place: &Place<'_>) -> Result<Outcome, Fault> {
    let members = place.members()?;
    let exit = members.required("exit")?;
    if !exit.value.is_u64() && exit.value != "nonzero" {
        return Err(exit.fault("must be a number or `nonzero`"));
    }
    let outcome = Outcome {
        exit: Some(exit.value.clone()),
        lines: optional_matcher(&members, "lines")?,
        json: optional_matcher(&members, "json")?,
        stdout: optional_matcher(&members, "stdout")?,
        stderr: optional_matcher(&members, "stderr")?,
        output: optional_matcher(&members, "output")?,
    };
    members.finish()?;
    Ok(outcome)
}

pub(super) fn chain(members: &Members<'_>) -> Result<Chain, Fault> {
    let inner = members.required("chain")?.members()?;
    let chain = Chain {
        credential: inner.required("as")?.string()?,
        contains: inner.optional("contains").map_or(Ok(Vec::new()), |place| place.strings())?,
        limit: inner.optional("limit").map(|place| place.integer()).transpose()?,
        expect: optional_matcher(members, "expect")?,
        keep: keep(members)?,
    };
    inner.finish()?;
    Ok(chain)
}

pub(super) fn receipt(members: &Members<'_>) -> Result<ReceiptCheck, Fault> {
    let inner = members.required("receipt")?.members()?;
    let receipt = ReceiptCheck {
        credential: inner.required("as")?.string()?,
        id: inner.required("id")?.string()?,
        expect: optional_matcher(members, "expect")?,
        keep: keep(members)?,
    };
    inner.finish()?;
    Ok(receipt)
}

pub(super) fn receive(members: &Members<'_>) -> Result<Receive, Fault> {
    let inner = members.required("receive")?.members()?;
    let statuses = inner.required("statuses")?;
    let read = statuses.elements()?.into_iter().map(|place| {
        u16::try_from(place.integer()?)
            .ok()
            .filter(|status| (200..600).contains(status))
            .ok_or_else(|| place.fault("must be a status from 200 to 599"))
    });
    let read: Vec<_> = read.collect::<Result<_, _>>()?;
    if read.is_empty() {
        return Err(statuses.fault("must hold at least one status"));
    }
    let headers = pairs(inner.optional("headers"))?;
    let receive = Receive {
        path: path(&inner.required("path")?)?,
        statuses: read,
        headers: headers
            .into_iter()
            .map(|(name, value)| (name, value.as_str().unwrap_or_default().to_owned()))
            .collect(),
        delay: inner.optional("delay").map_or(Ok(Duration::ZERO), |place| place.duration())?,
    };
    inner.finish()?;
    Ok(receive)
}

pub(super) fn received(members: &Members<'_>) -> Result<Received, Fault> {
    let inner = members.required("received")?.members()?;
    let count = match (inner.optional("count"), inner.optional("at_least")) {
        (Some(count), None) => matcher(&count)?,
        (None, Some(least)) => json!({ "$at_least": least.integer()? }),
        _ => return Err(inner.fault("must have `count` or `at_least`")),
    };
    let received = Received {
        path: path(&inner.required("path")?)?,
        count,
        within: inner.optional("within").map_or(Ok(Duration::ZERO), |place| place.duration())?,
        like: optional_matcher(&inner, "where")?,
        signed_by: inner.optional("signed_by").map(|place| secrets(&place)).transpose()?,
        none_for: inner.optional("none_for").map(|place| place.duration()).transpose()?,
        expect: optional_matcher(members, "expect")?,
        keep: keep(members)?,
    };
    inner.finish()?;
    Ok(received)
}

fn secrets(place: &Place<'_>) -> Result<Secrets, Fault> {
    if place.value == "all" {
        return Ok(Secrets::All);
    }
    match place.strings() {
        Ok(names) if !names.is_empty() => Ok(Secrets::Named(names)),
        _ => Err(place.fault("must be `all`, or the names of some")),
    }
}

fn path(place: &Place<'_>) -> Result<String, Fault> {
    let text = place.string()?;
    if text.starts_with('/') { Ok(text) } else { Err(place.fault("must begin with `/`")) }
}

pub(super) fn nowhere(members: &Members<'_>) -> Result<Nowhere, Fault> {
    let markers = members.required("nowhere")?;
    if markers.elements()?.is_empty() {
        return Err(markers.fault("must name at least one marker"));
    }
    Ok(Nowhere { markers: markers.strings()?, store: flag(members, "store")? })
}
