//! How a refusal travels: one envelope everywhere.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    error::{DecisionError, FieldError},
    error_code::ErrorCode,
};
use crate::id::{ReceiptId, RequestId};

/// The one envelope in which every refusal travels (section 20).
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[schemars(rename = "Error")]
pub struct ErrorEnvelope {
    /// The refusal.
    pub error: ErrorBody,
}

/// A refusal as it travels; members beyond the first two appear only where section 20 lists them.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct ErrorBody {
    /// What kind of refusal.
    pub code: ErrorCode,
    /// Words for a developer.
    pub message: String,
    /// The request it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<RequestId>,
    /// The receipt that stands.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub receipt_id: Option<ReceiptId>,
    /// The request that took its place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub superseded_by: Option<RequestId>,
    /// What is wrong, field by field.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fields: Vec<FieldError>,
}

impl ErrorEnvelope {
    /// An envelope with nothing but a code and words.
    #[must_use]
    pub fn plain(code: ErrorCode, message: impl Into<String>) -> Self {
        Self {
            error: ErrorBody {
                code,
                message: message.into(),
                request_id: None,
                receipt_id: None,
                superseded_by: None,
                fields: Vec::new(),
            },
        }
    }
}

impl From<&DecisionError> for ErrorEnvelope {
    fn from(error: &DecisionError) -> Self {
        let receipt_id = error.receipt_id();
        #[cfg(feature = "planted-faults")]
        let receipt_id = receipt_id.filter(|_| !crate::planted::Fault::ConflictNamesNoReceipt.is_planted());
        Self {
            error: ErrorBody {
                code: error.code(),
                message: error.to_string(),
                request_id: error.request_id(),
                receipt_id,
                superseded_by: error.superseded_by(),
                fields: error.fields().to_vec(),
            },
        }
    }
}
