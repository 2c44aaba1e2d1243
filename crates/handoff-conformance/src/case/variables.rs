//! Whether every variable of a case is there when it is used.
//!
//! A name that is misspelled would else be found only in the middle of a run, or never, where a scenario is for other
//! deployments.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use crate::{
    members::Fault,
    scope::{is_built_in, names},
};

/// Looks through the scenarios of a case.
///
/// # Errors
///
/// The first place that names a variable which is not there yet.
pub(super) fn check(document: &Value) -> Result<(), Fault> {
    let mut known = BTreeSet::new();
    lets(document, "", &mut known)?;
    for (index, scenario) in array(document, "scenarios").iter().enumerate() {
        let path = format!("scenarios[{index}]");
        let mut known = known.clone();
        lets(scenario, &format!("{path}."), &mut known)?;
        steps(scenario, &path, &mut known)?;
    }
    Ok(())
}

fn lets(of: &Value, path: &str, known: &mut BTreeSet<String>) -> Result<(), Fault> {
    let Some(layer) = of.get("let").and_then(Value::as_object) else { return Ok(()) };
    // Those of one layer may name each other.
    known.extend(layer.keys().cloned());
    layer.iter().try_for_each(|(name, template)| used(template, &format!("{path}let.{name}"), known))
}

fn steps(of: &Value, path: &str, known: &mut BTreeSet<String>) -> Result<(), Fault> {
    for (index, step) in array(of, "steps").iter().enumerate() {
        let path = format!("{path}.steps[{index}]");
        let Some(members) = step.as_object() else { continue };
        if let Some(name) = members.get("as_value").and_then(Value::as_str) {
            used(members.get("each").unwrap_or(&Value::Null), &format!("{path}.each"), known)?;
            known.extend([name.to_owned(), "nth".to_owned()]);
            steps(step, &path, known)?;
            continue;
        }
        let mut here = known.clone();
        // Calls that are made together count.
        here.extend(members.contains_key("together").then(|| "nth".to_owned()));
        members.iter().try_for_each(|(name, value)| used(value, &format!("{path}.{name}"), &here))?;
        kept(members, known);
    }
    Ok(())
}

/// Adds the names under which a step keeps something, also those of calls within it.
fn kept(members: &Map<String, Value>, known: &mut BTreeSet<String>) {
    for name in ["keep", "set"] {
        known.extend(members.get(name).and_then(Value::as_object).into_iter().flat_map(Map::keys).cloned());
    }
    let calls = ["until", "always", "together"].into_iter().filter_map(|name| members.get(name));
    for call in calls.flat_map(|calls| calls.as_array().map_or(std::slice::from_ref(calls), Vec::as_slice)) {
        call.as_object().into_iter().for_each(|call| kept(call, known));
    }
}

fn used(template: &Value, path: &str, known: &BTreeSet<String>) -> Result<(), Fault> {
    match names(template).into_iter().find(|name| !known.contains(name) && !is_built_in(name) && name != "index") {
        Some(name) => {
            Err(Fault::new(path, format!("names the variable `{name}`, and no `let` or `keep` before it makes it")))
        }
        None => Ok(()),
    }
}

fn array<'of>(of: &'of Value, name: &str) -> &'of [Value] {
    of.get(name).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn checked(steps: &Value) -> Result<(), Fault> {
        let lets = json!({"more": "${ask}", "ask": {}});
        check(&json!({"let": lets, "scenarios": [{"let": {"b": "${more/x}"}, "steps": steps}]}))
    }

    #[test]
    fn what_is_defined_kept_set_or_built_in_is_there() {
        checked(&json!([
            {"call": "POST /v1/x", "body": "${b}", "keep": {"id": "/id"}},
            {"until": {"call": "GET /v1/${id}", "keep": {"state": "/state"}}},
            {"together": [{"call": "GET /v1/${state}", "key": "k${nth}", "keep": {"one": "/a"}}], "keep": {"two": "/b"}},
            {"each": "${one}", "as_value": "it", "steps": [{"set": {"three": "${it/name} ${two} ${nth} ${fresh:a}"}}]},
            {"check": "${three} ${principal.editor} ${repeat:3:x}", "expect": {"$repeat": "${index}"}},
        ]))
        .unwrap();
    }

    #[test]
    fn what_is_not_there_yet_is_named_with_its_place() {
        let fault = checked(&json!([{"call": "GET /v1/${id}", "keep": {"id": "/id"}}])).unwrap_err();
        let words = "`scenarios[0].steps[0].call` names the variable `id`, and no `let` or `keep` before it makes it";
        assert_eq!(fault.to_string(), words);
        for steps in [
            json!([{"call": "x", "body": {"a": ["${fresh.x}"]}}]),
            json!([{"each": [1], "as_value": "it", "steps": [{"set": {"x": "${item}"}}]}]),
            json!([{"call": "${nth}"}]),
            json!([{"call": "${profile.levle}"}]),
        ] {
            checked(&steps).unwrap_err();
        }
    }
}
