//! From text straight to our own types, by serde: as strict as the reader, without the tree.

use std::borrow::Cow;
use std::marker::PhantomData;

use serde::de::value::CowStrDeserializer;
use serde::de::{Deserialize, DeserializeSeed, Deserializer, Visitor};
use serde::forward_to_deserialize_any;

use super::deserialize::{visit_by_text, visit_by_value};
use super::from_text_compound::{Items, Members, Names, Variant};
use super::read::Reader;
use super::text_error::TextError;
use super::{JsonError, ReadErrorKind, ReadLimits};

/// Reads one JSON document from a text into one of our types: what [`read_str`](super::read_str) and
/// [`from_json`](super::from_json) come to, without the tree in between.
///
/// The text is held to every rule of [`read_str`](super::read_str), also where the type does not look. Integers are
/// judged as [`from_json`](super::from_json) judges them.
///
/// ```
/// use handoff_protocol::json::from_text;
///
/// let (name, count): (String, u64) = from_text(r#"["a", 4.0]"#).unwrap();
/// assert_eq!((name.as_str(), count), ("a", 4));
/// ```
///
/// # Errors
///
/// [`TextError`] of the first thing that is wrong, be it with the text or for the type.
pub fn from_text<'t, T: Deserialize<'t>>(text: &'t str) -> Result<T, TextError> {
    from_text_seed(text, PhantomData::<T>)
}

/// Reads one JSON document from a text into what a seed makes of it, as [`from_text`] does.
pub(crate) fn from_text_seed<'t, S: DeserializeSeed<'t>>(text: &'t str, seed: S) -> Result<S::Value, TextError> {
    let mut source = Source { reader: Reader::open(text, ReadLimits::default())?, names: Names::default() };
    let value = seed.deserialize(FromText(&mut source))?;
    source.reader.close()?;
    Ok(value)
}

/// The text and the names of the objects that are being read.
pub(super) struct Source<'t> {
    pub(super) reader: Reader<'t>,
    pub(super) names: Names<'t>,
}

/// The deserializer behind [`from_text`], standing at a value.
pub(super) struct FromText<'r, 't>(pub(super) &'r mut Source<'t>);

impl<'t> FromText<'_, 't> {
    fn null<V: Visitor<'t>>(self, visit: impl FnOnce() -> Result<V::Value, TextError>) -> Result<V::Value, TextError> {
        self.0.reader.literal("null")?;
        visit()
    }

    fn string<V: Visitor<'t>>(self, visitor: V) -> Result<V::Value, TextError> {
        match self.0.reader.text()? {
            Cow::Borrowed(text) => visitor.visit_borrowed_str(text),
            Cow::Owned(text) => visitor.visit_string(text),
        }
    }

    /// Visits what stands here, after [`Reader::begin`].
    fn visit<V: Visitor<'t>>(self, first: Option<u8>, visitor: V) -> Result<V::Value, TextError> {
        match first {
            Some(b'"') => self.string(visitor),
            Some(b'{') => Members::visit(self.0, visitor),
            Some(b'[') => Items::visit(self.0, visitor),
            Some(b'-' | b'0'..=b'9') => visit_by_text(self.0.reader.number()?, visitor),
            Some(b't') => {
                self.0.reader.literal("true")?;
                visitor.visit_bool(true)
            }
            Some(b'f') => {
                self.0.reader.literal("false")?;
                visitor.visit_bool(false)
            }
            Some(b'n') => self.null::<V>(|| visitor.visit_unit()),
            _ => Err(self.0.reader.unexpected(ReadErrorKind::ExpectedValue).into()),
        }
    }
}

/// Reads the integer types by value.
macro_rules! integers {
    ($($method:ident)*) => {
        $(
            fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, TextError> {
                match self.0.reader.begin()? {
                    Some(b'-' | b'0'..=b'9') => visit_by_value(self.0.reader.number()?, visitor),
                    first => self.visit(first, visitor),
                }
            }
        )*
    };
}

impl<'de> Deserializer<'de> for FromText<'_, 'de> {
    type Error = TextError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, TextError> {
        let first = self.0.reader.begin()?;
        self.visit(first, visitor)
    }

    integers! {
        deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64 deserialize_i128
        deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64 deserialize_u128
        deserialize_f32 deserialize_f64
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, TextError> {
        if self.0.reader.peek() != Some(b'n') {
            return visitor.visit_some(self);
        }
        self.0.reader.begin()?;
        self.null::<V>(|| visitor.visit_none())
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, TextError> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, TextError> {
        match self.0.reader.begin()? {
            Some(b'"') => {
                let variant = self.0.reader.text()?;
                visitor.visit_enum(CowStrDeserializer::new(variant))
            }
            Some(b'{') => {
                let not_one = || JsonError::new("a variant must be an object with one member");
                self.0.reader.enter()?;
                if self.0.reader.peek() == Some(b'}') {
                    return Err(not_one().into());
                }
                let variant = self.0.reader.name()?;
                let value = visitor.visit_enum(Variant { variant, source: &mut *self.0 })?;
                if !self.0.reader.ends_with(b'}', ReadErrorKind::ExpectedCommaOrBrace)? {
                    return Err(not_one().into());
                }
                self.0.reader.leave();
                Ok(value)
            }
            first => self.visit(first, visitor),
        }
    }

    /// What nobody looks at is read all the same: it may hold what no document may.
    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, TextError> {
        self.0.reader.value()?;
        visitor.visit_unit()
    }

    forward_to_deserialize_any! {
        bool char str string bytes byte_buf unit unit_struct seq tuple tuple_struct map struct identifier
    }
}
