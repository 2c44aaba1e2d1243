//! A validator for the part of JSON Schema that the contract uses. A word that it does not know fails the test.

use handoff_protocol::{
    duration::ExactDuration,
    id::Ulid,
    json::{Json, Object},
    timestamp::Timestamp,
};

/// The component schemas of a contract, and where what is served is known to go beyond them.
pub(crate) struct Schemas<'c> {
    pub(crate) components: &'c Object,
    /// Members that are let through although no schema lists them.
    pub(crate) additive: &'c [&'c str],
    /// Members that may be null although no schema says so.
    pub(crate) nullable: &'c [&'c str],
}

impl Schemas<'_> {
    /// Everything in a value that a named schema does not allow.
    pub(crate) fn faults(&self, name: &str, value: &Json) -> Vec<String> {
        let mut faults = Vec::new();
        self.check(self.named(name), value, name, &mut faults);
        faults
    }

    fn named(&self, name: &str) -> &Json {
        self.components.get(name).unwrap_or_else(|| panic!("the contract has no schema `{name}`"))
    }

    fn check(&self, schema: &Json, value: &Json, at: &str, faults: &mut Vec<String>) {
        let schema = schema.as_object().unwrap();
        for (word, rule) in schema {
            let broken = match word {
                "$ref" => {
                    let name = rule.as_str().unwrap().rsplit('/').next().unwrap();
                    self.check(self.named(name), value, at, faults);
                    None
                }
                "allOf" => {
                    rule.as_array().unwrap().iter().for_each(|part| self.check(part, value, at, faults));
                    None
                }
                "anyOf" => self.any_of(rule, value, at),
                "type" => (!is_of_type(rule, value)).then(|| format!("is not of type {}", rule.to_text())),
                "enum" => (!rule.as_array().unwrap().contains(value)).then(|| "is none of the values".to_owned()),
                "const" => (rule != value).then(|| "is not the value".to_owned()),
                "pattern" => value.as_str().and_then(|text| pattern(rule.as_str().unwrap(), text)),
                "format" => value.as_str().and_then(|text| format(rule.as_str().unwrap(), text)),
                "minLength" => bound(rule, length(value), |size, least| size < least),
                "maxLength" => bound(rule, length(value), |size, most| size > most),
                "minItems" => bound(rule, items(value), |size, least| size < least),
                "maxItems" => bound(rule, items(value), |size, most| size > most),
                "minimum" => bound(rule, value.as_i64(), |number, least| number < least),
                "maximum" => bound(rule, value.as_i64(), |number, most| number > most),
                "required" => {
                    let missing = |name: &&Json| value.get(name.as_str().unwrap()).is_none();
                    value.as_object().and_then(|_| {
                        let name = rule.as_array().unwrap().iter().find(missing)?;
                        Some(format!("lacks {}", name.to_text()))
                    })
                }
                "items" => {
                    for (place, item) in value.as_array().unwrap_or_default().iter().enumerate() {
                        self.check(rule, item, &format!("{at}.{place}"), faults);
                    }
                    None
                }
                "properties" => {
                    for (name, part) in rule.as_object().unwrap() {
                        let excused = |member: &&Json| member.is_null() && self.nullable.contains(&name);
                        if let Some(member) = value.get(name).filter(|member| !excused(member)) {
                            self.check(part, member, &format!("{at}.{name}"), faults);
                        }
                    }
                    None
                }
                "additionalProperties" if *rule == Json::Bool(false) => {
                    let declared = schema.get("properties").and_then(Json::as_object);
                    for name in value.as_object().into_iter().flat_map(Object::keys) {
                        let known = declared.is_some_and(|declared| declared.contains_key(name));
                        if !known && !self.additive.contains(&name) {
                            faults.push(format!("{at}.{name} is not declared"));
                        }
                    }
                    None
                }
                "additionalProperties" => {
                    assert_eq!(*rule, Json::Bool(true), "a schema for other members is beyond this validator");
                    None
                }
                "default" | "description" | "contentEncoding" | "title" => None,
                other => panic!("the contract uses `{other}`, which this validator does not know"),
            };
            faults.extend(broken.map(|fault| format!("{at} {fault}")));
        }
    }

    fn any_of(&self, rule: &Json, value: &Json, at: &str) -> Option<String> {
        let mut best: Option<Vec<String>> = None;
        for part in rule.as_array().unwrap() {
            let mut faults = Vec::new();
            self.check(part, value, at, &mut faults);
            if faults.is_empty() {
                return None;
            }
            let is_null = part.get("type").and_then(Json::as_str) == Some("null");
            if best.is_none() || !is_null {
                best = Some(faults);
            }
        }
        Some(format!("fits no alternative: {}", best.unwrap_or_default().join("; ")))
    }
}

