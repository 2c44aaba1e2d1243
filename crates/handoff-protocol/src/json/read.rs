//! The strict reader, for bytes that a stranger sent (B-1).

use std::borrow::Cow;

use super::number::number_span;
use super::scan::plain_span;
use super::{Json, Number, Object, ReadError, ReadErrorKind};

/// How deep arrays and objects may be nested.
pub const MAX_DEPTH: usize = 128;

/// How much of a document a reader takes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct ReadLimits {
    /// How deep arrays and objects may be nested.
    pub depth: usize,
    /// How many values there may be, at all depths together: what a text costs in memory depends on them more than on
    /// its length.
    pub values: usize,
}

impl Default for ReadLimits {
    fn default() -> Self {
        Self { depth: MAX_DEPTH, values: usize::MAX }
    }
}

/// Reads one JSON document from bytes, strictly by RFC 8259 (B-1).
///
/// Refused on top of what the grammar refuses: a byte order mark, invalid UTF-8, lone surrogate escapes, duplicate
/// member names at any depth (compared unescaped), and nesting deeper than [`MAX_DEPTH`].
///
/// # Errors
///
/// [`ReadError`] says what is wrong and at which byte; it quotes nothing of the text.
pub fn read(bytes: &[u8]) -> Result<Json, ReadError> {
    read_within(bytes, ReadLimits::default())
}

/// Reads one JSON document from bytes, as [`read`] does, within tighter limits.
///
/// # Errors
///
/// The same as those of [`read`], and [`ReadErrorKind::TooMany`].
pub fn read_within(bytes: &[u8], limits: ReadLimits) -> Result<Json, ReadError> {
    read_text(read_utf8(bytes)?, limits)
}

/// Takes bytes as text.
pub(crate) fn read_utf8(bytes: &[u8]) -> Result<&str, ReadError> {
    str::from_utf8(bytes).map_err(|error| ReadError { kind: ReadErrorKind::InvalidUtf8, offset: error.valid_up_to() })
}

/// Reads one JSON document from a text, as [`read`] does from bytes.
///
/// # Errors
///
/// The same as those of [`read`], without that of invalid UTF-8.
pub fn read_str(text: &str) -> Result<Json, ReadError> {
    read_text(text, ReadLimits::default())
}

fn read_text(text: &str, limits: ReadLimits) -> Result<Json, ReadError> {
    let mut reader = Reader::open(text, limits)?;
    let value = reader.value()?;
    reader.close()?;
    Ok(value)
}

/// The text and how far it has been read; recursion is as deep as `depth`, which is bounded.
pub(super) struct Reader<'t> {
    text: &'t str,
    at: usize,
    depth: usize,
    values: usize,
    limits: ReadLimits,
}

impl<'t> Reader<'t> {
    /// Stands at the first value of a text.
    pub(super) fn open(text: &'t str, limits: ReadLimits) -> Result<Self, ReadError> {
        let mut reader = Self { text, at: 0, depth: 0, values: 0, limits };
        if text.starts_with('\u{feff}') {
            return Err(reader.fault(ReadErrorKind::ByteOrderMark));
        }
        reader.skip_space();
        Ok(reader)
    }

    /// Ends behind the only value of a text.
    pub(super) fn close(mut self) -> Result<(), ReadError> {
        self.skip_space();
        match self.peek() {
            None => Ok(()),
            Some(_) => Err(self.fault(ReadErrorKind::TrailingText)),
        }
    }

    /// Counts a value that is read now, and gives the byte that it begins with.
    pub(super) fn begin(&mut self) -> Result<Option<u8>, ReadError> {
        if self.values == self.limits.values {
            return Err(self.fault(ReadErrorKind::TooMany(self.limits.values)));
        }
        self.values += 1;
        Ok(self.peek())
    }

    /// Reads a whole value as a tree.
    pub(super) fn value(&mut self) -> Result<Json, ReadError> {
        match self.begin()? {
            Some(b'"') => self.string().map(Json::String),
            Some(b'{') => self.nested(Self::object),
            Some(b'[') => self.nested(Self::array),
            Some(b'-' | b'0'..=b'9') => self.number().map(|text| Json::Number(Number::from_checked(text))),
            Some(b't') => self.literal("true").map(|()| Json::Bool(true)),
            Some(b'f') => self.literal("false").map(|()| Json::Bool(false)),
            Some(b'n') => self.literal("null").map(|()| Json::Null),
            _ => Err(self.unexpected(ReadErrorKind::ExpectedValue)),
        }
    }

    /// Goes into an array or object, standing on its opening bracket.
    pub(super) fn enter(&mut self) -> Result<(), ReadError> {
        if self.depth == self.limits.depth {
            return Err(self.fault(ReadErrorKind::TooDeep(self.limits.depth)));
        }
        self.depth += 1;
        self.at += 1;
        self.skip_space();
        Ok(())
    }

    /// Comes out of an array or object whose closing bracket was read.
    pub(super) fn leave(&mut self) {
        self.depth -= 1;
    }

    fn nested(&mut self, read: fn(&mut Self) -> Result<Json, ReadError>) -> Result<Json, ReadError> {
        self.enter()?;
        let value = read(self)?;
        self.leave();
        Ok(value)
    }

    fn object(&mut self) -> Result<Json, ReadError> {
        let mut object = Object::new();
        if self.skip_if(b'}') {
            return Ok(Json::Object(object));
        }
        loop {
            let offset = self.at;
            let name = self.name()?.into_owned();
            let value = self.value()?;
            let is_repeated = object.insert(name, value).is_some();
            #[cfg(feature = "planted-faults")]
            let is_repeated = is_repeated && !crate::planted::Fault::DuplicateNamesAccepted.is_planted();
            if is_repeated {
                return Err(ReadError { kind: ReadErrorKind::DuplicateName, offset });
            }
            if self.ends_with(b'}', ReadErrorKind::ExpectedCommaOrBrace)? {
                return Ok(Json::Object(object));
            }
        }
    }

