//! A matcher held against a value.

use std::{cmp::Ordering, collections::BTreeSet};

use jiff::Timestamp;
use serde_json::{Map, Value};

use super::{Kind, Matcher, Mismatch};
use crate::json::{brief, digest};

impl Matcher {
    /// Holds this against what is there, or against nothing.
    ///
    /// # Errors
    ///
    /// The first difference, with its path, what was expected and what was there.
    pub fn check(&self, got: Option<&Value>) -> Result<(), Mismatch> {
        self.at("", got)
    }

    fn at(&self, path: &str, got: Option<&Value>) -> Result<(), Mismatch> {
        let unlike = |expected: String| Err(mismatch(path, expected, got));
        let held = |holds: bool, expected: &dyn Fn() -> String| if holds { Ok(()) } else { unlike(expected()) };
        match self {
            Self::Equal(value) | Self::Exactly(value) => held(got == Some(value), &|| brief(value)),
            Self::Absent => held(got.is_none(), &|| "nothing".to_owned()),
            Self::Present => held(got.is_some(), &|| "something".to_owned()),
            Self::Type(kind) => held(got.is_some_and(|got| kind.is_of(got)), &|| format!("{kind:?}").to_lowercase()),
            Self::Matches(expression) => held(text(got).is_some_and(|got| expression.is_match(got)), &|| {
                format!("a text in which `{expression}` is found")
            }),
            Self::Lacks(expression) => held(text(got).is_some_and(|got| !expression.is_match(got)), &|| {
                format!("a text in which `{expression}` is not found")
            }),
            Self::Members(members) => match got {
                Some(Value::Object(object)) => members_match(path, members, object),
                _ => unlike("an object".to_owned()),
            },
            Self::Only(members) => match got {
                Some(Value::Object(object)) => {
                    members_match(path, members, object)?;
                    let known = |name: &str| members.iter().any(|(known, _)| known == name);
                    match object.iter().find(|(name, _)| !known(name)) {
                        Some((name, value)) => Err(mismatch(&below(path, name), "nothing".to_owned(), Some(value))),
                        None => Ok(()),
                    }
                }
                _ => unlike("an object".to_owned()),
            },
            Self::Elements(matchers) => match got {
                Some(Value::Array(items)) if items.len() == matchers.len() => elements(path, items)
                    .zip(matchers)
                    .try_for_each(|((at, item), matcher)| matcher.at(&at, Some(item))),
                _ => unlike(format!("an array of {}", matchers.len())),
            },
            Self::Contains(matcher) => match got {
                Some(Value::Array(items)) => contains(path, matcher, items, got),
                _ => unlike("an array".to_owned()),
            },
            Self::Every(matcher) => match got {
                Some(Value::Array(items)) => {
                    elements(path, items).try_for_each(|(at, item)| matcher.at(&at, Some(item)))
                }
                _ => unlike("an array".to_owned()),
            },
            Self::Count(number, matcher) => match got {
                Some(Value::Array(items)) => {
                    let matching = items.iter().filter(|item| matcher.at("", Some(item)).is_ok()).count();
                    number.at(&format!("{path} (how many match)"), Some(&Value::from(matching)))
                }
                _ => unlike("an array".to_owned()),
            },
            Self::Unordered(matchers) => match got {
                Some(Value::Array(items)) if pairs_up(matchers, items) => Ok(()),
                _ => unlike(format!("an array of {}, each as one of the {0} that are listed", matchers.len())),
            },
            Self::Length(matcher) => match got.and_then(length) {
                Some(length) => matcher.at(&format!("{path} (its length)"), Some(&Value::from(length))),
                None => unlike("something that has a length".to_owned()),
            },
            Self::Any(matchers) => {
                let tried: Vec<_> = matchers.iter().map_while(|matcher| matcher.at(path, got).err()).collect();
                if tried.len() < matchers.len() {
                    return Ok(());
                }
                let words: Vec<_> = tried.into_iter().map(|mismatch| mismatch.expected).collect();
                unlike(format!("one of: {}", words.join("; ")))
            }
            Self::All(matchers) => matchers.iter().try_for_each(|matcher| matcher.at(path, got)),
            Self::Not(matcher) => held(matcher.at(path, got).is_err(), &|| format!("anything but {}", matcher.words())),
            Self::Number(relation, number) => held(
                got.and_then(Value::as_f64)
                    .and_then(|got| got.partial_cmp(number))
                    .is_some_and(|order| relation.holds(order)),
                &|| format!("a number {} {number}", relation.words()),
            ),
            Self::Time(relation, time) => {
                held(timestamp(got).is_some_and(|got| relation.holds(got.cmp(time))), &|| {
                    format!("a time {} {time}", relation.words())
                })
            }
            Self::SecondsAfter(time, at_least, at_most) => held(
                timestamp(got).is_some_and(|got| {
                    let seconds = got.duration_since(*time).as_secs_f64();
                    (*at_least..=*at_most).contains(&seconds)
                }),
                &|| format!("a time {at_least} to {at_most} seconds after {time}"),
            ),
            Self::Timestamp => held(
                text(got).is_some_and(|got| got.ends_with('Z') && !got.contains(".0Z")) && timestamp(got).is_some(),
                &|| "a time in UTC, such as 2026-01-31T10:00:00Z".to_owned(),
            ),
            Self::Id(prefix) => held(text(got).is_some_and(|got| is_id(prefix, got)), &|| {
                format!("`{prefix}_` and 26 characters of Crockford's base32")
            }),
            Self::Digest => {
                held(text(got).is_some_and(is_digest), &|| "`sha256:` and 64 hexadecimal digits".to_owned())
            }
            Self::DigestOf(value) => match digest(value) {
                Ok(digest) => held(text(got) == Some(&digest), &|| format!("{digest}, the digest of {}", brief(value))),
                Err(problem) => unlike(problem),
            },
            Self::Ascending(pointer) => match got {
                Some(Value::Array(items)) => ordered(path, pointer, items),
                _ => unlike("an array".to_owned()),
            },
            Self::Distinct(pointer) => match got {
                Some(Value::Array(items)) => distinct(path, pointer, items),
                _ => unlike("an array".to_owned()),
            },
        }
    }

