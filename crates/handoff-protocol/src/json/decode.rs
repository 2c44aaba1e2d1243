//! Typed reading of an object that a client sent.

use std::cell::{Cell, RefCell};

use super::path::is_showable;
use super::{ArrayReader, DecodeError, Json, Object, Path, ValueReader};

/// An object and where it stands, read member by member.
///
/// Each member that was asked for is marked; [`finish`](Self::finish) refuses the first that nobody asked for. A
/// member whose value is `null` counts as absent, except for [`member`](Self::member). Paths are chains of
/// borrowed steps, so nothing is allocated unless something is wrong.
///
/// ```
/// use handoff_protocol::json::{DecodeError, Json, ObjectReader, read_str};
///
/// fn title(body: &Json) -> Result<String, DecodeError> {
///     let body = ObjectReader::new(body, "")?;
///     let prompt = body.object("prompt")?;
///     let title = prompt.text("title", 1, 200)?.to_owned();
///     prompt.finish()?;
///     body.finish()?;
///     Ok(title)
/// }
///
/// let refused = title(&read_str(r#"{"prompt":{"title":""}}"#).unwrap()).unwrap_err();
/// assert_eq!(refused.to_string(), "`prompt.title` must be 1 to 200 characters");
/// ```
#[derive(Debug)]
pub struct ObjectReader<'v, 'p> {
    object: &'v Object,
    path: Path<'p>,
    read: Marks,
}

impl<'v, 'p> ObjectReader<'v, 'p> {
    /// Begins to read an object.
    ///
    /// # Errors
    ///
    /// If the value is no object.
    pub fn new(json: &'v Json, path: impl Into<Path<'p>>) -> Result<Self, DecodeError> {
        let path = path.into();
        match json {
            Json::Object(object) => Ok(Self { object, path, read: Marks::default() }),
            _ => Err(DecodeError::at(path, "must be an object")),
        }
    }

