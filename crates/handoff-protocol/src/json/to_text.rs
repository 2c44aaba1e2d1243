//! From our own types straight to text, by serde: byte for byte what the tree between them would be written as.

use std::fmt::{self, Display};

use serde::ser::{Error as _, Serialize, Serializer};

use super::scan::plain_span;
use super::serialize::{DISTINCT_MEMBERS, SPELLED_NUMBER};
use super::serialize_key::TextSerializer;
use super::to_text_compound::{Items, Members};
use super::write::{write_escaped, write_string};
use super::{JsonError, Number, json_text::JSON_TEXT};

/// Writes a serializable value as compact JSON: the text that [`to_json`](super::to_json) and
/// [`Json::to_text`](super::Json::to_text) come to, without the tree in between.
///
/// ```
/// use handoff_protocol::json::to_text;
///
/// assert_eq!(to_text(&("a", 1, None::<bool>)).unwrap(), r#"["a",1,null]"#);
/// ```
///
/// # Errors
///
/// [`JsonError`] for what [`to_json`](super::to_json) refuses.
pub fn to_text<T: Serialize + ?Sized>(value: &T) -> Result<String, JsonError> {
    let mut out = String::new();
    write_text(value, &mut out)?;
    Ok(out)
}

/// Appends a serializable value to a text, as [`to_text`] writes it.
///
/// # Errors
///
/// [`JsonError`] as for [`to_text`]; what was appended until then stays.
pub fn write_text<T: Serialize + ?Sized>(value: &T, out: &mut String) -> Result<(), JsonError> {
    value.serialize(ToText { out, distinct: false })
}

/// The serializer behind [`to_text`].
pub(super) struct ToText<'o> {
    pub(super) out: &'o mut String,
    /// Whether the members of what comes have different names for certain.
    pub(super) distinct: bool,
}

impl<'o> ToText<'o> {
    fn plain(self, value: impl Display) -> Result<(), JsonError> {
        // Writing to a string cannot fail; a value that refuses to be shown says so.
        fmt::Write::write_fmt(self.out, format_args!("{value}")).map_err(JsonError::custom)
    }

    /// Opens the object of a variant, whose only member it is.
    fn tag(self, variant: &str) -> &'o mut String {
        self.out.push('{');
        write_string(variant, self.out);
        self.out.push(':');
        self.out
    }
}

impl<'o> Serializer for ToText<'o> {
    type Ok = ();
    type Error = JsonError;
    type SerializeSeq = Items<'o>;
    type SerializeTuple = Items<'o>;
    type SerializeTupleStruct = Items<'o>;
    type SerializeTupleVariant = Items<'o>;
    type SerializeMap = Members<'o>;
    type SerializeStruct = Members<'o>;
    type SerializeStructVariant = Members<'o>;

    fn serialize_bool(self, value: bool) -> Result<(), JsonError> {
        self.out.push_str(if value { "true" } else { "false" });
        Ok(())
    }

    fn serialize_i8(self, value: i8) -> Result<(), JsonError> {
        self.plain(value)
    }

    fn serialize_i16(self, value: i16) -> Result<(), JsonError> {
        self.plain(value)
    }

    fn serialize_i32(self, value: i32) -> Result<(), JsonError> {
        self.plain(value)
    }

    fn serialize_i64(self, value: i64) -> Result<(), JsonError> {
        self.plain(value)
    }

    fn serialize_i128(self, value: i128) -> Result<(), JsonError> {
        if i64::try_from(value).is_ok() || u64::try_from(value).is_ok() {
            self.plain(value)
        } else {
            Err(JsonError::new("an integer does not fit 64 bits"))
        }
    }

    fn serialize_u8(self, value: u8) -> Result<(), JsonError> {
        self.plain(value)
    }

    fn serialize_u16(self, value: u16) -> Result<(), JsonError> {
        self.plain(value)
    }

    fn serialize_u32(self, value: u32) -> Result<(), JsonError> {
        self.plain(value)
    }

    fn serialize_u64(self, value: u64) -> Result<(), JsonError> {
        self.plain(value)
    }

    fn serialize_u128(self, value: u128) -> Result<(), JsonError> {
        match u64::try_from(value) {
            Ok(value) => self.plain(value),
            Err(_) => Err(JsonError::new("an integer does not fit 64 bits")),
        }
    }

    fn serialize_f32(self, value: f32) -> Result<(), JsonError> {
        self.serialize_f64(value.into())
    }

    fn serialize_f64(self, value: f64) -> Result<(), JsonError> {
        match Number::from_f64(value).and_then(|number| number.safe_integer()) {
            Some(integer) => self.plain(integer),
            None => Err(JsonError::new("a float is not an integer in the safe range")),
        }
    }

    fn serialize_char(self, value: char) -> Result<(), JsonError> {
        write_string(value.encode_utf8(&mut [0; 4]), self.out);
        Ok(())
    }

    fn serialize_str(self, value: &str) -> Result<(), JsonError> {
        write_string(value, self.out);
        Ok(())
    }

    fn serialize_bytes(self, _: &[u8]) -> Result<(), JsonError> {
        Err(JsonError::new("JSON has no bytes"))
    }

    fn serialize_none(self) -> Result<(), JsonError> {
        self.serialize_unit()
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), JsonError> {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<(), JsonError> {
        self.out.push_str("null");
        Ok(())
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<(), JsonError> {
        self.serialize_unit()
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, variant: &'static str) -> Result<(), JsonError> {
        self.serialize_str(variant)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, name: &'static str, value: &T) -> Result<(), JsonError> {
        match name {
            SPELLED_NUMBER => {
                let text = value.serialize(TextSerializer::of_spelling())?;
                let number = text.parse::<Number>().map_err(JsonError::custom)?;
                self.out.push_str(number.text());
                Ok(())
            }
            JSON_TEXT => {
                self.out.push_str(&value.serialize(TextSerializer::of_spelling())?);
                Ok(())
            }
            DISTINCT_MEMBERS => value.serialize(Self { distinct: true, ..self }),
            _ => value.serialize(self),
        }
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<(), JsonError> {
        let out = self.tag(variant);
        value.serialize(ToText { out, distinct: false })?;
        out.push('}');
        Ok(())
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Items<'o>, JsonError> {
        Ok(Items::open(self.out, "]"))
    }

    fn serialize_tuple(self, _: usize) -> Result<Items<'o>, JsonError> {
        Ok(Items::open(self.out, "]"))
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Items<'o>, JsonError> {
        Ok(Items::open(self.out, "]"))
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Items<'o>, JsonError> {
        Ok(Items::open(self.tag(variant), "]}"))
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Members<'o>, JsonError> {
        let distinct = self.distinct;
        Ok(Members::open(self.out, "}", distinct))
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Members<'o>, JsonError> {
        Ok(Members::open(self.out, "}", true))
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Members<'o>, JsonError> {
        Ok(Members::open(self.tag(variant), "}}", true))
    }

    /// Ids, times and digests are shown straight into the text.
    fn collect_str<T: Display + ?Sized>(self, value: &T) -> Result<(), JsonError> {
        self.out.push('"');
        fmt::Write::write_fmt(&mut Escaping(self.out), format_args!("{value}")).map_err(JsonError::custom)?;
        self.out.push('"');
        Ok(())
    }
}

/// Escapes what is shown into a string.
struct Escaping<'o>(&'o mut String);

impl fmt::Write for Escaping<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        if plain_span(text.as_bytes()) == text.len() {
            self.0.push_str(text);
        } else {
            write_escaped(text, self.0);
        }
        Ok(())
    }
}
