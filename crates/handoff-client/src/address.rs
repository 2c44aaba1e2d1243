//! Paths of the API: every part fully percent-encoded (section 26).

use std::fmt::Write as _;

use crate::error::ClientError;

/// Joins parts to a path under `/v1`, each part one segment whatever it holds.
///
/// # Errors
///
/// [`ClientError::Configuration`] for a part that is `.` or `..`: an address swallows these, encoded or not.
pub(crate) fn path(parts: &[&str]) -> Result<String, ClientError> {
    let mut path = String::from("/v1");
    for part in parts {
        if matches!(*part, "." | "..") {
            return Err(ClientError::Configuration("a part of an address cannot be `.` or `..`".to_owned()));
        }
        path.push('/');
        encode(part, &mut path);
    }
    Ok(path)
}

/// Adds a query to a path.
pub(crate) fn with_query(mut path: String, query: &[(&str, &str)]) -> String {
    for (place, (name, value)) in query.iter().enumerate() {
        path.push(if place == 0 { '?' } else { '&' });
        encode(name, &mut path);
        path.push('=');
        encode(value, &mut path);
    }
    path
}

fn encode(text: &str, into: &mut String) {
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~') {
            into.push(char::from(byte));
        } else {
            // Writing to a string cannot fail.
            let _ = write!(into, "%{byte:02X}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_is_one_segment() {
        let path = path(&["waiters", "a/b:c d?é#%", "signals"]).unwrap();
        assert_eq!(path, "/v1/waiters/a%2Fb%3Ac%20d%3F%C3%A9%23%25/signals");
        assert_eq!(with_query(path, &[("wait", "3"), ("state", "a&b")]).split('?').nth(1), Some("wait=3&state=a%26b"));
    }

    #[test]
    fn a_part_that_addresses_swallow_is_refused() {
        for part in [".", ".."] {
            assert!(path(&["waiters", part, "signals"]).is_err(), "{part}");
        }
        assert!(path(&["waiters", "...", "signals"]).is_ok());
    }
}
