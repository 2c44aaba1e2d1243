//! Values that must never be printed, and comparison that does not leak where two values differ.

use std::fmt;

use subtle::ConstantTimeEq;
use zeroize::Zeroize;

/// A value that is wiped from memory when dropped and that no formatter can print.
///
/// `Debug` and `Display` both write `[redacted]`, and there is deliberately no `Serialize`: a secret that reaches a
/// log, an error or a response by accident shows nothing. Reading it takes a visible [`expose`](Secret::expose).
///
/// ```
/// use handoff_protocol::secret::Secret;
///
/// let password = Secret::new(String::from("correct horse"));
/// assert_eq!(format!("{password:?}"), "[redacted]");
/// assert_eq!(password.expose(), "correct horse");
/// ```
#[derive(Clone)]
pub struct Secret<T: Zeroize>(T);

impl<T: Zeroize> Secret<T> {
    /// Takes a value into custody; copies that the caller still holds are the caller's to wipe.
    pub const fn new(value: T) -> Self {
        Self(value)
    }

    /// Lends the value to the one place that needs it.
    pub const fn expose(&self) -> &T {
        &self.0
    }

    /// Takes a part out, a secret again; what is left behind is wiped.
    ///
    /// ```
    /// use handoff_protocol::{json::{Json, Object}, secret::Secret};
    ///
    /// let body = Secret::new(Json::object([("values", Json::object([("pin", "4711".into())]))]));
    /// let values = body.take(|body| body.as_object_mut().and_then(|body| body.remove("values")).unwrap_or_default());
    /// assert_eq!(values.expose().to_text(), r#"{"pin":"4711"}"#);
    /// ```
    pub fn take<U: Zeroize>(mut self, part: impl FnOnce(&mut T) -> U) -> Secret<U> {
        Secret(part(&mut self.0))
    }
}

impl<T: Zeroize + AsRef<[u8]>> Secret<T> {
    /// Compares with a presented value in time that depends on the lengths only.
    pub fn matches(&self, presented: impl AsRef<[u8]>) -> bool {
        constant_time_eq(self.0.as_ref(), presented.as_ref())
    }
}

impl<T: Zeroize> Drop for Secret<T> {
    fn drop(&mut self) {
        self.0.zeroize();
    }
}

impl<T: Zeroize> fmt::Debug for Secret<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[redacted]")
    }
}

impl<T: Zeroize> fmt::Display for Secret<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[redacted]")
    }
}

impl<T: Zeroize> From<T> for Secret<T> {
    fn from(value: T) -> Self {
        Self::new(value)
    }
}

/// Compares two byte strings in time that depends on their lengths only, never on where they differ.
#[must_use]
pub fn constant_time_eq(left: &[u8], right: &[u8]) -> bool {
    left.ct_eq(right).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_prints_nothing_of_itself() {
        let text = Secret::new(String::from("hunter2"));
        let bytes = Secret::new(vec![7_u8; 4]);
        let array = Secret::new([7_u8; 32]);
        for printed in [format!("{text} {text:?}"), format!("{bytes} {bytes:?}"), format!("{array} {array:#?}")] {
            assert_eq!(printed, "[redacted] [redacted]");
        }
    }

    #[test]
    fn comparison_needs_equal_length_and_equal_bytes() {
        let secret = Secret::new(String::from("abc"));
        assert!(secret.matches("abc"));
        assert!(!secret.matches("abd"));
        assert!(!secret.matches("ab"));
        assert!(!secret.matches(""));
        assert!(constant_time_eq(b"", b""));
    }
}
