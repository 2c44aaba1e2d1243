//! Whether one schema allows no more than another, for the part of JSON Schema that the contract and our document use. A
//! word that it does not know fails the test.

use handoff_protocol::json::{Json, Object, read_str};

/// Two documents: what the inner one allows, the outer one must allow.
pub(crate) struct Comparison<'d> {
    pub(crate) inner: &'d Json,
    pub(crate) outer: &'d Json,
    /// Whether the inner one describes objects in full: what it does not name is not there.
    pub(crate) named_is_all: bool,
}

/// What the inner schema allows and the outer one does not: where, and what.
pub(crate) type Fault = (String, String);

/// One of the types that a schema allows, with the rules for it.
struct Form<'d> {
    kind: &'d str,
    values: Option<Vec<Json>>,
    rules: &'d Object,
}

/// Words that say nothing about what is allowed.
const WORDS: [&str; 4] = ["description", "title", "default", "contentEncoding"];
const KINDS: [&str; 6] = ["string", "integer", "boolean", "object", "array", "null"];
/// Limits, and whether more is tighter.
const LIMITS: [(&str, bool); 7] = [
    ("minLength", true),
    ("maxLength", false),
    ("minItems", true),
    ("maxItems", false),
    ("minimum", true),
    ("maximum", false),
    ("maxProperties", false),
];
/// Patterns of which the first allows no more than the second.
const NARROWER: [(&str, &str); 1] = [("^sha256:[0-9a-f]{64}$", "^[a-z0-9-]+:[0-9a-f]{32,128}$")];

impl<'d> Comparison<'d> {
    /// Everything that the inner schema allows and the outer one does not.
    pub(crate) fn faults(&self, inner: &'d Json, outer: &'d Json, place: &str) -> Vec<Fault> {
        let mut faults = Vec::new();
        let outer = forms(self.outer, outer);
        for form in forms(self.inner, inner) {
            let tries = outer.iter().filter(|outer| outer.kind == "any" || outer.kind == form.kind);
            let fewest = tries.map(|outer| self.within(&form, outer, place)).min_by_key(Vec::len);
            faults.extend(fewest.unwrap_or_else(|| vec![(place.to_owned(), format!("may be {}", form.kind))]));
        }
        faults
    }

    fn within(&self, inner: &Form<'d>, outer: &Form<'d>, place: &str) -> Vec<Fault> {
        let mut faults = Vec::new();
        let mut fault = |what: String| faults.push((place.to_owned(), what));
        match (&inner.values, &outer.values) {
            (Some(inner), Some(outer)) => {
                inner.iter().filter(|value| !outer.contains(value)).for_each(|value| fault(value.to_text()));
            }
            (None, Some(_)) => fault("may be any value".to_owned()),
            (_, None) => {}
        }
        for (word, more_is_tighter) in LIMITS {
            let limit = |form: &Form<'_>| form.rules.get(word).map(|limit| limit.as_i64().unwrap());
            let held = match (limit(inner), limit(outer)) {
                (_, None) => true,
                (Some(inner), Some(outer)) => {
                    if more_is_tighter {
                        inner >= outer
                    } else {
                        inner <= outer
                    }
                }
                (None, Some(_)) => inner.values.is_some(),
            };
            if !held {
                fault(format!("goes beyond {word}"));
            }
        }
        for word in ["pattern", "format"].into_iter().filter(|_| inner.values.is_none()) {
            let (own, other) = (inner.rules.get(word), outer.rules.get(word));
            let pair =
                (own.and_then(Json::as_str).unwrap_or_default(), other.and_then(Json::as_str).unwrap_or_default());
            if other.is_some() && own != other && !NARROWER.contains(&pair) {
                fault(format!("goes beyond {word}"));
            }
        }
        match inner.kind {
            "object" => faults.extend(self.members(inner, outer, place)),
            "array" if inner.rules.get("maxItems").and_then(Json::as_i64) != Some(0) => {
                if let Some(items) = outer.rules.get("items") {
                    let own = inner.rules.get("items").unwrap_or(&ANYTHING);
                    faults.extend(self.faults(own, items, &format!("{place}[]")));
                }
            }
            _ => {}
        }
        faults
    }

