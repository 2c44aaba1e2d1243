//! Objects: members found by name, kept in the order in which they came.

use std::fmt;

use indexmap::IndexMap;

use super::Json;

/// How many members are found by looking at each: for so few that is faster than hashing, and takes less room.
const FEW: usize = 32;

/// The members of a JSON object, in order.
///
/// Equality is that of the members, whatever their order.
#[derive(Clone)]
pub struct Object(Members);

#[derive(Clone)]
enum Members {
    // INVARIANT: at most FEW members, no two of one name.
    Few(Vec<(String, Json)>),
    /// However many a stranger sends, finding one takes the same time. Boxed, so that a [`Json`] is four words.
    Many(Box<IndexMap<String, Json>>),
}

impl Object {
    /// Makes an object without members.
    #[must_use]
    pub fn new() -> Self {
        Self(Members::Few(Vec::new()))
    }

    /// Makes an object with room for that many members.
    #[must_use]
    pub fn with_capacity(members: usize) -> Self {
        Self(if members > FEW {
            Members::Many(Box::new(IndexMap::with_capacity(members)))
        } else {
            Members::Few(Vec::with_capacity(members))
        })
    }

    /// Appends a member, or replaces its value where it stands; returns the value that it had.
    pub fn insert(&mut self, name: impl Into<String>, value: impl Into<Json>) -> Option<Json> {
        let (name, value) = (name.into(), value.into());
        match &mut self.0 {
            Members::Few(members) => {
                if let Some((_, kept)) = members.iter_mut().find(|(kept, _)| *kept == name) {
                    return Some(std::mem::replace(kept, value));
                }
                if members.len() < FEW {
                    members.push((name, value));
                } else {
                    let mut many: IndexMap<_, _> = std::mem::take(members).into_iter().collect();
                    many.insert(name, value);
                    self.0 = Members::Many(Box::new(many));
                }
                None
            }
            Members::Many(members) => members.insert(name, value),
        }
    }

    /// Takes a member out; those behind it move up and keep their order.
    pub fn remove(&mut self, name: &str) -> Option<Json> {
        match &mut self.0 {
            Members::Few(members) => {
                let place = members.iter().position(|(kept, _)| kept == name)?;
                Some(members.remove(place).1)
            }
            Members::Many(members) => members.shift_remove(name),
        }
    }

    /// Gives the value of a member for change.
    pub fn get_mut(&mut self, name: &str) -> Option<&mut Json> {
        match &mut self.0 {
            Members::Few(members) => members.iter_mut().find(|(kept, _)| kept == name).map(|(_, value)| value),
            Members::Many(members) => members.get_mut(name),
        }
    }

    /// Walks over the members in order, with values that may be changed.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = (&str, &mut Json)> {
        let (few, many) = match &mut self.0 {
            Members::Few(members) => (Some(members.iter_mut().map(|(name, value)| (name.as_str(), value))), None),
            Members::Many(members) => (None, Some(members.iter_mut().map(|(name, value)| (name.as_str(), value)))),
        };
        few.into_iter().flatten().chain(many.into_iter().flatten())
    }

    /// Gives the value of a member.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Json> {
        self.get_full(name).map(|(_, value)| value)
    }

    /// Gives the value of a member and its place in the order.
    pub(super) fn get_full(&self, name: &str) -> Option<(usize, &Json)> {
        match &self.0 {
            Members::Few(members) => {
                let mut members = members.iter().enumerate();
                members.find(|(_, (kept, _))| kept == name).map(|(place, (_, value))| (place, value))
            }
            Members::Many(members) => members.get_full(name).map(|(place, _, value)| (place, value)),
        }
    }

    /// Tells whether there is a member of that name.
    #[must_use]
    pub fn contains_key(&self, name: &str) -> bool {
        self.get_full(name).is_some()
    }

    /// Walks over the members in order.
    #[must_use]
    pub fn iter(&self) -> Iter<'_> {
        Iter(match &self.0 {
            Members::Few(members) => Walk::Few(members.iter()),
            Members::Many(members) => Walk::Many(members.iter()),
        })
    }

    /// Walks over the names in order.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        self.iter().map(|(name, _)| name)
    }

    /// Counts the members.
    #[must_use]
    pub fn len(&self) -> usize {
        match &self.0 {
            Members::Few(members) => members.len(),
            Members::Many(members) => members.len(),
        }
    }

    /// Tells whether there are no members.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl Default for Object {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Object {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self).finish()
    }
}

