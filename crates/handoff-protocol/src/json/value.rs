//! The value itself, how to look into it, and how to build it from Rust values.

use super::{Number, Object};

/// One JSON value, with the order of members and the text of numbers kept.
///
/// Equality is structural: the order of members does not count, the spelling of numbers does.
///
/// ```
/// use handoff_protocol::json::Json;
///
/// let value = Json::object([("title", "Ship it?".into()), ("count", 3.into())]);
/// assert_eq!(value.to_text(), r#"{"title":"Ship it?","count":3}"#);
/// ```
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub enum Json {
    /// `null`.
    #[default]
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number, as it was spelled.
    Number(Number),
    /// A string, unescaped.
    String(String),
    /// An array.
    Array(Vec<Json>),
    /// An object.
    Object(Object),
}

impl Json {
    /// Builds an object from pairs, in their order; of two equal names the later wins.
    pub fn object<K: Into<String>, const N: usize>(members: [(K, Self); N]) -> Self {
        Self::Object(members.into_iter().map(|(name, value)| (name.into(), value)).collect())
    }

    /// Gives the members for change, if this is an object.
    pub fn as_object_mut(&mut self) -> Option<&mut Object> {
        match self {
            Self::Object(object) => Some(object),
            _ => None,
        }
    }

    /// How deep its arrays and objects are nested: 0 for what is neither.
    #[must_use]
    pub fn depth(&self) -> usize {
        let deepest = match self {
            Self::Array(items) => items.iter().map(Self::depth).max(),
            Self::Object(object) => object.iter().map(|(_, value)| value.depth()).max(),
            _ => return 0,
        };
        deepest.unwrap_or(0).saturating_add(1)
    }

    /// Tells whether this is `null`.
    #[must_use]
    pub fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }

    /// Gives the text, if this is a string.
    #[must_use]
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::String(text) => Some(text),
            _ => None,
        }
    }

    /// Gives the truth value, if this is `true` or `false`.
    #[must_use]
    pub fn as_bool(&self) -> Option<bool> {
        match self {
            Self::Bool(truth) => Some(*truth),
            _ => None,
        }
    }

    /// Gives the number, if this is one spelled as a plain integer that fits 64 bits (see [`Number::as_i64`]).
    #[must_use]
    pub fn as_i64(&self) -> Option<i64> {
        self.as_number().and_then(Number::as_i64)
    }

    /// Gives the number, if this is one.
    #[must_use]
    pub fn as_number(&self) -> Option<&Number> {
        match self {
            Self::Number(number) => Some(number),
            _ => None,
        }
    }

    /// Gives the items, if this is an array.
    #[must_use]
    pub fn as_array(&self) -> Option<&[Self]> {
        match self {
            Self::Array(items) => Some(items),
            _ => None,
        }
    }

    /// Gives the members, if this is an object.
    #[must_use]
    pub fn as_object(&self) -> Option<&Object> {
        match self {
            Self::Object(object) => Some(object),
            _ => None,
        }
    }

    /// Gives the member of that name, if this is an object that has it.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Self> {
        self.as_object().and_then(|object| object.get(name))
    }
}

impl From<bool> for Json {
    fn from(truth: bool) -> Self {
        Self::Bool(truth)
    }
}

impl From<&str> for Json {
    fn from(text: &str) -> Self {
        Self::String(text.to_owned())
    }
}

impl From<String> for Json {
    fn from(text: String) -> Self {
        Self::String(text)
    }
}

impl From<i32> for Json {
    fn from(integer: i32) -> Self {
        Self::Number(integer.into())
    }
}

impl From<u32> for Json {
    fn from(integer: u32) -> Self {
        Self::Number(integer.into())
    }
}

impl From<i64> for Json {
    fn from(integer: i64) -> Self {
        Self::Number(integer.into())
    }
}

impl From<u64> for Json {
    fn from(integer: u64) -> Self {
        Self::Number(integer.into())
    }
}

impl From<usize> for Json {
    fn from(integer: usize) -> Self {
        Self::Number(integer.into())
    }
}

impl From<Number> for Json {
    fn from(number: Number) -> Self {
        Self::Number(number)
    }
}

impl From<Vec<Self>> for Json {
    fn from(items: Vec<Self>) -> Self {
        Self::Array(items)
    }
}

impl From<Object> for Json {
    fn from(object: Object) -> Self {
        Self::Object(object)
    }
}

impl<T: Into<Self>> From<Option<T>> for Json {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equality_ignores_member_order_but_not_the_spelling_of_numbers() {
        let forward = Json::object([("a", 1.into()), ("b", 2.into())]);
        let backward = Json::object([("b", 2.into()), ("a", 1.into())]);
        assert_eq!(forward, backward);
        assert_ne!(super::super::read_str("1.0").unwrap(), Json::from(1));
    }

    #[test]
    fn accessors_answer_only_for_their_own_kind() {
        let value = Json::object([("flag", true.into()), ("name", "n".into()), ("none", Json::from(None::<i64>))]);
        assert_eq!(value.get("flag").and_then(Json::as_bool), Some(true));
        assert_eq!(value.get("flag").and_then(Json::as_str), None);
        assert_eq!(value.get("name").and_then(Json::as_str), Some("n"));
        assert!(value.get("none").is_some_and(Json::is_null));
        assert_eq!(value.get("absent"), None);
        assert_eq!(Json::from(vec![Json::Null]).get("flag"), None);
    }

    #[test]
    fn a_value_is_four_words() {
        assert_eq!(size_of::<Json>(), 4 * size_of::<usize>());
    }
}
