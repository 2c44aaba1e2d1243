//! Arrays and objects in the making, for the serializer that writes text.

use indexmap::IndexSet;
use serde::Serialize;
use serde::ser::{
    SerializeMap, SerializeSeq, SerializeStruct, SerializeStructVariant, SerializeTuple, SerializeTupleStruct,
    SerializeTupleVariant,
};

use super::JsonError;
use super::serialize_key::TextSerializer;
use super::to_text::{ToText, write_text};
use super::write::write_string;

/// An array in the making.
pub(super) struct Items<'o> {
    out: &'o mut String,
    close: &'static str,
    empty: bool,
}

impl<'o> Items<'o> {
    pub(super) fn open(out: &'o mut String, close: &'static str) -> Self {
        out.push('[');
        Self { out, close, empty: true }
    }

    fn push<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), JsonError> {
        if !std::mem::replace(&mut self.empty, false) {
            self.out.push(',');
        }
        write_text(value, self.out)
    }

    fn close(self) {
        self.out.push_str(self.close);
    }
}

/// Implements a trait of serde for arrays.
macro_rules! items {
    ($($trait:ident $method:ident)*) => {
        $(
            impl $trait for Items<'_> {
                type Ok = ();
                type Error = JsonError;

                fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), JsonError> {
                    self.push(value)
                }

                fn end(self) -> Result<(), JsonError> {
                    self.close();
                    Ok(())
                }
            }
        )*
    };
}

items! {
    SerializeSeq serialize_element
    SerializeTuple serialize_element
    SerializeTupleStruct serialize_field
    SerializeTupleVariant serialize_field
}

/// An object in the making.
pub(super) struct Members<'o> {
    out: &'o mut String,
    close: &'static str,
    empty: bool,
    /// The names so far, unless they differ for certain.
    names: Option<IndexSet<String>>,
}

impl<'o> Members<'o> {
    pub(super) fn open(out: &'o mut String, close: &'static str, distinct: bool) -> Self {
        out.push('{');
        Self { out, close, empty: true, names: (!distinct).then(IndexSet::new) }
    }

    fn name(&mut self, name: &str) {
        if !std::mem::replace(&mut self.empty, false) {
            self.out.push(',');
        }
        write_string(name, self.out);
        self.out.push(':');
    }

    fn value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), JsonError> {
        value.serialize(ToText { out: self.out, distinct: false })
    }

    fn close(self) {
        self.out.push_str(self.close);
    }
}

impl SerializeMap for Members<'_> {
    type Ok = ();
    type Error = JsonError;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), JsonError> {
        let name = key.serialize(TextSerializer::of_key())?;
        self.name(&name);
        let fresh = self.names.as_mut().is_none_or(|names| names.insert(name));
        if fresh { Ok(()) } else { Err(JsonError::new("two members have one name")) }
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), JsonError> {
        self.value(value)
    }

    fn end(self) -> Result<(), JsonError> {
        self.close();
        Ok(())
    }
}

/// Implements a trait of serde for objects whose names the compiler knows.
macro_rules! members {
    ($($trait:ident)*) => {
        $(
            impl $trait for Members<'_> {
                type Ok = ();
                type Error = JsonError;

                fn serialize_field<T: Serialize + ?Sized>(
                    &mut self,
                    name: &'static str,
                    value: &T,
                ) -> Result<(), JsonError> {
                    self.name(name);
                    self.value(value)
                }

                fn end(self) -> Result<(), JsonError> {
                    self.close();
                    Ok(())
                }
            }
        )*
    };
}

members! { SerializeStruct SerializeStructVariant }
