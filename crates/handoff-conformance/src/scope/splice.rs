//! A text taken apart into what stands for itself and the variables in it.

use std::collections::BTreeSet;

use serde_json::Value;

/// A piece of a text.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Piece<'text> {
    /// Stands for itself.
    Text(&'text str),
    /// The name between `${` and `}`.
    Variable(&'text str),
}

/// What stands before a name whose value is meant in small letters.
pub const LOWER: &str = "lower:";

/// The name of the variable that a part is of: what stands before the first `/`.
#[must_use]
pub fn base(name: &str) -> &str {
    let name = name.strip_prefix(LOWER).unwrap_or(name);
    name.split_once('/').map_or(name, |(base, _)| base)
}

/// The names of all variables in a template, without the parts of them that are meant.
#[must_use]
pub fn names(template: &Value) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    collect(template, &mut found);
    found
}

fn collect(template: &Value, found: &mut BTreeSet<String>) {
    let mut text = |text: &str| {
        let pieces = pieces(text).unwrap_or_default();
        found.extend(pieces.into_iter().filter_map(|piece| match piece {
            Piece::Variable(name) => Some(base(name).to_owned()),
            Piece::Text(_) => None,
        }));
    };
    match template {
        Value::String(template) => text(template),
        Value::Array(items) => items.iter().for_each(|item| collect(item, found)),
        Value::Object(members) => {
            members.keys().for_each(|name| text(name));
            members.iter().filter(|(name, _)| *name != "$literal").for_each(|(_, value)| collect(value, found));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Takes a text apart. `$${` stands for a `${` that begins no variable.
///
/// # Errors
///
/// A `${` is never closed.
pub fn pieces(text: &str) -> Result<Vec<Piece<'_>>, String> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("${") {
        if let Some(literal) = before.strip_suffix('$') {
            found.extend([Piece::Text(literal), Piece::Text("${")]);
            rest = after;
            continue;
        }
        if !before.is_empty() {
            found.push(Piece::Text(before));
        }
        let Some((name, behind)) = after.split_once('}') else {
            return Err(format!("`${{{after}` is never closed by a `}}`"));
        };
        found.push(Piece::Variable(name));
        rest = behind;
    }
    if !rest.is_empty() {
        found.push(Piece::Text(rest));
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_variables_of_a_template_are_named() {
        let template = json!({"${a}": ["x${b/c/0}y", {"$literal": "${d}"}], "e": 1});
        assert_eq!(names(&template).into_iter().collect::<Vec<_>>(), ["a", "b"]);
    }

    #[test]
    fn a_text_is_taken_apart() {
        use Piece::{Text, Variable};
        assert_eq!(pieces("a ${b}${c}d").unwrap(), [Text("a "), Variable("b"), Variable("c"), Text("d")]);
        assert_eq!(pieces("${a}").unwrap(), [Variable("a")]);
        assert_eq!(pieces("$${a} $5").unwrap(), [Text(""), Text("${"), Text("a} $5")]);
        assert_eq!(pieces("").unwrap(), []);
        pieces("a ${b").unwrap_err();
    }
}
