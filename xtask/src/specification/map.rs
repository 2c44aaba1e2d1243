//! `spec/map.json`: every rule with its places, for programs.

use serde_json::{Map, Value, json};

use super::chapter::{Link, Rule};

/// The version of the specification, which is that of its text and not of the code.
const VERSION: &str = "0.1";

/// The map of these rules, in the order of the chapters' names within each part.
pub(crate) fn text(rules: &[Rule]) -> String {
    let mut parts = [("rules", Map::new()), ("requirements", Map::new()), ("invariants", Map::new())];
    for rule in rules {
        let part = match (rule.is_invariant(), rule.is_requirement()) {
            (true, _) => &mut parts[2],
            (false, true) => &mut parts[1],
            (false, false) => &mut parts[0],
        };
        part.1.insert(rule.id.clone(), entry(rule));
    }
    let mut map = Map::new();
    map.insert("version".to_owned(), json!(VERSION));
    map.extend(parts.map(|(name, entries)| (name.to_owned(), Value::Object(entries))));
    let mut text = serde_json::to_string_pretty(&Value::Object(map)).unwrap_or_default();
    text.push('\n');
    text
}

fn entry(rule: &Rule) -> Value {
    let (cases, tests): (Vec<&Link>, Vec<&Link>) = rule.tested.iter().partition(|link| link.file.ends_with(".json"));
    let names = |links: &[&Link]| links.iter().map(|link| link.name.clone()).collect::<Vec<_>>();
    let places = |links: &[&Link]| links.iter().map(|link| format!("{}#{}", link.file, link.name)).collect::<Vec<_>>();
    let functions: Vec<&Link> = rule.implemented.iter().collect();
    let mut entry = json!({
        "title": rule.title,
        "chapter": rule.chapter,
        "level": rule.level,
        "cases": names(&cases),
    });
    if let Value::Object(members) = &mut entry {
        if !functions.is_empty() {
            members.insert("functions".to_owned(), json!(places(&functions)));
        }
        if !tests.is_empty() {
            members.insert("tests".to_owned(), json!(places(&tests)));
        }
    }
    entry
}
