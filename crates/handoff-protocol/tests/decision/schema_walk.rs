//! A walk over a schema and a body that has every member: for each limit, a body within and a body one step beyond.

use std::{cell::RefCell, collections::BTreeSet};

use handoff_protocol::json::{Json, Object};

/// A schema, a body that it allows, and what the walk came by.
pub(crate) struct Walk<'w> {
    schema: &'w Json,
    full: &'w Json,
    visited: RefCell<BTreeSet<String>>,
}

/// Bodies with one value changed, each with the place and the word that it tries.
type Bodies = Vec<(String, Json)>;

impl<'w> Walk<'w> {
    pub(crate) fn new(schema: &'w Json, full: &'w Json) -> Self {
        Self { schema, full, visited: RefCell::default() }
    }

    /// Bodies that stand exactly at each limit.
    pub(crate) fn within(&self) -> Bodies {
        self.all(at_limit)
    }

    /// Bodies that are one step beyond each limit.
    pub(crate) fn beyond(&self) -> Bodies {
        self.all(beyond_limit)
    }

    /// Members of the schema that no walk came by.
    pub(crate) fn unvisited(&self) -> BTreeSet<String> {
        let mut declared = BTreeSet::new();
        self.declare(self.schema, "", &mut declared);
        declared.difference(&self.visited.borrow()).cloned().collect()
    }

    fn all(&self, change: fn(&str, &Json, &Json) -> Option<Json>) -> Bodies {
        let mut found = Vec::new();
        self.walk(self.schema, self.full, "", "", change, &mut |place, value| found.push((place, value)));
        found
    }

    /// Visits a value: `wrap` puts a changed one back where it came from.
    fn walk(
        &self,
        schema: &Json,
        value: &Json,
        place: &str,
        member: &str,
        change: fn(&str, &Json, &Json) -> Option<Json>,
        found: &mut dyn FnMut(String, Json),
    ) {
        let schema = self.resolve(schema);
        self.visited.borrow_mut().insert(member.to_owned());
        for (word, rule) in schema.as_object().unwrap() {
            for rule in each(word, rule) {
                if let Some(changed) = change(word, &rule, value) {
                    found(format!("{place} {word}").trim().to_owned(), changed);
                }
            }
        }
        if let Some(properties) = schema.get("properties").and_then(Json::as_object) {
            for (name, part) in properties {
                let Some(inner) = value.get(name) else { continue };
                let mut put = |place: String, changed: Json| {
                    let mut outer = value.clone();
                    outer.as_object_mut().unwrap().insert(name, changed);
                    found(place, outer);
                };
                self.walk(part, inner, &join(place, name), &join(member, name), change, &mut put);
            }
        }
        if let (Some(part), Some(items)) = (schema.get("items"), value.as_array()) {
            for (number, inner) in items.iter().enumerate() {
                let mut put = |place: String, changed: Json| {
                    let mut outer = items.to_vec();
                    outer[number] = changed;
                    found(place, Json::from(outer));
                };
                self.walk(part, inner, &join(place, &number.to_string()), &join(member, "items"), change, &mut put);
            }
        }
    }

    fn declare(&self, schema: &Json, member: &str, declared: &mut BTreeSet<String>) {
        let schema = self.resolve(schema);
        declared.insert(member.to_owned());
        for (name, part) in schema.get("properties").and_then(Json::as_object).into_iter().flatten() {
            self.declare(part, &join(member, name), declared);
        }
        let empty = schema.get("maxItems").and_then(Json::as_i64) == Some(0);
        if let Some(part) = schema.get("items").filter(|_| !empty) {
            self.declare(part, &join(member, "items"), declared);
        }
    }

    /// The schema itself, behind a reference or beside null.
    fn resolve(&self, schema: &'w Json) -> &'w Json {
        if let Some(name) = schema.get("$ref").and_then(Json::as_str) {
            let name = name.rsplit('/').next().unwrap();
            return self.resolve(self.schema.get("$defs").unwrap().get(name).unwrap());
        }
        let parts = schema.get("anyOf").and_then(Json::as_array).unwrap_or_default();
        let other = parts.iter().find(|part| part.get("type").and_then(Json::as_str) != Some("null"));
        other.map_or(schema, |other| self.resolve(other))
    }
}

fn join(place: &str, name: &str) -> String {
    if place.is_empty() { name.to_owned() } else { format!("{place}.{name}") }
}

/// A list of names is tried name by name; any other rule is one.
fn each(word: &str, rule: &Json) -> Vec<Json> {
    match (word, rule.as_array()) {
        ("required" | "enum" | "oneOf", Some(rules)) => rules.to_vec(),
        _ => vec![rule.clone()],
    }
}

fn at_limit(word: &str, rule: &Json, value: &Json) -> Option<Json> {
    let limit = rule.as_i64().and_then(|limit| usize::try_from(limit).ok());
    Some(match word {
        "minLength" | "maxLength" => Json::from("x".repeat(limit.unwrap())),
        "maxItems" => filled(value, limit.unwrap())?,
        "minimum" | "maximum" => rule.clone(),
        "maxProperties" => Json::Object((0..limit.unwrap()).map(|n| (format!("n{n}"), Json::Null)).collect()),
        "enum" | "const" => rule.clone(),
        "oneOf" => rule.get("const").unwrap().clone(),
        "patternProperties" => with(value, "x-", Json::Null),
        _ => return None,
    })
}

fn beyond_limit(word: &str, rule: &Json, value: &Json) -> Option<Json> {
    let limit = rule.as_i64();
    let size = limit.and_then(|limit| usize::try_from(limit).ok());
    Some(match word {
        "minLength" => Json::from("x".repeat(size?.checked_sub(1)?)),
        "maxLength" => Json::from("x".repeat(size? + 1)),
        "maxItems" => filled(value, size? + 1).unwrap_or_else(|| Json::from(vec![Json::Object(Object::new())])),
        "minimum" => Json::from(limit? - 1),
        "maximum" => Json::from(limit? + 1),
        "maxProperties" => Json::Object((0..=size?).map(|n| (format!("n{n}"), Json::Null)).collect()),
        "enum" | "oneOf" => Json::from("no_such_word"),
        "const" if rule.as_str().is_none() => Json::from(if *rule == Json::Bool(false) { 1 } else { 2 }),
        "pattern" | "format" if value.as_str().is_some() => Json::from("! not so"),
        "required" => {
            let mut less = value.clone();
            less.as_object_mut().unwrap().remove(rule.as_str().unwrap());
            less
        }
        "additionalProperties" if *rule == Json::Bool(false) => with(value, "no_such_member", Json::from(1)),
        // An object where none belongs, or none where one belongs: the type is wrong either way.
        "type" if value.as_object().is_some() => Json::from(vec![Json::from(1)]),
        "type" => Json::Object(Object::new()),
        _ => return None,
    })
}

/// An array of so many items, told apart by the member that must be distinct.
fn filled(array: &Json, many: usize) -> Option<Json> {
    let last = array.as_array()?.last()?;
    let item = |number: usize| {
        let mut item = last.clone();
        for name in ["name", "id"].into_iter().filter(|name| last.get(name).is_some()) {
            item = with(&item, name, Json::from(format!("n{number}")));
        }
        item
    };
    Some(Json::from((0..many).map(item).collect::<Vec<_>>()))
}

fn with(object: &Json, name: &str, value: Json) -> Json {
    let mut object = object.clone();
    object.as_object_mut().unwrap().insert(name, value);
    object
}