    /// What is expected, in words, where no value is there to hold it against.
    fn words(&self) -> String {
        match self {
            Self::Present => "something".to_owned(),
            _ => match self.at("", None) {
                Err(mismatch) if !matches!(self, Self::Members(_)) => mismatch.expected,
                _ => "what is described".to_owned(),
            },
        }
    }
}

impl Kind {
    fn is_of(self, value: &Value) -> bool {
        match self {
            Self::String => value.is_string(),
            Self::Integer => value.is_i64() || value.is_u64(),
            Self::Number => value.is_number(),
            Self::Object => value.is_object(),
            Self::Array => value.is_array(),
            Self::Null => value.is_null(),
            Self::Boolean => value.is_boolean(),
        }
    }
}

fn members_match(path: &str, members: &[(String, Matcher)], object: &Map<String, Value>) -> Result<(), Mismatch> {
    members.iter().try_for_each(|(name, matcher)| matcher.at(&below(path, name), object.get(name)))
}

/// One element must match; where only one is there, it says why it does not.
fn contains(path: &str, matcher: &Matcher, items: &[Value], got: Option<&Value>) -> Result<(), Mismatch> {
    let mut nearest = None;
    for (at, item) in elements(path, items) {
        match matcher.at(&at, Some(item)) {
            Ok(()) => return Ok(()),
            Err(mismatch) => nearest = Some(mismatch),
        }
    }
    match nearest {
        Some(mismatch) if items.len() == 1 => Err(mismatch),
        Some(last) => Err(mismatch(path, format!("an element that matches (of the last: {last})"), got)),
        None => Err(mismatch(path, "an element that matches".to_owned(), got)),
    }
}

