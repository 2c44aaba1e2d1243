//! Arrays, objects and variants as they are read from text.

use std::borrow::Cow;
use std::collections::HashSet;

use serde::de::value::CowStrDeserializer;
use serde::de::{
    Deserialize as _, DeserializeSeed, Deserializer as _, EnumAccess, Error as _, MapAccess, SeqAccess, Unexpected,
    VariantAccess, Visitor,
};

use super::deserialize_key::MemberName;
use super::from_text::{FromText, Source};
use super::text_error::TextError;
use super::{JsonError, ReadError, ReadErrorKind};

/// How many names are compared one by one.
const FEW: usize = 32;

/// The names of the objects that are being read, those of inner ones behind those of outer ones: one list for a whole
/// document, so that an object of few members costs no memory of its own.
#[derive(Default)]
pub(super) struct Names<'t>(Vec<Cow<'t, str>>);

/// The items of an array.
pub(super) struct Items<'r, 't> {
    source: &'r mut Source<'t>,
    begun: bool,
    ended: bool,
}

impl<'r, 't> Items<'r, 't> {
    /// Reads an array, standing on its bracket.
    pub(super) fn visit<V: Visitor<'t>>(source: &'r mut Source<'t>, visitor: V) -> Result<V::Value, TextError> {
        source.reader.enter()?;
        let mut items = Items { source, begun: false, ended: false };
        let value = visitor.visit_seq(&mut items)?;
        // A tuple takes as many as it has and does not ask for the end.
        if !items.ended && !items.ends()? {
            return Err(JsonError::new("the array has more items than expected").into());
        }
        items.source.reader.leave();
        Ok(value)
    }

    fn ends(&mut self) -> Result<bool, ReadError> {
        self.ended = if self.begun {
            self.source.reader.ends_with(b']', ReadErrorKind::ExpectedCommaOrBracket)?
        } else {
            self.source.reader.skip_if(b']')
        };
        self.begun = true;
        Ok(self.ended)
    }
}

impl<'t> SeqAccess<'t> for Items<'_, 't> {
    type Error = TextError;

    fn next_element_seed<T: DeserializeSeed<'t>>(&mut self, seed: T) -> Result<Option<T::Value>, TextError> {
        if self.ended || self.ends()? {
            return Ok(None);
        }
        seed.deserialize(FromText(&mut *self.source)).map(Some)
    }
}

/// The members of an object.
pub(super) struct Members<'r, 't> {
    source: &'r mut Source<'t>,
    /// How many names there are of the objects around this one.
    outer: usize,
    /// The names of this one, once they are many.
    many: HashSet<Cow<'t, str>>,
    begun: bool,
    ended: bool,
}

impl<'r, 't> Members<'r, 't> {
    /// Reads an object, standing on its bracket.
    pub(super) fn visit<V: Visitor<'t>>(source: &'r mut Source<'t>, visitor: V) -> Result<V::Value, TextError> {
        source.reader.enter()?;
        let outer = source.names.0.len();
        let mut members = Members { source, outer, many: HashSet::new(), begun: false, ended: false };
        let value = visitor.visit_map(&mut members)?;
        if !members.ended && !members.ends()? {
            return Err(JsonError::new("the object has more members than expected").into());
        }
        members.source.names.0.truncate(outer);
        members.source.reader.leave();
        Ok(value)
    }

    fn ends(&mut self) -> Result<bool, ReadError> {
        self.ended = if self.begun {
            self.source.reader.ends_with(b'}', ReadErrorKind::ExpectedCommaOrBrace)?
        } else {
            self.source.reader.skip_if(b'}')
        };
        self.begun = true;
        Ok(self.ended)
    }

    /// Keeps a name, and tells whether it is the first of its kind.
    fn keep(&mut self, name: Cow<'t, str>) -> bool {
        let names = &mut self.source.names.0;
        if self.many.is_empty() {
            let few = names.get(self.outer..).unwrap_or_default();
            if few.len() < FEW {
                let fresh = !few.contains(&name);
                names.push(name);
                return fresh;
            }
            self.many = names.drain(self.outer..).collect();
        }
        self.many.insert(name)
    }
}

impl<'t> MapAccess<'t> for Members<'_, 't> {
    type Error = TextError;

    fn next_key_seed<K: DeserializeSeed<'t>>(&mut self, seed: K) -> Result<Option<K::Value>, TextError> {
        if self.ended || self.ends()? {
            return Ok(None);
        }
        let offset = self.source.reader.offset();
        let name = self.source.reader.name()?;
        if !self.keep(name.clone()) {
            return Err(ReadError { kind: ReadErrorKind::DuplicateName, offset }.into());
        }
        seed.deserialize(MemberName::new(name)).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'t>>(&mut self, seed: V) -> Result<V::Value, TextError> {
        seed.deserialize(FromText(&mut *self.source))
    }
}

/// An externally tagged variant: the only member of an object.
pub(super) struct Variant<'r, 't> {
    pub(super) variant: Cow<'t, str>,
    pub(super) source: &'r mut Source<'t>,
}

impl<'r, 't> EnumAccess<'t> for Variant<'r, 't> {
    type Error = TextError;
    type Variant = Content<'r, 't>;

    fn variant_seed<V: DeserializeSeed<'t>>(self, seed: V) -> Result<(V::Value, Content<'r, 't>), TextError> {
        let variant = seed.deserialize(CowStrDeserializer::<TextError>::new(self.variant))?;
        Ok((variant, Content(self.source)))
    }
}

/// What stands under the name of a variant.
pub(super) struct Content<'r, 't>(&'r mut Source<'t>);

impl<'t> VariantAccess<'t> for Content<'_, 't> {
    type Error = TextError;

    fn unit_variant(self) -> Result<(), TextError> {
        match self.0.reader.peek() {
            Some(b'n') => <()>::deserialize(FromText(self.0)),
            _ => Err(TextError::invalid_type(Unexpected::NewtypeVariant, &"unit variant")),
        }
    }

    fn newtype_variant_seed<T: DeserializeSeed<'t>>(self, seed: T) -> Result<T::Value, TextError> {
        seed.deserialize(FromText(self.0))
    }

    fn tuple_variant<V: Visitor<'t>>(self, _: usize, visitor: V) -> Result<V::Value, TextError> {
        match self.0.reader.peek() {
            Some(b'[') => FromText(self.0).deserialize_any(visitor),
            _ => Err(TextError::invalid_type(Unexpected::NewtypeVariant, &"an array")),
        }
    }

    fn struct_variant<V: Visitor<'t>>(self, _: &'static [&'static str], visitor: V) -> Result<V::Value, TextError> {
        match self.0.reader.peek() {
            Some(b'{') => FromText(self.0).deserialize_any(visitor),
            _ => Err(TextError::invalid_type(Unexpected::NewtypeVariant, &"an object")),
        }
    }
}
