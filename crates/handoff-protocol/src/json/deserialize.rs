//! From JSON to our own types, by serde.

use serde::de::value::{MapDeserializer, SeqDeserializer, StringDeserializer};
use serde::de::{
    DeserializeOwned, DeserializeSeed, Deserializer, EnumAccess, Error, IntoDeserializer, Unexpected, VariantAccess,
    Visitor,
};
use serde::forward_to_deserialize_any;

use super::deserialize_key::MemberName;
use super::number::integer_of;
use super::{Json, JsonError, Object};

/// Turns JSON into a value of one of our types.
///
/// Strings move without a copy, and a [`Json`] inside passes through with the text of its numbers. Integers are
/// judged by value, so that `4.0` is 4 (N-2), except where serde must buffer (untagged, flattened, internally tagged):
/// there only plain integers are, so normalize first (see [`normalize_numbers`](super::normalize_numbers)).
///
/// # Errors
///
/// [`JsonError`] says what was expected; it quotes no value.
pub fn from_json<T: DeserializeOwned>(value: Json) -> Result<T, JsonError> {
    T::deserialize(FromJson(value))
}

/// The deserializer behind [`from_json`].
pub(super) struct FromJson(Json);

impl<'de> IntoDeserializer<'de, JsonError> for FromJson {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

/// Reads the integer types by value.
macro_rules! integers {
    ($($method:ident)*) => {
        $(
            fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, JsonError> {
                match self.0 {
                    Json::Number(number) => visit_by_value(number.text(), visitor),
                    other => Self(other).deserialize_any(visitor),
                }
            }
        )*
    };
}

impl<'de> Deserializer<'de> for FromJson {
    type Error = JsonError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, JsonError> {
        match self.0 {
            Json::Null => visitor.visit_unit(),
            Json::Bool(truth) => visitor.visit_bool(truth),
            Json::Number(number) => visit_by_text(number.text(), visitor),
            Json::String(text) => visitor.visit_string(text),
            Json::Array(items) => visit_array(items, visitor),
            Json::Object(object) => visit_object(object, visitor),
        }
    }

    integers! {
        deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64 deserialize_i128
        deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64 deserialize_u128
        deserialize_f32 deserialize_f64
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, JsonError> {
        if self.0.is_null() { visitor.visit_none() } else { visitor.visit_some(self) }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, JsonError> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, JsonError> {
        match self.0 {
            Json::String(variant) => visitor.visit_enum(StringDeserializer::new(variant)),
            Json::Object(object) => {
                let mut members = object.into_iter();
                match (members.next(), members.next()) {
                    (Some((variant, content)), None) => visitor.visit_enum(Variant { variant, content }),
                    _ => Err(JsonError::new("a variant must be an object with one member")),
                }
            }
            other => Self(other).deserialize_any(visitor),
        }
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, JsonError> {
        visitor.visit_unit()
    }

    forward_to_deserialize_any! {
        bool char str string bytes byte_buf unit unit_struct seq tuple tuple_struct map struct identifier
    }
}

/// Visits a number so that nothing is lost: as an integer if that is how it is spelled, else as a newtype around its
/// text, which the visitors of [`Json`] and of serde's buffers understand.
pub(super) fn visit_by_text<'de, V: Visitor<'de>, E: Error>(number: &str, visitor: V) -> Result<V::Value, E> {
    match (number.parse(), number.parse()) {
        (Ok(integer), _) => visitor.visit_u64(integer),
        (Err(_), Ok(integer)) if number != "-0" => visitor.visit_i64(integer),
        _ => visitor.visit_newtype_struct(StringDeserializer::new(number.to_owned())),
    }
}

/// Visits a number for a visitor that wants a number: as an integer if its value is one, else as a float.
pub(super) fn visit_by_value<'de, V: Visitor<'de>, E: Error>(number: &str, visitor: V) -> Result<V::Value, E> {
    if let Ok(integer) = number.parse() {
        return visitor.visit_u64(integer);
    }
    match number.parse().or_else(|_| integer_of(number)) {
        Ok(integer) => visitor.visit_i64(integer),
        // The grammar of JSON is a part of the one that Rust reads.
        Err(_) => visitor.visit_f64(number.parse().unwrap_or(f64::NAN)),
    }
}

fn visit_array<'de, V: Visitor<'de>>(items: Vec<Json>, visitor: V) -> Result<V::Value, JsonError> {
    let mut access = SeqDeserializer::new(items.into_iter().map(FromJson));
    let value = visitor.visit_seq(&mut access)?;
    access.end()?;
    Ok(value)
}

fn visit_object<'de, V: Visitor<'de>>(object: Object, visitor: V) -> Result<V::Value, JsonError> {
    let members = object.into_iter().map(|(name, value)| (MemberName::new(name), FromJson(value)));
    let mut access = MapDeserializer::new(members);
    let value = visitor.visit_map(&mut access)?;
    access.end()?;
    Ok(value)
}

/// An externally tagged variant: the only member of an object.
struct Variant {
    variant: String,
    content: Json,
}

impl<'de> EnumAccess<'de> for Variant {
    type Error = JsonError;
    type Variant = Content;

    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, Content), JsonError> {
        let variant = seed.deserialize(StringDeserializer::<JsonError>::new(self.variant))?;
        Ok((variant, Content(self.content)))
    }
}

/// What stands under the name of a variant.
struct Content(Json);

impl<'de> VariantAccess<'de> for Content {
    type Error = JsonError;

    fn unit_variant(self) -> Result<(), JsonError> {
        if self.0.is_null() {
            Ok(())
        } else {
            Err(JsonError::invalid_type(Unexpected::NewtypeVariant, &"unit variant"))
        }
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, JsonError> {
        seed.deserialize(FromJson(self.0))
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, JsonError> {
        match self.0 {
            Json::Array(items) => visit_array(items, visitor),
            _ => Err(JsonError::invalid_type(Unexpected::NewtypeVariant, &"an array")),
        }
    }

    fn struct_variant<V: Visitor<'de>>(self, _: &'static [&'static str], visitor: V) -> Result<V::Value, JsonError> {
        match self.0 {
            Json::Object(object) => visit_object(object, visitor),
            _ => Err(JsonError::invalid_type(Unexpected::NewtypeVariant, &"an object")),
        }
    }
}
