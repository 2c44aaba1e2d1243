//! From our own types to JSON, by serde.

use serde::ser::{Error as _, Serialize, SerializeMap, SerializeSeq, Serializer};

use super::serialize_compound::{Items, Members, Tagged};
use super::serialize_key::TextSerializer;
use super::{Json, JsonError, Number, Object, json_text::JSON_TEXT, read_str};

/// The name of the newtype that carries a number which is no 64-bit integer through serde.
///
/// The protocol is private to `to_json` and `from_json`: such a number serializes as a newtype of this name. Ours asks
/// the content as a format that is not for humans, and gets the text; any other format for humans gets a
/// float. In the other direction such a number is visited as a newtype around its text.
pub(super) const SPELLED_NUMBER: &str = "$handoff::json::Number";

/// The name of the newtype around our own objects: the names of its members differ, so nobody needs to compare them.
pub(super) const DISTINCT_MEMBERS: &str = "$handoff::json::Object";

/// Turns a serializable value into JSON.
///
/// Fields keep their order, enums are tagged as their attributes say (externally by default), and a [`Json`] inside
/// passes through with the text of its numbers.
///
/// # Errors
///
/// [`JsonError`] for what JSON or N-1 has no room for: floats that are not safe integers, integers beyond 64 bits,
/// bytes, keys that are no text, two members of one name.
pub fn to_json<T: Serialize + ?Sized>(value: &T) -> Result<Json, JsonError> {
    value.serialize(ToJson)
}

/// The serializer behind [`to_json`].
pub(super) struct ToJson;

impl Serializer for ToJson {
    type Ok = Json;
    type Error = JsonError;
    type SerializeSeq = Items;
    type SerializeTuple = Items;
    type SerializeTupleStruct = Items;
    type SerializeTupleVariant = Tagged<Items>;
    type SerializeMap = Members;
    type SerializeStruct = Members;
    type SerializeStructVariant = Tagged<Members>;

    fn serialize_bool(self, value: bool) -> Result<Json, JsonError> {
        Ok(value.into())
    }

    fn serialize_i8(self, value: i8) -> Result<Json, JsonError> {
        self.serialize_i64(value.into())
    }

    fn serialize_i16(self, value: i16) -> Result<Json, JsonError> {
        self.serialize_i64(value.into())
    }

    fn serialize_i32(self, value: i32) -> Result<Json, JsonError> {
        self.serialize_i64(value.into())
    }

    fn serialize_i64(self, value: i64) -> Result<Json, JsonError> {
        Ok(value.into())
    }

    fn serialize_i128(self, value: i128) -> Result<Json, JsonError> {
        i64::try_from(value).map(Json::from).or_else(|_| {
            u64::try_from(value).map(Json::from).map_err(|_| JsonError::new("an integer does not fit 64 bits"))
        })
    }

    fn serialize_u8(self, value: u8) -> Result<Json, JsonError> {
        self.serialize_u64(value.into())
    }

    fn serialize_u16(self, value: u16) -> Result<Json, JsonError> {
        self.serialize_u64(value.into())
    }

    fn serialize_u32(self, value: u32) -> Result<Json, JsonError> {
        self.serialize_u64(value.into())
    }

    fn serialize_u64(self, value: u64) -> Result<Json, JsonError> {
        Ok(value.into())
    }

    fn serialize_u128(self, value: u128) -> Result<Json, JsonError> {
        u64::try_from(value).map(Json::from).map_err(|_| JsonError::new("an integer does not fit 64 bits"))
    }

    fn serialize_f32(self, value: f32) -> Result<Json, JsonError> {
        self.serialize_f64(value.into())
    }

    fn serialize_f64(self, value: f64) -> Result<Json, JsonError> {
        let integer = Number::from_f64(value).and_then(|number| number.safe_integer());
        integer.map(Json::from).ok_or_else(|| JsonError::new("a float is not an integer in the safe range"))
    }

    fn serialize_char(self, value: char) -> Result<Json, JsonError> {
        Ok(Json::String(value.into()))
    }

    fn serialize_str(self, value: &str) -> Result<Json, JsonError> {
        Ok(value.into())
    }

    fn serialize_bytes(self, _: &[u8]) -> Result<Json, JsonError> {
        Err(JsonError::new("JSON has no bytes"))
    }

    fn serialize_none(self) -> Result<Json, JsonError> {
        Ok(Json::Null)
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<Json, JsonError> {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<Json, JsonError> {
        Ok(Json::Null)
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<Json, JsonError> {
        Ok(Json::Null)
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, variant: &'static str) -> Result<Json, JsonError> {
        Ok(variant.into())
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, name: &'static str, value: &T) -> Result<Json, JsonError> {
        match name {
            SPELLED_NUMBER => {
                let text = value.serialize(TextSerializer::of_spelling())?;
                text.parse::<Number>().map(Json::Number).map_err(JsonError::custom)
            }
            JSON_TEXT => read_str(&value.serialize(TextSerializer::of_spelling())?).map_err(JsonError::custom),
            _ => value.serialize(self),
        }
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<Json, JsonError> {
        Ok(Json::object([(variant, value.serialize(self)?)]))
    }

    fn serialize_seq(self, length: Option<usize>) -> Result<Items, JsonError> {
        Ok(Items::new(length.unwrap_or(0)))
    }

    fn serialize_tuple(self, length: usize) -> Result<Items, JsonError> {
        Ok(Items::new(length))
    }

    fn serialize_tuple_struct(self, _: &'static str, length: usize) -> Result<Items, JsonError> {
        Ok(Items::new(length))
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        length: usize,
    ) -> Result<Tagged<Items>, JsonError> {
        Ok(Tagged { variant, content: Items::new(length) })
    }

    fn serialize_map(self, length: Option<usize>) -> Result<Members, JsonError> {
        Ok(Members::new(length.unwrap_or(0)))
    }

    fn serialize_struct(self, _: &'static str, length: usize) -> Result<Members, JsonError> {
        Ok(Members::new(length))
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        length: usize,
    ) -> Result<Tagged<Members>, JsonError> {
        Ok(Tagged { variant, content: Members::new(length) })
    }
}

impl Serialize for Json {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Null => serializer.serialize_unit(),
            Self::Bool(truth) => serializer.serialize_bool(*truth),
            Self::Number(number) => number.serialize(serializer),
            Self::String(text) => serializer.serialize_str(text),
            Self::Array(items) => {
                let mut sequence = serializer.serialize_seq(Some(items.len()))?;
                for item in items {
                    sequence.serialize_element(item)?;
                }
                sequence.end()
            }
            Self::Object(object) => object.serialize(serializer),
        }
    }
}

impl Serialize for Object {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_newtype_struct(DISTINCT_MEMBERS, &DistinctMembers(self))
    }
}

/// The content of the newtype.
struct DistinctMembers<'a>(&'a Object);

impl Serialize for DistinctMembers<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, value) in self.0 {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}

impl Serialize for Number {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.as_i64() {
            // `-0` is the one integer whose value spells itself otherwise.
            Some(integer) if self.text() != "-0" => serializer.serialize_i64(integer),
            _ => match self.as_u64() {
                Some(integer) => serializer.serialize_u64(integer),
                None => serializer.serialize_newtype_struct(SPELLED_NUMBER, &Spelled(self)),
            },
        }
    }
}

/// The content of the newtype: the text for our own serializer and for binary formats, a float for the rest.
struct Spelled<'a>(&'a Number);

impl Serialize for Spelled<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if serializer.is_human_readable() {
            serializer.serialize_f64(self.0.as_f64())
        } else {
            serializer.serialize_str(self.0.text())
        }
    }
}