/// Whether each matcher can be given an element of its own: a matching in a graph of two sides, grown along paths.
fn pairs_up(matchers: &[Matcher], items: &[Value]) -> bool {
    let mut owner: Vec<Option<usize>> = vec![None; items.len()];
    matchers.len() == items.len()
        && (0..matchers.len()).all(|matcher| place(matcher, matchers, items, &mut owner, &mut BTreeSet::new()))
}

fn place(
    index: usize,
    matchers: &[Matcher],
    items: &[Value],
    owner: &mut [Option<usize>],
    seen: &mut BTreeSet<usize>,
) -> bool {
    let Some(matcher) = matchers.get(index) else { return false };
    for (at, item) in items.iter().enumerate() {
        if matcher.at("", Some(item)).is_err() || !seen.insert(at) {
            continue;
        }
        let free = match owner.get(at).copied().flatten() {
            Some(other) => place(other, matchers, items, owner, seen),
            None => true,
        };
        if free && let Some(slot) = owner.get_mut(at) {
            *slot = Some(index);
            return true;
        }
    }
    false
}

fn ordered(path: &str, pointer: &str, items: &[Value]) -> Result<(), Mismatch> {
    for ((at, item), (_, before)) in elements(path, items).skip(1).zip(elements(path, items)) {
        let (part, earlier) = (item.pointer(pointer), before.pointer(pointer));
        if order(part, earlier) != Some(Ordering::Greater) {
            let earlier = earlier.map_or_else(|| "nothing".to_owned(), brief);
            return Err(mismatch(&format!("{at}{pointer}"), format!("more than {earlier} before it"), part));
        }
    }
    Ok(())
}

fn order(one: Option<&Value>, other: Option<&Value>) -> Option<Ordering> {
    match (one?, other?) {
        (Value::String(one), Value::String(other)) => Some(one.cmp(other)),
        (Value::Number(one), Value::Number(other)) => one.as_f64()?.partial_cmp(&other.as_f64()?),
        _ => None,
    }
}

fn distinct(path: &str, pointer: &str, items: &[Value]) -> Result<(), Mismatch> {
    let mut seen = BTreeSet::new();
    for (at, item) in elements(path, items) {
        let part = item.pointer(pointer);
        if !seen.insert(part.map(ToString::to_string)) {
            return Err(mismatch(&format!("{at}{pointer}"), "what stands nowhere before".to_owned(), part));
        }
    }
    Ok(())
}

fn length(value: &Value) -> Option<usize> {
    match value {
        Value::String(text) => Some(text.chars().count()),
        Value::Array(items) => Some(items.len()),
        Value::Object(members) => Some(members.len()),
        _ => None,
    }
}

fn text(got: Option<&Value>) -> Option<&str> {
    got.and_then(Value::as_str)
}

fn timestamp(got: Option<&Value>) -> Option<Timestamp> {
    text(got)?.parse().ok()
}

/// The form of an id (B-2): uppercase, none of I, L, O, U, and not above 128 bits.
#[must_use]
pub fn is_id(prefix: &str, got: &str) -> bool {
    let body = got.strip_prefix(prefix).and_then(|rest| rest.strip_prefix('_')).unwrap_or_default();
    body.len() == 26
        && body.starts_with(|first: char| ('0'..='7').contains(&first))
        && body.chars().all(|one| one.is_ascii_digit() || (one.is_ascii_uppercase() && !"ILOU".contains(one)))
}

fn is_digest(got: &str) -> bool {
    let digits = got.strip_prefix("sha256:").unwrap_or_default();
    digits.len() == 64 && digits.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

fn elements<'items>(path: &str, items: &'items [Value]) -> impl Iterator<Item = (String, &'items Value)> {
    items.iter().enumerate().map(move |(index, item)| (format!("{path}/{index}"), item))
}

fn below(path: &str, name: &str) -> String {
    format!("{path}/{}", name.replace('~', "~0").replace('/', "~1"))
}

fn mismatch(path: &str, expected: String, got: Option<&Value>) -> Mismatch {
    Mismatch { path: path.to_owned(), expected, got: got.map_or_else(|| "nothing".to_owned(), brief) }
}