impl PartialEq for Object {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && self.iter().all(|(name, value)| other.get(name) == Some(value))
    }
}

impl Eq for Object {}

impl FromIterator<(String, Json)> for Object {
    fn from_iter<I: IntoIterator<Item = (String, Json)>>(members: I) -> Self {
        let members = members.into_iter();
        let mut object = Self::with_capacity(members.size_hint().0);
        members.for_each(|(name, value)| {
            object.insert(name, value);
        });
        object
    }
}

impl IntoIterator for Object {
    type Item = (String, Json);
    type IntoIter = IntoIter;

    fn into_iter(self) -> IntoIter {
        IntoIter(match self.0 {
            Members::Few(members) => Walk::Few(members.into_iter()),
            Members::Many(members) => Walk::Many(members.into_iter()),
        })
    }
}

impl<'a> IntoIterator for &'a Object {
    type Item = (&'a str, &'a Json);
    type IntoIter = Iter<'a>;

    fn into_iter(self) -> Iter<'a> {
        self.iter()
    }
}

/// A walk over few members or many.
#[derive(Clone, Debug)]
enum Walk<F, M> {
    Few(F),
    Many(M),
}

/// The members of a borrowed [`Object`], in order.
#[derive(Clone, Debug)]
pub struct Iter<'a>(Walk<std::slice::Iter<'a, (String, Json)>, indexmap::map::Iter<'a, String, Json>>);

impl<'a> Iterator for Iter<'a> {
    type Item = (&'a str, &'a Json);

    fn next(&mut self) -> Option<Self::Item> {
        match &mut self.0 {
            Walk::Few(members) => members.next().map(|(name, value)| (name.as_str(), value)),
            Walk::Many(members) => members.next().map(|(name, value)| (name.as_str(), value)),
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        match &self.0 {
            Walk::Few(members) => members.size_hint(),
            Walk::Many(members) => members.size_hint(),
        }
    }
}

impl ExactSizeIterator for Iter<'_> {}

/// The members of an [`Object`] that was taken apart, in order.
#[derive(Debug)]
pub struct IntoIter(Walk<std::vec::IntoIter<(String, Json)>, indexmap::map::IntoIter<String, Json>>);

impl Iterator for IntoIter {
    type Item = (String, Json);

    fn next(&mut self) -> Option<Self::Item> {
        match &mut self.0 {
            Walk::Few(members) => members.next(),
            Walk::Many(members) => members.next(),
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        match &self.0 {
            Walk::Few(members) => members.size_hint(),
            Walk::Many(members) => members.size_hint(),
        }
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

    #[test]
    fn few_members_and_many_behave_alike() {
        for members in [FEW - 1, FEW, FEW + 1, 3 * FEW] {
            let mut object = Object::new();
            for place in 0..members {
                assert_eq!(object.insert(place.to_string(), place), None);
            }
            assert_eq!(object.len(), members);
            assert_eq!(object.insert("3", 33), Some(Json::from(3)), "in its place");
            assert_eq!(object.get_full("3"), Some((3, &Json::from(33))));
            assert_eq!(object.remove("0"), Some(Json::from(0)));
            assert!(!object.contains_key("0"));
            if let Some(value) = object.get_mut("5") {
                *value = Json::Null;
            }
            object.iter_mut().filter(|(name, _)| *name == "6").for_each(|(_, value)| *value = Json::Null);
            assert_eq!((object.get("5"), object.get("6")), (Some(&Json::Null), Some(&Json::Null)));
            assert_eq!(object.iter().len(), members - 1);
            let names: Vec<_> = (1..members).map(|place| place.to_string()).collect();
            assert_eq!(object.keys().collect::<Vec<_>>(), names);
            let backward: Object = object.clone().into_iter().collect::<Vec<_>>().into_iter().rev().collect();
            assert_eq!(backward, object, "the order does not count");
            assert_ne!(backward, Object::new());
            assert_eq!(object.into_iter().len(), members - 1);
        }
    }

    #[test]
    fn an_object_that_grew_equals_one_that_shrank() {
        let grown: Object = (0..FEW).map(|place| (place.to_string(), Json::from(place))).collect();
        let mut shrunk: Object = (0..=FEW).map(|place| (place.to_string(), Json::from(place))).collect();
        assert_ne!(grown, shrunk);
        shrunk.remove(&FEW.to_string());
        assert_eq!(grown, shrunk);
        assert_eq!(shrunk, grown);
    }
}