    /// Gives the members as they are, marking none.
    #[must_use]
    pub fn json(&self) -> &'v Object {
        self.object
    }

    /// Gives the place of the object.
    #[must_use]
    pub fn path(&self) -> Path<'p> {
        self.path
    }

    /// Makes an error about a member, from the rest of a sentence: `must be in the future`.
    #[must_use]
    pub fn error(&self, name: &str, problem: impl Into<String>) -> DecodeError {
        DecodeError::at(self.path.key(name), problem)
    }

    /// Gives a member even if it is `null`.
    pub fn member(&self, name: &str) -> Option<&'v Json> {
        let (place, value) = self.object.get_full(name)?;
        self.read.set(place);
        Some(value)
    }

    /// Gives a member that may be absent.
    pub fn optional(&self, name: &str) -> Option<&'v Json> {
        self.member(name).filter(|value| !value.is_null())
    }

    /// Gives a member that must be there.
    ///
    /// # Errors
    ///
    /// If it is absent or `null`.
    pub fn required(&self, name: &str) -> Result<&'v Json, DecodeError> {
        self.optional(name).ok_or_else(|| self.error(name, "is required"))
    }

    /// Gives a member that must be there, with its place.
    ///
    /// # Errors
    ///
    /// If it is absent or `null`.
    pub fn value<'s>(&'s self, name: &'s str) -> Result<ValueReader<'v, 's>, DecodeError> {
        Ok(ValueReader::new(self.required(name)?, self.path.key(name)))
    }

    /// Gives a member that may be absent, with its place.
    pub fn optional_value<'s>(&'s self, name: &'s str) -> Option<ValueReader<'v, 's>> {
        Some(ValueReader::new(self.optional(name)?, self.path.key(name)))
    }

    /// Reads a string.
    ///
    /// # Errors
    ///
    /// If the member is absent or anything else.
    pub fn string(&self, name: &str) -> Result<&'v str, DecodeError> {
        self.value(name)?.string()
    }

    /// Reads a string that may be absent.
    ///
    /// # Errors
    ///
    /// If the member is anything else.
    pub fn optional_string(&self, name: &str) -> Result<Option<&'v str>, DecodeError> {
        self.optional_value(name).map(|value| value.string()).transpose()
    }

    /// Reads a string of so many characters, the bounds included.
    ///
    /// # Errors
    ///
    /// If the member is absent, no string, or too short or too long.
    pub fn text(&self, name: &str, min_chars: usize, max_chars: usize) -> Result<&'v str, DecodeError> {
        self.value(name)?.text(min_chars, max_chars)
    }

    /// Reads a string of so many characters that may be absent.
    ///
    /// # Errors
    ///
    /// If the member is no string, or too short or too long.
    pub fn optional_text(
        &self,
        name: &str,
        min_chars: usize,
        max_chars: usize,
    ) -> Result<Option<&'v str>, DecodeError> {
        self.optional_value(name).map(|value| value.text(min_chars, max_chars)).transpose()
    }

    /// Reads `true` or `false`.
    ///
    /// # Errors
    ///
    /// If the member is absent or anything else.
    pub fn boolean(&self, name: &str) -> Result<bool, DecodeError> {
        self.value(name)?.boolean()
    }

    /// Reads `true` or `false`, or nothing.
    ///
    /// # Errors
    ///
    /// If the member is anything else.
    pub fn optional_boolean(&self, name: &str) -> Result<Option<bool>, DecodeError> {
        self.optional_value(name).map(|value| value.boolean()).transpose()
    }

    /// Reads an integer within +/-(2^53 - 1), whatever its spelling (N-1, N-2).
    ///
    /// # Errors
    ///
    /// If the member is absent, no number, has a fraction, or is beyond the range.
    pub fn integer(&self, name: &str) -> Result<i64, DecodeError> {
        self.value(name)?.integer()
    }

    /// Reads an integer that may be absent.
    ///
    /// # Errors
    ///
    /// If the member is no number, has a fraction, or is beyond the range.
    pub fn optional_integer(&self, name: &str) -> Result<Option<i64>, DecodeError> {
        self.optional_value(name).map(|value| value.integer()).transpose()
    }

    /// Reads one word of a closed list and gives what it stands for.
    ///
    /// # Errors
    ///
    /// If the member is absent, no string, or none of the words.
    pub fn choice<T: Clone>(&self, name: &str, words: &[(&str, T)]) -> Result<T, DecodeError> {
        self.value(name)?.choice(words)
    }

    /// Reads one word of a closed list, or nothing.
    ///
    /// # Errors
    ///
    /// If the member is no string, or none of the words.
    pub fn optional_choice<T: Clone>(&self, name: &str, words: &[(&str, T)]) -> Result<Option<T>, DecodeError> {
        self.optional_value(name).map(|value| value.choice(words)).transpose()
    }

    /// Reads an array.
    ///
    /// # Errors
    ///
    /// If the member is absent or anything else.
    pub fn array<'s>(&'s self, name: &'s str) -> Result<ArrayReader<'v, 's>, DecodeError> {
        self.value(name)?.array()
    }

    /// Reads an array that may be absent.
    ///
    /// # Errors
    ///
    /// If the member is anything else.
    pub fn optional_array<'s>(&'s self, name: &'s str) -> Result<Option<ArrayReader<'v, 's>>, DecodeError> {
        self.optional_value(name).map(|value| value.array()).transpose()
    }

    /// Reads an object; its own members are for the reader that comes back to finish.
    ///
    /// # Errors
    ///
    /// If the member is absent or anything else.
    pub fn object<'s>(&'s self, name: &'s str) -> Result<ObjectReader<'v, 's>, DecodeError> {
        self.value(name)?.object()
    }

    /// Reads an object that may be absent.
    ///
    /// # Errors
    ///
    /// If the member is anything else.
    pub fn optional_object<'s>(&'s self, name: &'s str) -> Result<Option<ObjectReader<'v, 's>>, DecodeError> {
        self.optional_value(name).map(|value| value.object()).transpose()
    }

    /// Ends the reading: every member must have been asked for.
    ///
    /// # Errors
    ///
    /// Names the first member that nobody asked for, unless its name is long or unprintable.
    pub fn finish(self) -> Result<(), DecodeError> {
        #[cfg(feature = "planted-faults")]
        if crate::planted::Fault::UnknownMembersAccepted.is_planted() {
            return Ok(());
        }
        match self.object.keys().enumerate().find(|(place, _)| !self.read.has(*place)) {
            None => Ok(()),
            Some((_, name)) if is_showable(name) => Err(self.error(name, "is not a known member")),
            Some(_) => Err(DecodeError::at(self.path, "has a member with an unprintable or long name")),
        }
    }
}

/// Which members were asked for, by place; objects of known shape stay within the bits.
#[derive(Debug, Default)]
struct Marks {
    bits: Cell<u128>,
    beyond: RefCell<Vec<usize>>,
}

impl Marks {
    fn set(&self, place: usize) {
        match bit(place) {
            Some(bit) => self.bits.set(self.bits.get() | bit),
            None => self.beyond.borrow_mut().push(place),
        }
    }

    fn has(&self, place: usize) -> bool {
        match bit(place) {
            Some(bit) => self.bits.get() & bit != 0,
            None => self.beyond.borrow().contains(&place),
        }
    }
}

fn bit(place: usize) -> Option<u128> {
    u32::try_from(place).ok().and_then(|shift| 1_u128.checked_shl(shift))
}
