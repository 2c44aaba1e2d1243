//! Matchers: what a case expects of a value.
//!
//! A literal is equal to itself. An object matches when its members match, whatever else is there; an array when it has
//! the same length and each element matches. An object whose members begin with `$` asks for more: `read` lists them.

mod compare;
mod read;

use std::fmt;

use regex::Regex;
use serde_json::Value;

pub use self::{compare::is_id, read::Reading};

/// What is expected of a value.
#[derive(Clone, Debug)]
pub enum Matcher {
    /// A number, text, truth value or null, equal to this.
    Equal(Value),
    /// An object with these members, whatever else it has.
    Members(Vec<(String, Matcher)>),
    /// An object with these members and no others.
    Only(Vec<(String, Matcher)>),
    /// An array of just these elements, in this order.
    Elements(Vec<Matcher>),
    /// Nothing is there.
    Absent,
    /// Something is there, null included.
    Present,
    /// Of this type.
    Type(Kind),
    /// A text in which the expression is found.
    Matches(Regex),
    /// A text in which the expression is not found.
    Lacks(Regex),
    /// An array of which an element matches.
    Contains(Box<Matcher>),
    /// An array of which every element matches.
    Every(Box<Matcher>),
    /// An array of which as many elements match as the first matcher says.
    Count(Box<Matcher>, Box<Matcher>),
    /// The number of elements, members or characters matches.
    Length(Box<Matcher>),
    /// At least one of these matches.
    Any(Vec<Matcher>),
    /// All of these match.
    All(Vec<Matcher>),
    /// This does not match, or nothing is there.
    Not(Box<Matcher>),
    /// Equal to this in every part.
    Exactly(Value),
    /// An array of just these elements, in any order.
    Unordered(Vec<Matcher>),
    /// A number compared with this one.
    Number(Relation, f64),
    /// A time compared with this one.
    Time(Relation, jiff::Timestamp),
    /// A time that comes so many seconds after this one: at least, at most.
    SecondsAfter(jiff::Timestamp, f64, f64),
    /// The text of a time in UTC (B-5).
    Timestamp,
    /// An id with this prefix (B-2).
    Id(String),
    /// A digest as the protocol emits them (B-7).
    Digest,
    /// The digest of this value's canonical form (B-8).
    DigestOf(Value),
    /// An array whose elements rise strictly, by the part that the pointer names.
    Ascending(String),
    /// An array of which no two elements are equal in the part that the pointer names.
    Distinct(String),
}

/// A type of JSON, integers apart from other numbers.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Kind {
    /// Text.
    String,
    /// A number without a fraction, in value and in type.
    Integer,
    /// Any number.
    Number,
    /// An object.
    Object,
    /// An array.
    Array,
    /// Null.
    Null,
    /// True or false.
    Boolean,
}

/// How two things compare.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Relation {
    /// Greater, or later.
    Greater,
    /// Not less, or not earlier.
    AtLeast,
    /// Less, or earlier.
    Less,
    /// Not greater, or not later.
    AtMost,
}

/// A value is not what was expected.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Mismatch {
    /// Where, as a JSON pointer; empty for the whole.
    pub path: String,
    /// What was expected there.
    pub expected: String,
    /// What was there.
    pub got: String,
}

impl fmt::Display for Mismatch {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = if self.path.is_empty() { "the whole" } else { &self.path };
        write!(formatter, "at {place}: expected {}, got {}", self.expected, self.got)
    }
}

impl Relation {
    fn holds(self, order: std::cmp::Ordering) -> bool {
        match self {
            Self::Greater => order.is_gt(),
            Self::AtLeast => order.is_ge(),
            Self::Less => order.is_lt(),
            Self::AtMost => order.is_le(),
        }
    }

    fn words(self) -> &'static str {
        match self {
            Self::Greater => "above",
            Self::AtLeast => "at least",
            Self::Less => "below",
            Self::AtMost => "at most",
        }
    }
}

#[cfg(test)]
mod tests;
