//! Submitted forms, read strictly: what is not UTF-8 or not properly escaped is refused, never repaired.

use std::{collections::HashMap, fmt};

use handoff_protocol::decision::limits;

/// How many values are read: as many as the largest declaration has options, and what the pages send besides.
const VALUES: usize = limits::FIELDS * (limits::OPTIONS + 1) + 16;

/// The fields of a submitted form: the values of each name in the order in which they were sent.
#[derive(Default)]
pub(crate) struct Form(HashMap<String, Vec<String>>);

/// A body that is no form of ours.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("the form is not properly encoded, or holds more values than any form has")]
pub(crate) struct NotAForm;

impl Form {
    /// Reads `application/x-www-form-urlencoded`. Line ends, which browsers send as CR LF whatever was typed, become
    /// single line feeds.
    pub(crate) fn read(body: &[u8]) -> Result<Self, NotAForm> {
        let mut form = Self::default();
        let pairs = body.split(|byte| *byte == b'&').filter(|pair| !pair.is_empty());
        for (place, pair) in pairs.enumerate() {
            if place >= VALUES {
                return Err(NotAForm);
            }
            let mut parts = pair.splitn(2, |byte| *byte == b'=');
            let name = decode(parts.next().unwrap_or_default())?;
            let value = decode(parts.next().unwrap_or_default())?;
            form.0.entry(name).or_default().push(value.replace("\r\n", "\n"));
        }
        Ok(form)
    }

    /// The first value of a name.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.all(name).next()
    }

    /// Every value of a name.
    pub(crate) fn all<'a>(&'a self, name: &str) -> impl Iterator<Item = &'a str> + use<'a> {
        self.0.get(name).into_iter().flatten().map(String::as_str)
    }

    /// How many values a name has.
    pub(crate) fn count(&self, name: &str) -> usize {
        self.0.get(name).map_or(0, Vec::len)
    }
}

impl fmt::Debug for Form {
    /// Names alone: what people type is nobody's business.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_set().entries(self.0.keys()).finish()
    }
}

fn decode(text: &[u8]) -> Result<String, NotAForm> {
    let mut decoded = Vec::with_capacity(text.len());
    let mut bytes = text.iter().copied();
    while let Some(byte) = bytes.next() {
        decoded.push(match byte {
            b'+' => b' ',
            b'%' => (hex(bytes.next())? << 4) | hex(bytes.next())?,
            plain => plain,
        });
    }
    String::from_utf8(decoded).map_err(|_| NotAForm)
}

fn hex(digit: Option<u8>) -> Result<u8, NotAForm> {
    let value = digit.and_then(|digit| char::from(digit).to_digit(16)).ok_or(NotAForm)?;
    u8::try_from(value).map_err(|_| NotAForm)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_unescaped_and_keep_their_order() {
        let form = Form::read(b"a=1+2&b=%E2%82%AC&a=3&&c").unwrap();
        assert_eq!((form.get("b"), form.get("c"), form.get("d")), (Some("\u{20ac}"), Some(""), None));
        assert_eq!(form.get("a"), Some("1 2"));
        assert_eq!(form.all("a").collect::<Vec<_>>(), ["1 2", "3"]);
        assert_eq!((form.count("a"), form.count("d")), (2, 0));
    }

    #[test]
    fn line_ends_become_line_feeds() {
        assert_eq!(Form::read(b"t=one%0D%0Atwo").unwrap().get("t"), Some("one\ntwo"));
    }

    #[test]
    fn what_is_not_properly_encoded_is_refused() {
        for body in [&b"a=%"[..], b"a=%4", b"a=%zz", b"a=%FF", b"a=%C3%28", b"%80=1", b"a=\xff", b"a=%+1"] {
            assert_eq!(Form::read(body).err(), Some(NotAForm), "{body:?}");
        }
    }

    #[test]
    fn no_more_values_are_read_than_any_form_has() {
        assert!(Form::read("a=&".repeat(VALUES).as_bytes()).is_ok());
        assert!(Form::read("a=&".repeat(VALUES + 1).as_bytes()).is_err());
    }

    #[test]
    fn printing_a_form_shows_no_value() {
        assert_eq!(format!("{:?}", Form::read(b"name=hunter2").unwrap()), r#"{"name"}"#);
    }
}