fn is_of_type(rule: &Json, value: &Json) -> bool {
    match rule.as_str().unwrap() {
        "object" => value.as_object().is_some(),
        "array" => value.as_array().is_some(),
        "string" => value.as_str().is_some(),
        "boolean" => value.as_bool().is_some(),
        "integer" => value.as_i64().is_some(),
        "null" => value.is_null(),
        other => panic!("the contract uses the type `{other}`, which this validator does not know"),
    }
}

fn pattern(pattern: &str, text: &str) -> Option<String> {
    const ULID: &str = "_[0-9A-HJKMNP-TV-Z]{26}$";
    let fits = match pattern {
        "^[a-z0-9-]+:[0-9a-f]{32,128}$" => text.split_once(':').is_some_and(|(algorithm, digits)| {
            !algorithm.is_empty()
                && algorithm.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
                && (32..=128).contains(&digits.len())
                && digits.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
        }),
        "^[a-z][a-z0-9_]{0,63}$" => {
            text.len() <= 64
                && text.starts_with(|first: char| first.is_ascii_lowercase())
                && text.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
        }
        duration if duration.starts_with("^P(?!$)(\\d+W)") => ExactDuration::parse(text).is_ok(),
        id if id.ends_with(ULID) => {
            let prefixes = id.trim_end_matches(ULID).trim_start_matches('^');
            let any = prefixes == "[a-z]{2,4}";
            let named: Vec<&str> = prefixes.trim_matches(['(', ')']).split('|').collect();
            text.split_once('_')
                .is_some_and(|(prefix, rest)| (any || named.contains(&prefix)) && Ulid::parse(rest).is_ok())
        }
        other => panic!("the contract uses the pattern `{other}`, which this validator does not know"),
    };
    (!fits).then(|| format!("does not match {pattern}"))
}

fn format(format: &str, text: &str) -> Option<String> {
    let fits = match format {
        "date-time" => Timestamp::parse(text).is_ok(),
        "uri" => text.contains("://"),
        _ => true,
    };
    (!fits).then(|| format!("is no {format}"))
}

fn bound(rule: &Json, size: Option<i64>, breaks: fn(i64, i64) -> bool) -> Option<String> {
    let limit = rule.as_i64().unwrap();
    size.filter(|size| breaks(*size, limit)).map(|size| format!("is {size}, beyond {limit}"))
}

fn length(value: &Json) -> Option<i64> {
    value.as_str().map(|text| i64::try_from(text.chars().count()).unwrap())
}

fn items(value: &Json) -> Option<i64> {
    value.as_array().map(|items| i64::try_from(items.len()).unwrap())
}

#[test]
fn the_validator_can_fail() {
    let json = |text: &str| handoff_protocol::json::read_str(text).unwrap();
    let contract = json(
        r##"{"Id":{"type":"string","pattern":"^req_[0-9A-HJKMNP-TV-Z]{26}$"},
        "Thing":{"type":"object","required":["id"],"additionalProperties":false,"properties":{
        "id":{"$ref":"#/components/schemas/Id"},"n":{"anyOf":[{"type":"integer","minimum":1},{"type":"null"}]},
        "void":{"type":"string"},"list":{"type":"array","maxItems":1,"items":{"enum":["a"]}}}}}"##,
    );
    let schemas = Schemas { components: contract.as_object().unwrap(), additive: &["extra"], nullable: &["void"] };
    let faults = |text: &str| schemas.faults("Thing", &json(text)).len();
    assert_eq!(faults(r#"{"id":"req_01K3M7QW9A8ZC4YRXB2N6VD9FT","n":null,"list":["a"],"extra":1,"void":null}"#), 0);
    for bad in [
        "{}",
        r#"{"id":"rcpt_01K3M7QW9A8ZC4YRXB2N6VD9FT"}"#,
        r#"{"id":"req_01K3M7QW9A8ZC4YRXB2N6VD9FT","n":0}"#,
        r#"{"id":"req_01K3M7QW9A8ZC4YRXB2N6VD9FT","other":1}"#,
        r#"{"id":"req_01K3M7QW9A8ZC4YRXB2N6VD9FT","list":["b"]}"#,
        r#"{"id":"req_01K3M7QW9A8ZC4YRXB2N6VD9FT","list":["a","a"]}"#,
        "[]",
    ] {
        assert!(faults(bad) > 0, "{bad}");
    }
}
