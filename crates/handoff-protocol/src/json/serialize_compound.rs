//! Arrays and objects in the making, for the serializer.

use serde::Serialize;
use serde::ser::{
    SerializeMap, SerializeSeq, SerializeStruct, SerializeStructVariant, SerializeTuple, SerializeTupleStruct,
    SerializeTupleVariant,
};

use super::serialize::{ToJson, to_json};
use super::serialize_key::TextSerializer;
use super::{Json, JsonError, Object};

/// A length that a type claims is only believed so far, before there are items to show for it.
const CLAIMED: usize = 1024;

/// An array in the making.
pub(super) struct Items(Vec<Json>);

impl Items {
    pub(super) fn new(length: usize) -> Self {
        Self(Vec::with_capacity(length.min(CLAIMED)))
    }

    fn push<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), JsonError> {
        self.0.push(to_json(value)?);
        Ok(())
    }
}

impl SerializeSeq for Items {
    type Ok = Json;
    type Error = JsonError;

    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), JsonError> {
        self.push(value)
    }

    fn end(self) -> Result<Json, JsonError> {
        Ok(Json::Array(self.0))
    }
}

impl SerializeTuple for Items {
    type Ok = Json;
    type Error = JsonError;

    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), JsonError> {
        self.push(value)
    }

    fn end(self) -> Result<Json, JsonError> {
        Ok(Json::Array(self.0))
    }
}

impl SerializeTupleStruct for Items {
    type Ok = Json;
    type Error = JsonError;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), JsonError> {
        self.push(value)
    }

    fn end(self) -> Result<Json, JsonError> {
        Ok(Json::Array(self.0))
    }
}

/// An object in the making.
pub(super) struct Members {
    object: Object,
    name: Option<String>,
}

impl Members {
    pub(super) fn new(length: usize) -> Self {
        Self { object: Object::with_capacity(length.min(CLAIMED)), name: None }
    }

    fn insert(&mut self, name: String, value: Json) -> Result<(), JsonError> {
        match self.object.insert(name, value) {
            None => Ok(()),
            Some(_) => Err(JsonError::new("two members have one name")),
        }
    }
}

impl SerializeMap for Members {
    type Ok = Json;
    type Error = JsonError;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), JsonError> {
        self.name = Some(key.serialize(TextSerializer::of_key())?);
        Ok(())
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), JsonError> {
        let name = self.name.take().ok_or_else(|| JsonError::new("a member has a value but no name"))?;
        self.insert(name, value.serialize(ToJson)?)
    }

    fn end(self) -> Result<Json, JsonError> {
        Ok(Json::Object(self.object))
    }
}

impl SerializeStruct for Members {
    type Ok = Json;
    type Error = JsonError;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, name: &'static str, value: &T) -> Result<(), JsonError> {
        self.insert(name.to_owned(), value.serialize(ToJson)?)
    }

    fn end(self) -> Result<Json, JsonError> {
        Ok(Json::Object(self.object))
    }
}

/// An array or object that stands as the only member of an object named after a variant.
pub(super) struct Tagged<T> {
    pub(super) variant: &'static str,
    pub(super) content: T,
}

impl SerializeTupleVariant for Tagged<Items> {
    type Ok = Json;
    type Error = JsonError;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), JsonError> {
        self.content.push(value)
    }

    fn end(self) -> Result<Json, JsonError> {
        Ok(Json::object([(self.variant, Json::Array(self.content.0))]))
    }
}

impl SerializeStructVariant for Tagged<Members> {
    type Ok = Json;
    type Error = JsonError;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, name: &'static str, value: &T) -> Result<(), JsonError> {
        SerializeStruct::serialize_field(&mut self.content, name, value)
    }

    fn end(self) -> Result<Json, JsonError> {
        Ok(Json::object([(self.variant, Json::Object(self.content.object))]))
    }
}
