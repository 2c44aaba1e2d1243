//! Canonical JSON (RFC 8785) and digests, by libraries that the server does not use for it.

use std::fmt::Write as _;

use serde_json::Value;
use sha2::{Digest as _, Sha256};

/// The canonical bytes of a value.
///
/// # Errors
///
/// A value that has no canonical form, in words.
pub fn canonical(value: &Value) -> Result<Vec<u8>, String> {
    serde_json_canonicalizer::to_vec(value).map_err(|error| format!("no canonical form: {error}"))
}

/// `sha256:` and the hexadecimal SHA-256 of a value's canonical bytes (B-7, B-8).
///
/// # Errors
///
/// As for [`canonical`].
pub fn digest(value: &Value) -> Result<String, String> {
    Ok(format!("sha256:{}", sha256_hex(&canonical(value)?)))
}

/// The SHA-256 of bytes, in lowercase hexadecimal.
#[must_use]
pub fn sha256_hex(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// Bytes in lowercase hexadecimal.
#[must_use]
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a `String` cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn names_sort_by_utf_16_units() {
        let value = json!({"\u{e000}": 1, "\u{10000}": 2, "a": 3, "": 4});
        let text = String::from_utf8(canonical(&value).unwrap()).unwrap();
        assert_eq!(text, "{\"\":4,\"a\":3,\"\u{10000}\":2,\"\u{e000}\":1}");
    }

    #[test]
    fn only_what_must_be_escaped_is() {
        let text = String::from_utf8(canonical(&json!("\u{8}\t\n\u{c}\r\u{1}\"\\/é\u{7f}")).unwrap()).unwrap();
        assert_eq!(text, "\"\\b\\t\\n\\f\\r\\u0001\\\"\\\\/é\u{7f}\"");
    }

    #[test]
    fn the_digest_of_an_empty_object_is_known() {
        let known = "sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a";
        assert_eq!(digest(&json!({})).unwrap(), known);
    }
}
