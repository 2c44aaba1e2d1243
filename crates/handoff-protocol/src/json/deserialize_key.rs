//! Reading the names of members into the key types of maps.

use std::borrow::Cow;
use std::marker::PhantomData;

use serde::de::value::CowStrDeserializer;
use serde::de::{Deserializer, Error, IntoDeserializer, Visitor};
use serde::forward_to_deserialize_any;

/// A name that a map reads as its key: a string, or what that string spells.
pub(super) struct MemberName<'n, E> {
    name: Cow<'n, str>,
    error: PhantomData<E>,
}

impl<'n, E> MemberName<'n, E> {
    pub(super) fn new(name: impl Into<Cow<'n, str>>) -> Self {
        Self { name: name.into(), error: PhantomData }
    }
}

impl<'de, E: Error> IntoDeserializer<'de, E> for MemberName<'de, E> {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

macro_rules! integers {
    ($($method:ident)*) => {
        $(
            fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, E> {
                match (self.name.parse(), self.name.parse()) {
                    (Ok(unsigned), _) => visitor.visit_u64(unsigned),
                    (_, Ok(signed)) => visitor.visit_i64(signed),
                    _ => self.deserialize_any(visitor),
                }
            }
        )*
    };
}

impl<'de, E: Error> Deserializer<'de> for MemberName<'de, E> {
    type Error = E;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, E> {
        match self.name {
            Cow::Borrowed(name) => visitor.visit_borrowed_str(name),
            Cow::Owned(name) => visitor.visit_string(name),
        }
    }

    integers! {
        deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64
        deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, E> {
        match &*self.name {
            "true" => visitor.visit_bool(true),
            "false" => visitor.visit_bool(false),
            _ => self.deserialize_any(visitor),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, E> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, E> {
        visitor.visit_enum(CowStrDeserializer::new(self.name))
    }

    forward_to_deserialize_any! {
        i128 u128 f32 f64 char str string bytes byte_buf option unit unit_struct seq tuple tuple_struct map struct
        identifier ignored_any
    }
}