    /// Reads the name of a member with its colon, and stands at the value.
    pub(super) fn name(&mut self) -> Result<Cow<'t, str>, ReadError> {
        if self.peek() != Some(b'"') {
            return Err(self.unexpected(ReadErrorKind::ExpectedName));
        }
        let name = self.text()?;
        self.skip_space();
        if !self.skip_if(b':') {
            return Err(self.unexpected(ReadErrorKind::ExpectedColon));
        }
        self.skip_space();
        Ok(name)
    }

    /// Behind an item: takes the closing bracket, or the comma before the next item.
    pub(super) fn ends_with(&mut self, bracket: u8, otherwise: ReadErrorKind) -> Result<bool, ReadError> {
        self.skip_space();
        if self.skip_if(bracket) {
            return Ok(true);
        }
        if !self.skip_if(b',') {
            return Err(self.unexpected(otherwise));
        }
        self.skip_space();
        Ok(false)
    }

    fn array(&mut self) -> Result<Json, ReadError> {
        let mut items = Vec::new();
        if self.skip_if(b']') {
            return Ok(Json::Array(items));
        }
        loop {
            items.push(self.value()?);
            if self.ends_with(b']', ReadErrorKind::ExpectedCommaOrBracket)? {
                return Ok(Json::Array(items));
            }
        }
    }

    /// Reads the text of a number.
    pub(super) fn number(&mut self) -> Result<&'t str, ReadError> {
        match number_span(self.rest()) {
            Ok(length) => Ok(self.take(length)),
            Err(at) => Err(ReadError { kind: ReadErrorKind::InvalidNumber, offset: self.at + at }),
        }
    }

    /// Reads a word that must stand here.
    pub(super) fn literal(&mut self, word: &str) -> Result<(), ReadError> {
        if !self.rest().starts_with(word.as_bytes()) {
            return Err(self.fault(ReadErrorKind::ExpectedValue));
        }
        self.at += word.len();
        Ok(())
    }

    /// Reads a string, standing on its opening quote; one without escapes is copied once, whole.
    fn string(&mut self) -> Result<String, ReadError> {
        self.text().map(Cow::into_owned)
    }

    /// Reads a string, standing on its opening quote; one without escapes is not copied.
    pub(super) fn text(&mut self) -> Result<Cow<'t, str>, ReadError> {
        self.at += 1;
        let plain = self.plain();
        if self.skip_if(b'"') {
            return Ok(Cow::Borrowed(plain));
        }
        let mut string = plain.to_owned();
        loop {
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(Cow::Owned(string));
                }
                Some(b'\\') => string.push(self.escape()?),
                _ => return Err(self.unexpected(ReadErrorKind::ControlCharacter)),
            }
            string.push_str(self.plain());
        }
    }

    fn plain(&mut self) -> &'t str {
        self.take(plain_span(self.rest()))
    }

    fn escape(&mut self) -> Result<char, ReadError> {
        let character = match self.rest().get(1) {
            Some(b'"') => '"',
            Some(b'\\') => '\\',
            Some(b'/') => '/',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => return self.unicode_escape(),
            Some(_) => return Err(self.fault(ReadErrorKind::InvalidEscape)),
            None => return Err(ReadError { kind: ReadErrorKind::UnexpectedEnd, offset: self.text.len() }),
        };
        self.at += 2;
        Ok(character)
    }

    fn unicode_escape(&mut self) -> Result<char, ReadError> {
        let Some(unit) = hex_escape(self.rest()) else {
            return Err(self.fault(ReadErrorKind::InvalidEscape));
        };
        let (code, length) = if (0xd800..0xdc00).contains(&unit) {
            match self.rest().get(6..).and_then(hex_escape) {
                Some(low) if (0xdc00..0xe000).contains(&low) => {
                    (0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00), 12)
                }
                _ => return Err(self.fault(ReadErrorKind::LoneSurrogate)),
            }
        } else {
            (unit, 6)
        };
        let Some(character) = char::from_u32(code) else {
            return Err(self.fault(ReadErrorKind::LoneSurrogate));
        };
        self.at += length;
        Ok(character)
    }

    pub(super) fn skip_space(&mut self) {
        let space = self.rest().iter().take_while(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r')).count();
        self.at += space;
    }

    pub(super) fn skip_if(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    /// Takes a span that begins and ends beside ASCII, hence on character boundaries.
    fn take(&mut self, length: usize) -> &'t str {
        let span = self.text.get(self.at..self.at + length).unwrap_or_default();
        self.at += length;
        span
    }

    /// Gives the byte that stands here.
    pub(super) fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn rest(&self) -> &'t [u8] {
        self.text.as_bytes().get(self.at..).unwrap_or_default()
    }

    pub(super) fn unexpected(&self, kind: ReadErrorKind) -> ReadError {
        self.fault(if self.peek().is_some() { kind } else { ReadErrorKind::UnexpectedEnd })
    }

    /// Gives how many bytes were read.
    pub(super) fn offset(&self) -> usize {
        self.at
    }

    fn fault(&self, kind: ReadErrorKind) -> ReadError {
        ReadError { kind, offset: self.at }
    }
}

/// Reads the code unit of a `\uXXXX` that stands at the start of `bytes`.
fn hex_escape(bytes: &[u8]) -> Option<u32> {
    bytes
        .get(..6)?
        .strip_prefix(b"\\u")?
        .iter()
        .try_fold(0, |unit, &byte| Some(unit * 16 + char::from(byte).to_digit(16)?))
}
