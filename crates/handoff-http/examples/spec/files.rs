//! What is written: the document, and each body and each served object as a JSON Schema of its own.

use std::collections::{BTreeMap, BTreeSet};

use handoff_http::openapi;
use handoff_protocol::json::Json;

const PREFIX: &str = "#/components/schemas/";

/// Every file by its name in the folder.
pub(crate) fn all() -> BTreeMap<String, String> {
    let document = openapi();
    let none = Json::Null;
    let components = document.get("components").and_then(|components| components.get("schemas")).unwrap_or(&none);
    // Documents that no call takes.
    let mut roots = BTreeSet::from(["Policy".to_owned()]);
    for part in [document.get("paths"), document.get("components").and_then(|all| all.get("responses"))] {
        roots_in(part.unwrap_or(&none), &mut roots);
    }
    let mut files = BTreeMap::from([("openapi.json".to_owned(), pretty(&document))]);
    for name in roots {
        files.insert(format!("schemas/{name}.json"), pretty(&alone(&name, components)));
    }
    files
}

/// The schemas that bodies and responses name.
fn roots_in(value: &Json, roots: &mut BTreeSet<String>) {
    match value {
        Json::Array(items) => items.iter().for_each(|item| roots_in(item, roots)),
        Json::Object(members) => {
            if let Some(content) = members.get("content") {
                references(content, roots);
            }
            members.iter().for_each(|(_, member)| roots_in(member, roots));
        }
        _ => {}
    }
}

fn references(value: &Json, found: &mut BTreeSet<String>) {
    match value {
        Json::Array(items) => items.iter().for_each(|item| references(item, found)),
        Json::Object(members) => {
            if let Some(name) = members.get("$ref").and_then(Json::as_str).and_then(|text| text.strip_prefix(PREFIX)) {
                found.insert(name.to_owned());
            }
            members.iter().for_each(|(_, member)| references(member, found));
        }
        _ => {}
    }
}

/// A schema with everything that it refers to.
fn alone(name: &str, components: &Json) -> Json {
    let mut needed = BTreeSet::new();
    let mut next = vec![name.to_owned()];
    while let Some(name) = next.pop() {
        let mut found = BTreeSet::new();
        references(components.get(&name).unwrap_or(&Json::Null), &mut found);
        next.extend(found.into_iter().filter(|name| needed.insert(name.clone())));
    }
    let mut schema = vec![
        ("$schema".to_owned(), Json::from("https://json-schema.org/draft/2020-12/schema")),
        ("title".to_owned(), Json::from(name)),
    ];
    let own = components.get(name).and_then(Json::as_object).into_iter().flatten();
    schema.extend(own.map(|(word, rule)| (word.to_owned(), local(rule))));
    let definitions =
        needed.into_iter().filter_map(|name| Some((name.clone(), local(components.get(&name)?)))).collect();
    schema.push(("$defs".to_owned(), Json::Object(definitions)));
    Json::Object(schema.into_iter().collect())
}

/// The same rules, with references into the schema itself.
fn local(value: &Json) -> Json {
    match value {
        Json::Array(items) => Json::from(items.iter().map(local).collect::<Vec<_>>()),
        Json::Object(members) => Json::Object(
            members
                .iter()
                .map(|(name, member)| {
                    let reference =
                        member.as_str().filter(|_| name == "$ref").and_then(|text| text.strip_prefix(PREFIX));
                    (name.to_owned(), reference.map_or_else(|| local(member), |to| format!("#/$defs/{to}").into()))
                })
                .collect(),
        ),
        other => other.clone(),
    }
}

/// JSON for people, in the order in which it is.
fn pretty(value: &Json) -> String {
    let mut text = String::new();
    write(value, 0, &mut text);
    text.push('\n');
    text
}

fn write(value: &Json, depth: usize, text: &mut String) {
    let (open, close, many) = match value {
        Json::Array(items) if !items.is_empty() => ('[', ']', items.len()),
        Json::Object(members) if !members.is_empty() => ('{', '}', members.len()),
        other => return other.write_to(text),
    };
    text.push(open);
    let begin = |place: usize, text: &mut String| {
        text.push_str(if place == 0 { "\n" } else { ",\n" });
        text.push_str(&"  ".repeat(depth + 1));
    };
    for place in 0..many {
        begin(place, text);
        if let Some(item) = value.as_array().and_then(|items| items.get(place)) {
            write(item, depth + 1, text);
        } else if let Some((name, member)) = value.as_object().and_then(|members| members.iter().nth(place)) {
            Json::from(name).write_to(text);
            text.push_str(": ");
            write(member, depth + 1, text);
        }
    }
    text.push('\n');
    text.push_str(&"  ".repeat(depth));
    text.push(close);
}