    fn members(&self, inner: &Form<'d>, outer: &Form<'d>, place: &str) -> Vec<Fault> {
        let mut faults = Vec::new();
        let (named, known) = (members(inner.rules), members(outer.rules));
        let rest = inner.rules.get("additionalProperties");
        let open = match rest {
            Some(rest) => *rest != Json::Bool(false),
            None => named.is_empty() || !self.named_is_all,
        };
        let closed = outer.rules.get("additionalProperties") == Some(&Json::Bool(false));
        for (name, schema) in &named {
            let place = format!("{place}.{name}");
            match known.iter().find(|(other, _)| other == name) {
                Some((_, other)) => faults.extend(self.faults(schema, other, &place)),
                None if closed => faults.push((place, "is not declared".to_owned())),
                None => {}
            }
        }
        if open && closed {
            faults.push((place.to_owned(), "may have other members".to_owned()));
        }
        if open {
            let unnamed = known.iter().filter(|(name, _)| !named.iter().any(|(own, _)| own == name));
            faults.extend(unnamed.map(|(name, _)| (format!("{place}.{name}"), "may be anything".to_owned())));
        }
        let required = |form: &Form<'_>| -> Vec<String> {
            let names = form.rules.get("required").and_then(Json::as_array).unwrap_or_default();
            names.iter().map(|name| name.as_str().unwrap().to_owned()).collect()
        };
        let always = required(inner);
        let missing = required(outer).into_iter().filter(|name| !always.contains(name));
        faults.extend(missing.map(|name| (format!("{place}.{name}"), "may be left out".to_owned())));
        faults
    }
}

static ANYTHING: Json = Json::Bool(true);
static NO_RULES: std::sync::LazyLock<Object> = std::sync::LazyLock::new(Object::new);

fn members(rules: &Object) -> Vec<(&str, &Json)> {
    rules.get("properties").and_then(Json::as_object).into_iter().flatten().collect()
}

/// What a schema allows, type by type.
fn forms<'d>(document: &'d Json, schema: &'d Json) -> Vec<Form<'d>> {
    let Some(rules) = schema.as_object() else {
        assert_eq!(*schema, ANYTHING, "a schema is an object or true");
        return vec![Form { kind: "any", values: None, rules: &NO_RULES }];
    };
    for word in rules.keys() {
        let known = LIMITS.iter().any(|(limit, _)| *limit == word)
            || WORDS.contains(&word)
            || matches!(
                word,
                "$ref"
                    | "allOf"
                    | "anyOf"
                    | "oneOf"
                    | "type"
                    | "enum"
                    | "const"
                    | "pattern"
                    | "format"
                    | "items"
                    | "properties"
                    | "patternProperties"
                    | "additionalProperties"
                    | "required"
            );
        assert!(known, "`{word}` is beyond this comparison");
    }
    let alone = || assert!(rules.keys().filter(|word| !WORDS.contains(word)).count() == 1, "{}", schema.to_text());
    if let Some(reference) = rules.get("$ref") {
        alone();
        return forms(document, resolve(document, reference.as_str().unwrap()));
    }
    if let Some(parts) = rules.get("allOf").and_then(Json::as_array) {
        alone();
        let [part] = parts else { panic!("more than one part of `allOf` is beyond this comparison") };
        return forms(document, part);
    }
    if let Some(parts) = rules.get("anyOf").or_else(|| rules.get("oneOf")).and_then(Json::as_array) {
        alone();
        return merged(parts.iter().flat_map(|part| forms(document, part)).collect());
    }
    let values: Option<Vec<Json>> = match (rules.get("enum"), rules.get("const")) {
        (Some(values), None) => Some(values.as_array().unwrap().to_vec()),
        (None, Some(value)) => Some(vec![value.clone()]),
        _ => None,
    };
    let kinds: Vec<&str> = match rules.get("type") {
        Some(Json::String(kind)) => vec![kind],
        Some(Json::Array(kinds)) => kinds.iter().map(|kind| kind.as_str().unwrap()).collect(),
        _ => {
            let all = KINDS.into_iter();
            all.filter(|kind| values.iter().flatten().any(|value| kind_of(value) == *kind)).collect()
        }
    };
    if kinds.is_empty() {
        return vec![Form { kind: "any", values: None, rules }];
    }
    let of = |kind: &str| values.as_ref().map(|all| all.iter().filter(|v| kind_of(v) == kind).cloned().collect());
    kinds.into_iter().map(|kind| Form { kind, values: of(kind), rules }).collect()
}

