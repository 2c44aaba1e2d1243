//! Why a text was refused by the reader.

use thiserror::Error;

/// A text is not JSON that we accept: what is wrong and at which byte (B-1).
#[derive(Clone, Copy, Debug, Eq, Error, PartialEq)]
#[error("{kind} at byte {offset}")]
#[non_exhaustive]
pub struct ReadError {
    /// What is wrong.
    pub kind: ReadErrorKind,
    /// The byte at which it was noticed, counted from 0.
    pub offset: usize,
}

/// What is wrong with a text; no message quotes any of it.
#[derive(Clone, Copy, Debug, Eq, Error, PartialEq)]
#[non_exhaustive]
pub enum ReadErrorKind {
    /// The bytes are not UTF-8.
    #[error("invalid UTF-8")]
    InvalidUtf8,
    /// The text begins with U+FEFF.
    #[error("unexpected byte order mark")]
    ByteOrderMark,
    /// The text ends in the middle of a value.
    #[error("unexpected end of the text")]
    UnexpectedEnd,
    /// Something else stands where a value should.
    #[error("expected a value")]
    ExpectedValue,
    /// Something else stands where the name of a member should.
    #[error("expected a member name in double quotes")]
    ExpectedName,
    /// Something else stands between a name and its value.
    #[error("expected `:` after the member name")]
    ExpectedColon,
    /// Something else stands behind an item of an array.
    #[error("expected `,` or `]`")]
    ExpectedCommaOrBracket,
    /// Something else stands behind a member of an object.
    #[error("expected `,` or `}}`")]
    ExpectedCommaOrBrace,
    /// A number breaks the grammar: a leading zero, a plus sign, a point without digits.
    #[error("malformed number")]
    InvalidNumber,
    /// A character below U+0020 stands in a string without an escape.
    #[error("control character in a string, it must be escaped")]
    ControlCharacter,
    /// A backslash begins no escape that JSON knows.
    #[error("invalid escape in a string")]
    InvalidEscape,
    /// A `\u` escape is half of a surrogate pair.
    #[error("lone surrogate escape in a string")]
    LoneSurrogate,
    /// An object has two members of one name, which has no canonical form.
    #[error("duplicate member name")]
    DuplicateName,
    /// Arrays and objects are nested too deep.
    #[error("nesting deeper than {0} levels")]
    TooDeep(usize),
    /// There are more values than the reader takes.
    #[error("more than {0} values")]
    TooMany(usize),
    /// Something follows the value.
    #[error("unexpected text after the value")]
    TrailingText,
}
