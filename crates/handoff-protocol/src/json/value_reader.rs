//! Typed reading of one value that a client sent, and of the items of an array.

use super::{DecodeError, Json, MAX_SAFE_INTEGER, Number, ObjectReader, Path};

/// A value and where it stands; each method reads it as one type or says what it should have been.
#[derive(Clone, Copy, Debug)]
pub struct ValueReader<'v, 'p> {
    json: &'v Json,
    path: Path<'p>,
}

impl<'v, 'p> ValueReader<'v, 'p> {
    /// Begins at a value whose place is known.
    pub fn new(json: &'v Json, path: impl Into<Path<'p>>) -> Self {
        Self { json, path: path.into() }
    }

    /// Gives the value as it is.
    #[must_use]
    pub fn json(&self) -> &'v Json {
        self.json
    }

    /// Gives the place of the value.
    #[must_use]
    pub fn path(&self) -> Path<'p> {
        self.path
    }

    /// Makes an error about this value, from the rest of a sentence: `must be in the future`.
    #[must_use]
    pub fn error(&self, problem: impl Into<String>) -> DecodeError {
        DecodeError::at(self.path, problem)
    }

    /// Reads a string.
    ///
    /// # Errors
    ///
    /// If the value is anything else.
    pub fn string(&self) -> Result<&'v str, DecodeError> {
        self.json.as_str().ok_or_else(|| self.error("must be a string"))
    }

    /// Reads a string of so many characters (Unicode scalar values), the bounds included.
    ///
    /// # Errors
    ///
    /// If the value is no string, or too short or too long.
    pub fn text(&self, min_chars: usize, max_chars: usize) -> Result<&'v str, DecodeError> {
        let text = self.string()?;
        // Bytes bound characters from above, and a count that passes the limit need not go on.
        let long_enough = min_chars == 0 || text.chars().nth(min_chars - 1).is_some();
        let short_enough = text.len() <= max_chars || text.chars().nth(max_chars).is_none();
        if long_enough && short_enough {
            return Ok(text);
        }
        Err(self.error(match min_chars {
            0 => format!("must be at most {max_chars} characters"),
            _ if min_chars == max_chars => format!("must be exactly {max_chars} characters"),
            _ => format!("must be {min_chars} to {max_chars} characters"),
        }))
    }

    /// Reads `true` or `false`.
    ///
    /// # Errors
    ///
    /// If the value is anything else.
    pub fn boolean(&self) -> Result<bool, DecodeError> {
        self.json.as_bool().ok_or_else(|| self.error("must be true or false"))
    }

    /// Reads an integer within +/-(2^53 - 1), whatever its spelling (N-1, N-2).
    ///
    /// # Errors
    ///
    /// If the value is no number, has a fraction, or is beyond the range.
    pub fn integer(&self) -> Result<i64, DecodeError> {
        self.json
            .as_number()
            .and_then(Number::safe_integer)
            .ok_or_else(|| self.error(format!("must be an integer within +/-{MAX_SAFE_INTEGER}")))
    }

    /// Reads an integer within bounds, both included.
    ///
    /// # Errors
    ///
    /// If the value is no integer or beyond the bounds.
    pub fn integer_within(&self, min: i64, max: i64) -> Result<i64, DecodeError> {
        self.json
            .as_number()
            .and_then(Number::safe_integer)
            .filter(|integer| (min..=max).contains(integer))
            .ok_or_else(|| self.error(format!("must be an integer from {min} to {max}")))
    }

    /// Reads one word of a closed list and gives what it stands for.
    ///
    /// # Errors
    ///
    /// If the value is no string, or none of the words; the message lists them.
    pub fn choice<T: Clone>(&self, words: &[(&str, T)]) -> Result<T, DecodeError> {
        let text = self.string()?;
        words.iter().find(|(word, _)| *word == text).map(|(_, meaning)| meaning.clone()).ok_or_else(|| {
            let list: Vec<_> = words.iter().map(|(word, _)| format!("`{word}`")).collect();
            match list.as_slice() {
                [only] => self.error(format!("must be {only}")),
                _ => self.error(format!("must be one of {}", list.join(", "))),
            }
        })
    }

    /// Reads an array.
    ///
    /// # Errors
    ///
    /// If the value is anything else.
    pub fn array(&self) -> Result<ArrayReader<'v, 'p>, DecodeError> {
        let items = self.json.as_array().ok_or_else(|| self.error("must be an array"))?;
        Ok(ArrayReader { items, path: self.path })
    }

    /// Reads an object.
    ///
    /// # Errors
    ///
    /// If the value is anything else.
    pub fn object(&self) -> Result<ObjectReader<'v, 'p>, DecodeError> {
        ObjectReader::new(self.json, self.path)
    }
}

/// An array and where it stands.
#[derive(Clone, Copy, Debug)]
pub struct ArrayReader<'v, 'p> {
    items: &'v [Json],
    path: Path<'p>,
}

impl<'v, 'p> ArrayReader<'v, 'p> {
    /// Gives the items as they are.
    #[must_use]
    pub fn json(&self) -> &'v [Json] {
        self.items
    }

    /// Counts the items.
    #[must_use]
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Tells whether there are no items.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// Gives the place of the array.
    #[must_use]
    pub fn path(&self) -> Path<'p> {
        self.path
    }

    /// Walks over the items, each with its place.
    pub fn items(&self) -> impl Iterator<Item = ValueReader<'v, '_>> {
        self.items.iter().enumerate().map(|(place, json)| ValueReader { json, path: self.path.index(place) })
    }

    /// Demands a number of items, the bounds included.
    ///
    /// # Errors
    ///
    /// If there are fewer or more.
    pub fn count_within(&self, min: usize, max: usize) -> Result<(), DecodeError> {
        if (min..=max).contains(&self.items.len()) {
            return Ok(());
        }
        let problem = match min {
            0 => format!("must have at most {max} items"),
            _ => format!("must have {min} to {max} items"),
        };
        Err(self.error(problem))
    }

    /// Makes an error about the array, from the rest of a sentence.
    #[must_use]
    pub fn error(&self, problem: impl Into<String>) -> DecodeError {
        DecodeError::at(self.path, problem)
    }
}
