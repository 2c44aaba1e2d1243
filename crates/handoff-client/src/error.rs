//! How a call fails: refused, not carried, or answered with something that is not the protocol.

use std::{fmt, time::Duration};

use handoff_protocol::{
    decision::{ErrorCode, FieldError},
    id::{ReceiptId, RequestId},
    json::{Json, from_json},
};

/// How a call fails.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ClientError {
    /// The server refused, and says why. Trying the same again changes nothing.
    #[error(transparent)]
    Refused(Box<Refusal>),
    /// No response came, after every try. Whether the call had an effect is not known; repeat it under the same key.
    #[error("the server cannot be reached: {0}")]
    Transport(String),
    /// Something answered that does not speak the protocol: a proxy, another program, another version.
    #[error("the response is not the protocol's (HTTP status {status}): {problem}")]
    Malformed {
        /// The status that came with it.
        status: u16,
        /// What is wrong with it.
        problem: String,
    },
    /// The call cannot be made from here: an address, a key or an argument that cannot travel. The caller's to mend.
    #[error("{0}")]
    Configuration(String),
}

/// A refusal, from the one envelope in which all of them travel (section 20).
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Refusal {
    /// The HTTP status.
    pub status: u16,
    /// The code as the server spelled it; a code that this client does not know keeps its text.
    pub code: String,
    /// Words for a developer.
    pub message: String,
    /// The request it is about.
    pub request_id: Option<RequestId>,
    /// The receipt that stands.
    pub receipt_id: Option<ReceiptId>,
    /// The request that took its place.
    pub superseded_by: Option<RequestId>,
    /// What is wrong, field by field.
    pub fields: Vec<FieldError>,
    /// When to come back.
    pub retry_after: Option<Duration>,
}

impl Refusal {
    /// Whether the refusal has this code.
    #[must_use]
    pub fn is(&self, code: ErrorCode) -> bool {
        self.code == code.as_str()
    }

    /// Reads a refusal; nothing if the body is not the envelope. Members that cannot be read are left out, so that a
    /// newer server's refusal still says what it is.
    pub(crate) fn read(status: u16, body: &Json, retry_after: Option<Duration>) -> Option<Self> {
        let error = body.get("error")?;
        Some(Self {
            status,
            code: error.get("code")?.as_str()?.to_owned(),
            message: error.get("message")?.as_str()?.to_owned(),
            request_id: member(error, "request_id"),
            receipt_id: member(error, "receipt_id"),
            superseded_by: member(error, "superseded_by"),
            fields: member(error, "fields").unwrap_or_default(),
            retry_after,
        })
    }
}

fn member<T: serde::de::DeserializeOwned>(error: &Json, name: &str) -> Option<T> {
    from_json(error.get(name)?.clone()).ok()
}

impl fmt::Display for Refusal {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.code, self.message)?;
        for field in &self.fields {
            let words = field.message.as_deref().unwrap_or("cannot be accepted");
            write!(formatter, "; `{}` {words}", field.name)?;
        }
        Ok(())
    }
}

impl std::error::Error for Refusal {}

impl ClientError {
    /// The refusal, if this is one.
    #[must_use]
    pub fn refusal(&self) -> Option<&Refusal> {
        match self {
            Self::Refused(refusal) => Some(refusal),
            _ => None,
        }
    }

    /// Whether the server refused with this code.
    #[must_use]
    pub fn is_refused_with(&self, code: ErrorCode) -> bool {
        self.refusal().is_some_and(|refusal| refusal.is(code))
    }
}

#[cfg(test)]
mod tests {
    use handoff_protocol::json::read_str;

    use super::*;

    #[test]
    fn an_unknown_code_and_unreadable_members_keep_the_refusal() {
        let body = read_str(r#"{"error":{"code":"from_the_future","message":"no","request_id":7,"extra":1}}"#).unwrap();
        let refusal = Refusal::read(418, &body, None).unwrap();
        assert_eq!((refusal.code.as_str(), refusal.status, refusal.request_id), ("from_the_future", 418, None));
        assert!(!refusal.is(ErrorCode::InvalidRequest));
    }

    #[test]
    fn what_is_no_envelope_is_no_refusal() {
        for body in ["{}", r#"{"error":"bad"}"#, r#"{"error":{"code":"x"}}"#, "[]"] {
            assert_eq!(Refusal::read(400, &read_str(body).unwrap(), None), None, "{body}");
        }
    }

    #[test]
    fn a_refusal_reads_as_one_line_with_its_fields() {
        let body = read_str(
            r#"{"error":{"code":"answer_validation_failed","message":"1 value","fields":[{"name":"a","code":"required","message":"is required"}]}}"#,
        )
        .unwrap();
        let line = Refusal::read(422, &body, None).unwrap().to_string();
        assert_eq!(line, "answer_validation_failed: 1 value; `a` is required");
    }
}
