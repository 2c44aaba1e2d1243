//! Directives in bodies: an object with one member whose name begins with `$`.
//!
//! | directive | comes to |
//! |---|---|
//! | `{"$merge": [A, B, …]}` | A with the members of B laid over it, at any depth, and so on; `{"$remove": true}` takes one away |
//! | `{"$repeat": {"count": n, "of": T}}` | an array of n times T, in which `${index}` counts from 1 |
//! | `{"$digest": V}` | `sha256:` and the digest of V's canonical form |
//! | `{"$literal": V}` | V, untouched |

use serde_json::{Map, Value, json};

use super::Scope;
use crate::json::digest;

/// More than any limit of the protocol.
const MOST: u64 = 10_000;

/// A directive and its argument.
pub(super) enum Directive<'template> {
    Merge(&'template Value),
    Repeat(&'template Value),
    Digest(&'template Value),
    Literal(&'template Value),
    Remove,
}

/// The directive that an object is, if it is one.
pub(super) fn of(members: &Map<String, Value>) -> Option<Directive<'_>> {
    let (name, argument) = members.iter().next().filter(|_| members.len() == 1)?;
    match name.as_str() {
        "$merge" => Some(Directive::Merge(argument)),
        "$repeat" => Some(Directive::Repeat(argument)),
        "$digest" => Some(Directive::Digest(argument)),
        "$literal" => Some(Directive::Literal(argument)),
        "$remove" => Some(Directive::Remove),
        _ => None,
    }
}

impl Directive<'_> {
    pub(super) fn carry_out(&self, scope: &Scope) -> Result<Value, String> {
        match self {
            Self::Merge(argument) => {
                let parts = argument.as_array().ok_or("`$merge` needs an array")?;
                let mut merged = Value::Null;
                for part in parts {
                    lay_over(&mut merged, scope.value(part)?);
                }
                Ok(merged)
            }
            Self::Repeat(argument) => {
                let count = scope.value(argument.get("count").unwrap_or(&Value::Null))?;
                let count = count.as_u64().filter(|count| *count <= MOST);
                let (Some(count), Some(template)) = (count, argument.get("of")) else {
                    return Err(format!("`$repeat` needs a `count` of at most {MOST} and an `of`"));
                };
                let mut inner = scope.clone();
                let items = (1..=count).map(|index| {
                    inner.set("index", json!(index));
                    inner.value(template)
                });
                items.collect::<Result<_, _>>().map(Value::Array)
            }
            Self::Digest(argument) => Ok(Value::String(digest(&scope.value(argument)?)?)),
            Self::Literal(argument) => Ok((*argument).clone()),
            // Kept for the merge around it.
            Self::Remove => Ok(json!({ "$remove": true })),
        }
    }
}

/// Lays one value over another: members of objects one by one, everything else as a whole.
fn lay_over(under: &mut Value, over: Value) {
    match (under, over) {
        (Value::Object(under), Value::Object(over)) => {
            for (name, value) in over {
                if matches!(&value, Value::Object(members) if matches!(of(members), Some(Directive::Remove))) {
                    under.remove(&name);
                } else {
                    lay_over(under.entry(name).or_insert(Value::Null), value);
                }
            }
        }
        (under, over) => *under = over,
    }
}
