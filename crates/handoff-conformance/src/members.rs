//! Reading the members of an object by name, with errors that name the place, and none left over.

use std::{cell::RefCell, collections::BTreeSet, fmt, time::Duration};

use serde_json::{Map, Value};

/// What is wrong with a file of the suite, and where in it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Fault {
    /// The path of the member, `scenarios[0].steps[2].expect`; empty for the whole document.
    pub member: String,
    /// What is wrong there, as the end of a sentence.
    pub problem: String,
}

impl Fault {
    /// Something is wrong at a place.
    pub fn new(member: impl Into<String>, problem: impl Into<String>) -> Self {
        Self { member: member.into(), problem: problem.into() }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.member.as_str() {
            "" => write!(formatter, "the document {}", self.problem),
            member => write!(formatter, "`{member}` {}", self.problem),
        }
    }
}

/// A value and where it stands.
#[derive(Clone, Debug)]
pub struct Place<'value> {
    /// The value.
    pub value: &'value Value,
    /// Its path.
    pub path: String,
}

/// The members of one object. Those that nobody asked for are a fault when it is [finished](Members::finish).
#[derive(Debug)]
pub struct Members<'value> {
    path: String,
    object: &'value Map<String, Value>,
    taken: RefCell<BTreeSet<&'value str>>,
}

impl<'value> Place<'value> {
    /// The whole of a document.
    #[must_use]
    pub fn whole(value: &'value Value) -> Self {
        Self { value, path: String::new() }
    }

    /// This must be an object.
    ///
    /// # Errors
    ///
    /// It is not.
    pub fn members(&self) -> Result<Members<'value>, Fault> {
        match self.value.as_object() {
            Some(object) => Ok(Members { path: self.path.clone(), object, taken: RefCell::default() }),
            None => Err(self.fault("must be an object")),
        }
    }

    /// This must be an array.
    ///
    /// # Errors
    ///
    /// It is not.
    pub fn elements(&self) -> Result<Vec<Self>, Fault> {
        let Some(array) = self.value.as_array() else { return Err(self.fault("must be an array")) };
        let at = |(index, value)| Self { value, path: format!("{}[{index}]", self.path) };
        Ok(array.iter().enumerate().map(at).collect())
    }

    /// This must be a string.
    ///
    /// # Errors
    ///
    /// It is not.
    pub fn string(&self) -> Result<String, Fault> {
        self.value.as_str().map(str::to_owned).ok_or_else(|| self.fault("must be a string"))
    }

    /// This must be an array of strings.
    ///
    /// # Errors
    ///
    /// It is not.
    pub fn strings(&self) -> Result<Vec<String>, Fault> {
        self.elements()?.iter().map(Self::string).collect()
    }

    /// This must be a non-negative integer.
    ///
    /// # Errors
    ///
    /// It is not.
    pub fn integer(&self) -> Result<u64, Fault> {
        self.value.as_u64().ok_or_else(|| self.fault("must be an integer, 0 or more"))
    }

    /// This must be a time in the suite's spelling: `300ms`, `20s`, `2m`.
    ///
    /// # Errors
    ///
    /// It is not.
    pub fn duration(&self) -> Result<Duration, Fault> {
        duration(&self.string()?).ok_or_else(|| self.fault("must be a time such as `300ms`, `20s` or `2m`"))
    }

    /// Something is wrong here.
    #[must_use]
    pub fn fault(&self, problem: impl Into<String>) -> Fault {
        Fault::new(self.path.clone(), problem)
    }
}

impl<'value> Members<'value> {
    /// The member of a name, if it is there.
    pub fn optional(&self, name: &str) -> Option<Place<'value>> {
        let (name, value) = self.object.get_key_value(name)?;
        self.taken.borrow_mut().insert(name);
        Some(Place { value, path: self.path_of(name) })
    }

    /// The member of a name, which must be there.
    ///
    /// # Errors
    ///
    /// It is not.
    pub fn required(&self, name: &str) -> Result<Place<'value>, Fault> {
        self.optional(name).ok_or_else(|| Fault::new(self.path_of(name), "is missing"))
    }

    /// Every member, in the order of their names.
    pub fn all(&self) -> Vec<(&'value str, Place<'value>)> {
        self.taken.borrow_mut().extend(self.object.keys().map(String::as_str));
        self.object.iter().map(|(name, value)| (name.as_str(), Place { value, path: self.path_of(name) })).collect()
    }

    /// The names of all members.
    pub fn names(&self) -> impl Iterator<Item = &'value str> + use<'value> {
        self.object.keys().map(String::as_str)
    }

    /// Ends the reading.
    ///
    /// # Errors
    ///
    /// A member is there that nobody asked for.
    pub fn finish(self) -> Result<(), Fault> {
        let taken = self.taken.borrow();
        match self.object.keys().find(|name| !taken.contains(name.as_str())) {
            Some(name) => Err(Fault::new(self.path_of(name), "is not a member that is known here")),
            None => Ok(()),
        }
    }

    /// Something is wrong with this object.
    pub fn fault(&self, problem: impl Into<String>) -> Fault {
        Fault::new(self.path.clone(), problem)
    }

    fn path_of(&self, name: &str) -> String {
        if self.path.is_empty() { name.to_owned() } else { format!("{}.{name}", self.path) }
    }
}

/// Reads a time in the suite's spelling.
fn duration(text: &str) -> Option<Duration> {
    let digits = text.trim_end_matches(|unit: char| unit.is_ascii_alphabetic());
    let number: u64 = digits.parse().ok()?;
    match text.strip_prefix(digits)? {
        "ms" => Some(Duration::from_millis(number)),
        "s" => Some(Duration::from_secs(number)),
        "m" => Some(Duration::from_secs(number.checked_mul(60)?)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_member_that_nobody_asked_for_is_named_with_its_path() {
        let value = json!({"a": {"b": 1, "c": 2}});
        let inner = Place::whole(&value).members().unwrap().required("a").unwrap().members().unwrap();
        inner.required("b").unwrap();
        assert_eq!(inner.finish().unwrap_err().to_string(), "`a.c` is not a member that is known here");
    }

    #[test]
    fn times_are_read() {
        assert_eq!(duration("300ms"), Some(Duration::from_millis(300)));
        assert_eq!(duration("2m"), Some(Duration::from_secs(120)));
        for text in ["", "s", "1", "1.5s", "1h", "-1s"] {
            assert_eq!(duration(text), None, "{text}");
        }
    }
}
