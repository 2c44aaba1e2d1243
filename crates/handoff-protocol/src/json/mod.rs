//! A JSON value of our own, for everything that is digested.
//!
//! Members keep their order and numbers keep their text, so no feature flag of another crate in the build can
//! change a digest.
//!
//! | to do | use |
//! |---|---|
//! | read bytes that a stranger sent | [`read()`], strict (B-1) |
//! | write them back, as they were read | [`Json::to_text`] |
//! | write what a digest is taken over | [`Json::canonical`] (B-8, N-6) |
//! | bring numbers to their stored spelling | [`normalize_numbers`] (N-1 to N-3) |
//! | turn a request body into a typed value, with errors for its author | [`ObjectReader`] |
//! | turn our own types into JSON and back | [`to_json`], [`from_json`] |
//! | the same without a tree in between | [`to_text`](to_text()), [`from_text`](from_text()) |

mod canonical;
mod decode;
mod decode_error;
mod deserialize;
mod deserialize_key;
mod error;
mod from_text;
mod from_text_compound;
mod json_text;
mod number;
mod numbers;
mod object;
mod path;
mod pointer;
mod read;
mod read_error;
mod scan;
mod schema;
mod serialize;
mod serialize_compound;
mod serialize_key;
mod text_error;
mod to_text;
mod to_text_compound;
mod value;
mod value_reader;
mod visit;
mod wipe;
mod write;

#[cfg(test)]
mod tests;

pub use self::canonical::NotCanonical;
pub(crate) use self::canonical::canonical_members;
pub use self::decode::ObjectReader;
pub use self::decode_error::DecodeError;
pub use self::deserialize::from_json;
pub use self::error::JsonError;
pub use self::from_text::from_text;
pub(crate) use self::from_text::from_text_seed;
pub use self::json_text::JsonText;
pub use self::number::{MAX_SAFE_INTEGER, NotANumber, Number, NumberFault};
pub use self::numbers::normalize_numbers;
pub use self::object::{IntoIter, Iter, Object};
pub use self::path::{JsonPath, Path, Segment};
pub(crate) use self::read::read_utf8;
pub use self::read::{MAX_DEPTH, ReadLimits, read, read_str, read_within};
pub use self::read_error::{ReadError, ReadErrorKind};
pub use self::serialize::to_json;
pub use self::text_error::TextError;
pub use self::to_text::{to_text, write_text};
pub use self::value::Json;
pub use self::value_reader::{ArrayReader, ValueReader};
