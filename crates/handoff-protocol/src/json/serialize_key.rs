//! A serializer for what must be one text: the name of a member, or the spelling of a number.

use std::fmt::Display;

use serde::ser::{Impossible, Serialize, Serializer};

use super::JsonError;

/// Takes strings, characters, integers, truth values, unit variants and newtypes around them.
pub(super) struct TextSerializer {
    human_readable: bool,
}

impl TextSerializer {
    /// Makes one for the name of a member.
    pub(super) fn of_key() -> Self {
        Self { human_readable: true }
    }

    /// Makes one for the spelling of a number, which gives its text only to a format that is not for humans.
    pub(super) fn of_spelling() -> Self {
        Self { human_readable: false }
    }
}

type NoText = Impossible<String, JsonError>;

fn text(value: impl Display) -> Result<String, JsonError> {
    Ok(value.to_string())
}

fn refuse<T>() -> Result<T, JsonError> {
    Err(JsonError::new("a member name must be a text or an integer"))
}

impl Serializer for TextSerializer {
    type Ok = String;
    type Error = JsonError;
    type SerializeSeq = NoText;
    type SerializeTuple = NoText;
    type SerializeTupleStruct = NoText;
    type SerializeTupleVariant = NoText;
    type SerializeMap = NoText;
    type SerializeStruct = NoText;
    type SerializeStructVariant = NoText;

    fn is_human_readable(&self) -> bool {
        self.human_readable
    }

    fn serialize_bool(self, value: bool) -> Result<String, JsonError> {
        text(value)
    }

    fn serialize_i8(self, value: i8) -> Result<String, JsonError> {
        text(value)
    }

    fn serialize_i16(self, value: i16) -> Result<String, JsonError> {
        text(value)
    }

    fn serialize_i32(self, value: i32) -> Result<String, JsonError> {
        text(value)
    }

    fn serialize_i64(self, value: i64) -> Result<String, JsonError> {
        text(value)
    }

    fn serialize_i128(self, value: i128) -> Result<String, JsonError> {
        text(value)
    }

    fn serialize_u8(self, value: u8) -> Result<String, JsonError> {
        text(value)
    }

    fn serialize_u16(self, value: u16) -> Result<String, JsonError> {
        text(value)
    }

    fn serialize_u32(self, value: u32) -> Result<String, JsonError> {
        text(value)
    }

    fn serialize_u64(self, value: u64) -> Result<String, JsonError> {
        text(value)
    }

    fn serialize_u128(self, value: u128) -> Result<String, JsonError> {
        text(value)
    }

    fn serialize_f32(self, _: f32) -> Result<String, JsonError> {
        refuse()
    }

    fn serialize_f64(self, _: f64) -> Result<String, JsonError> {
        refuse()
    }

    fn serialize_char(self, value: char) -> Result<String, JsonError> {
        text(value)
    }

    fn serialize_str(self, value: &str) -> Result<String, JsonError> {
        text(value)
    }

    fn serialize_bytes(self, _: &[u8]) -> Result<String, JsonError> {
        refuse()
    }

    fn serialize_none(self) -> Result<String, JsonError> {
        refuse()
    }

    fn serialize_some<T: Serialize + ?Sized>(self, _: &T) -> Result<String, JsonError> {
        refuse()
    }

    fn serialize_unit(self) -> Result<String, JsonError> {
        refuse()
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<String, JsonError> {
        refuse()
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, variant: &'static str) -> Result<String, JsonError> {
        text(variant)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _: &'static str, value: &T) -> Result<String, JsonError> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: &T,
    ) -> Result<String, JsonError> {
        refuse()
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<NoText, JsonError> {
        refuse()
    }

    fn serialize_tuple(self, _: usize) -> Result<NoText, JsonError> {
        refuse()
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<NoText, JsonError> {
        refuse()
    }

    fn serialize_tuple_variant(self, _: &'static str, _: u32, _: &'static str, _: usize) -> Result<NoText, JsonError> {
        refuse()
    }

    fn serialize_map(self, _: Option<usize>) -> Result<NoText, JsonError> {
        refuse()
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<NoText, JsonError> {
        refuse()
    }

    fn serialize_struct_variant(self, _: &'static str, _: u32, _: &'static str, _: usize) -> Result<NoText, JsonError> {
        refuse()
    }
}
