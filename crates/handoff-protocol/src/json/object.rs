//! Objects: members found by name in constant time, kept in the order in which they came.

use indexmap::IndexMap;

use super::Json;

/// The members of a JSON object, in order.
///
/// The map is boxed so that a [`Json`] is four words and not ten: most values are no objects.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Object(Box<IndexMap<String, Json>>);

impl Object {
    /// Makes an object without members.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Makes an object with room for that many members.
    #[must_use]
    pub fn with_capacity(members: usize) -> Self {
        Self(Box::new(IndexMap::with_capacity(members)))
    }

    /// Appends a member, or replaces its value where it stands; returns the value that it had.
    pub fn insert(&mut self, name: impl Into<String>, value: impl Into<Json>) -> Option<Json> {
        self.0.insert(name.into(), value.into())
    }

    /// Takes a member out; those behind it move up and keep their order.
    pub fn remove(&mut self, name: &str) -> Option<Json> {
        self.0.shift_remove(name)
    }

    /// Gives the value of a member for change.
    pub fn get_mut(&mut self, name: &str) -> Option<&mut Json> {
        self.0.get_mut(name)
    }

    /// Walks over the members in order, with values that may be changed.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = (&str, &mut Json)> {
        self.0.iter_mut().map(|(name, value)| (name.as_str(), value))
    }

    /// Gives the value of a member.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Json> {
        self.0.get(name)
    }

    /// Gives the value of a member and its place in the order.
    pub(super) fn get_full(&self, name: &str) -> Option<(usize, &Json)> {
        self.0.get_full(name).map(|(place, _, value)| (place, value))
    }

    /// Tells whether there is a member of that name.
    #[must_use]
    pub fn contains_key(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    /// Walks over the members in order.
    #[must_use]
    pub fn iter(&self) -> Iter<'_> {
        Iter(self.0.iter())
    }

    /// Walks over the names in order.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// Counts the members.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Tells whether there are no members.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl FromIterator<(String, Json)> for Object {
    fn from_iter<I: IntoIterator<Item = (String, Json)>>(members: I) -> Self {
        Self(Box::new(members.into_iter().collect()))
    }
}

impl IntoIterator for Object {
    type Item = (String, Json);
    type IntoIter = IntoIter;

    fn into_iter(self) -> IntoIter {
        IntoIter(self.0.into_iter())
    }
}

impl<'a> IntoIterator for &'a Object {
    type Item = (&'a str, &'a Json);
    type IntoIter = Iter<'a>;

    fn into_iter(self) -> Iter<'a> {
        self.iter()
    }
}

/// The members of a borrowed [`Object`], in order.
#[derive(Clone, Debug)]
pub struct Iter<'a>(indexmap::map::Iter<'a, String, Json>);

impl<'a> Iterator for Iter<'a> {
    type Item = (&'a str, &'a Json);

    fn next(&mut self) -> Option<Self::Item> {
        self.0.next().map(|(name, value)| (name.as_str(), value))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.size_hint()
    }
}

impl ExactSizeIterator for Iter<'_> {}

/// The members of an [`Object`] that was taken apart, in order.
#[derive(Debug)]
pub struct IntoIter(indexmap::map::IntoIter<String, Json>);

impl Iterator for IntoIter {
    type Item = (String, Json);

    fn next(&mut self) -> Option<Self::Item> {
        self.0.next()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.size_hint()
    }
}

impl ExactSizeIterator for IntoIter {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replacing_keeps_the_place_and_removing_keeps_the_order() {
        let mut object = Object::new();
        object.insert("a", 1);
        object.insert("b", 2);
        object.insert("c", 3);
        object.insert("d", 5);
        assert_eq!(object.insert("a", 4), Some(Json::from(1)));
        assert_eq!(object.remove("b"), Some(Json::from(2)));
        assert_eq!(object.remove("b"), None);
        assert_eq!(object.keys().collect::<Vec<_>>(), ["a", "c", "d"]);
        assert_eq!(Json::from(object).to_text(), r#"{"a":4,"c":3,"d":5}"#);
    }
}