/// Values that are listed one by one are one list.
fn merged(all: Vec<Form<'_>>) -> Vec<Form<'_>> {
    let mut forms: Vec<Form<'_>> = Vec::new();
    for form in all {
        let same = forms.iter_mut().find(|other| other.kind == form.kind && other.values.is_some());
        match (same, &form.values) {
            (Some(same), Some(values)) => same.values.get_or_insert_default().extend(values.iter().cloned()),
            _ => forms.push(form),
        }
    }
    forms
}

fn kind_of(value: &Json) -> &'static str {
    match value {
        Json::Null => "null",
        Json::Bool(_) => "boolean",
        Json::Number(_) => "integer",
        Json::String(_) => "string",
        Json::Array(_) => "array",
        Json::Object(_) => "object",
    }
}

/// What a reference within a document points to.
pub(crate) fn resolve<'d>(document: &'d Json, reference: &str) -> &'d Json {
    let names = reference.strip_prefix("#/").unwrap().split('/');
    names.fold(document, |place, name| place.get(name).unwrap_or_else(|| panic!("nothing is at {reference}")))
}

/// The faults of two schemas that refer to nothing, as text.
fn faults(inner: &str, outer: &str, named_is_all: bool) -> String {
    let (inner, outer) = (read_str(inner).unwrap(), read_str(outer).unwrap());
    let comparison = Comparison { inner: &inner, outer: &outer, named_is_all };
    let faults = comparison.faults(&inner, &outer, "it");
    faults.iter().map(|(place, what)| format!("{place} {what}")).collect::<Vec<_>>().join("; ")
}

const WIDE: &str = r#"{"type":"object","required":["a"],"additionalProperties":false,"properties":{
    "a":{"type":"string","minLength":1,"maxLength":9},"b":{"enum":["x","y"]},
    "c":{"type":"array","maxItems":3,"items":{"type":"integer","minimum":0,"maximum":5}},
    "d":{"anyOf":[{"type":"string","pattern":"^x$"},{"type":"null"}]},"e":{"type":"string","format":"uri"}}}"#;

#[test]
fn a_schema_allows_what_it_allows() {
    assert_eq!(faults(WIDE, WIDE, false), "");
    assert_eq!(faults(WIDE, "true", false), "");
    assert_eq!(faults(r#"{"oneOf":[{"const":"y"},{"const":"x"}]}"#, r#"{"enum":["x","z","y"]}"#, false), "");
    assert_eq!(faults(r#"{"type":["string","null"]}"#, r#"{"anyOf":[{"type":"null"},{"type":"string"}]}"#, false), "");
}

#[test]
fn whatever_goes_beyond_is_found() {
    for (was, is, fault) in [
        (r#""minLength":1"#, r#""minLength":0"#, "it.a goes beyond minLength"),
        (r#","maxLength":9"#, "", "it.a goes beyond maxLength"),
        (r#""maxLength":9"#, r#""maxLength":10"#, "it.a goes beyond maxLength"),
        (r#""required":["a"],"#, "", "it.a may be left out"),
        (r#"["x","y"]"#, r#"["x","y","z"]"#, r#"it.b "z""#),
        (r#"{"enum":["x","y"]}"#, r#"{"type":"string"}"#, "it.b may be any value"),
        (r#""maxItems":3"#, r#""maxItems":4"#, "it.c goes beyond maxItems"),
        (r#""minimum":0"#, r#""minimum":-1"#, "it.c[] goes beyond minimum"),
        (r#","maximum":5"#, "", "it.c[] goes beyond maximum"),
        (r#""items":{"type":"integer","minimum":0,"maximum":5}"#, r#""items":{"type":"null"}"#, "it.c[] may be null"),
        (r#""type":"integer""#, r#""type":["integer","string"]"#, "it.c[] may be string"),
        ("^x$", "^y$", "it.d goes beyond pattern"),
        (r#","format":"uri""#, "", "it.e goes beyond format"),
        (r#""e":"#, r#""f":true,"e":"#, "it.f is not declared"),
        (r#""additionalProperties":false,"#, "", "it may have other members"),
    ] {
        assert!(WIDE.contains(was), "{was}");
        assert_eq!(faults(&WIDE.replacen(was, is, 1), WIDE, false), fault, "{was} became {is}");
    }
}

#[test]
fn what_is_described_in_full_has_no_other_members() {
    let inner = r#"{"type":"object","properties":{"a":{"type":"string"}}}"#;
    let outer = r#"{"type":"object","additionalProperties":false,"properties":{"a":true,"b":{"type":"null"}}}"#;
    assert_eq!(faults(inner, outer, true), "");
    assert_eq!(faults(inner, outer, false), "it may have other members; it.b may be anything");
    assert_eq!(
        faults(r#"{"type":"object"}"#, outer, true),
        "it may have other members; it.a may be anything; it.b may be anything"
    );
}
