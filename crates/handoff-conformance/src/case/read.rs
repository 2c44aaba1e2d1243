//! Reading a case from JSON.

use std::{collections::BTreeMap, path::Path};

use serde_json::Value;

use super::{Case, Scenario, When, steps};
use crate::{
    json::sha256_hex,
    members::{Fault, Members, Place},
};

/// Every combination of what a deployment can choose.
const DEPLOYMENTS: [(u8, bool); 4] = [(1, false), (1, true), (2, false), (2, true)];

/// Reads a case.
pub(super) fn case(file: &Path, text: &str, document: &Value) -> Result<Case, Fault> {
    let members = Place::whole(document).members()?;
    let id = members.required("case")?;
    if file.file_stem().and_then(|stem| stem.to_str()) != Some(&id.string()?) {
        return Err(id.fault("must be the name of the file, without `.json`"));
    }
    let level = members.required("level")?;
    let scenarios = members.required("scenarios")?;
    let case = Case {
        file: file.to_owned(),
        digest: sha256_hex(text.as_bytes()),
        id: id.string()?,
        title: title(&members.required("title")?)?,
        level: level_of(&level)?,
        rules: texts(&members, "rules")?,
        requirements: texts(&members, "requirements")?,
        invariants: texts(&members, "invariants")?,
        exclusive: flag(&members, "exclusive")?,
        lets: lets(&members)?,
        scenarios: scenarios.elements()?.iter().map(scenario).collect::<Result<_, _>>()?,
    };
    members.finish()?;
    for (level, link_only) in DEPLOYMENTS {
        if !case.scenarios.iter().any(|scenario| scenario.when.applies(level, link_only)) {
            let deployment = format!("level {level} with link_only {link_only}");
            return Err(scenarios.fault(format!("must have one that applies to a deployment of {deployment}")));
        }
    }
    Ok(case)
}

fn scenario(place: &Place<'_>) -> Result<Scenario, Fault> {
    let members = place.members()?;
    let steps_place = members.required("steps")?;
    let scenario = Scenario {
        name: title(&members.required("name")?)?,
        when: when(members.optional("when"))?,
        lets: lets(&members)?,
        steps: steps::all(&steps_place)?,
    };
    members.finish()?;
    if !scenario.steps.iter().any(steps::calls) {
        return Err(steps_place.fault("must hold at least one call whose reply is expected to be something"));
    }
    Ok(scenario)
}

fn when(place: Option<Place<'_>>) -> Result<When, Fault> {
    let Some(place) = place else { return Ok(When::default()) };
    let members = place.members()?;
    let level = members.optional("level").map(|level| level_of(&level)).transpose()?;
    let link_only = match members.optional("link_only") {
        Some(place) => Some(place.value.as_bool().ok_or_else(|| place.fault("must be `true` or `false`"))?),
        None => None,
    };
    members.finish()?;
    Ok(When { level, link_only })
}

fn title(place: &Place<'_>) -> Result<String, Fault> {
    let text = place.string()?;
    if text.trim().is_empty() || text.contains('\n') { Err(place.fault("must be one line of text")) } else { Ok(text) }
}

fn level_of(place: &Place<'_>) -> Result<u8, Fault> {
    match place.integer()? {
        1 => Ok(1),
        2 => Ok(2),
        _ => Err(place.fault("must be 1 or 2")),
    }
}

fn texts(members: &Members<'_>, name: &str) -> Result<Vec<String>, Fault> {
    members.optional(name).map_or(Ok(Vec::new()), |place| place.strings())
}

pub(super) fn flag(members: &Members<'_>, name: &str) -> Result<bool, Fault> {
    match members.optional(name) {
        Some(place) => place.value.as_bool().ok_or_else(|| place.fault("must be `true` or `false`")),
        None => Ok(false),
    }
}

fn lets(members: &Members<'_>) -> Result<BTreeMap<String, Value>, Fault> {
    let Some(place) = members.optional("let") else { return Ok(BTreeMap::new()) };
    Ok(place.members()?.all().into_iter().map(|(name, place)| (name.to_owned(), place.value.clone())).collect())
}
