//! Serde and JSON Schema for values that are written as one string.

/// Implements `Serialize` through `Display`, `Deserialize` through `FromStr`, and `JsonSchema` from a literal.
///
/// With `inline` the schema is written in place instead of becoming a definition of its own.
macro_rules! text_value {
    ($type:ty, $schema_name:expr, $what:expr, $schema:tt) => {
        $crate::id::text::text_value!(@impl $type, $schema_name, $what, $schema, false);
    };
    ($type:ty, $schema_name:expr, $what:expr, $schema:tt, inline) => {
        $crate::id::text::text_value!(@impl $type, $schema_name, $what, $schema, true);
    };
    (@impl $type:ty, $schema_name:expr, $what:expr, $schema:tt, $inline:literal) => {
        impl ::serde::Serialize for $type {
            fn serialize<S: ::serde::Serializer>(&self, serializer: S) -> ::std::result::Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> ::serde::Deserialize<'de> for $type {
            fn deserialize<D: ::serde::Deserializer<'de>>(deserializer: D) -> ::std::result::Result<Self, D::Error> {
                struct Text;

                impl ::serde::de::Visitor<'_> for Text {
                    type Value = $type;

                    fn expecting(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                        f.write_str($what)
                    }

                    fn visit_str<E: ::serde::de::Error>(self, text: &str) -> ::std::result::Result<$type, E> {
                        text.parse().map_err(E::custom)
                    }
                }

                deserializer.deserialize_str(Text)
            }
        }

        impl ::schemars::JsonSchema for $type {
            fn inline_schema() -> bool {
                $inline
            }

            fn schema_name() -> ::std::borrow::Cow<'static, str> {
                $schema_name.into()
            }

            fn json_schema(_: &mut ::schemars::SchemaGenerator) -> ::schemars::Schema {
                ::schemars::json_schema!($schema)
            }
        }
    };
}

pub(crate) use text_value;
