//! Export bundles: a tenant's receipts with everything that proves them, to be checked by anyone, offline.
//!
//! A bundle is one JSON document: the receipts exactly as they were sealed, their detached signatures, the published
//! keys, the chain's head, and a digest over all of it. [`verify`](verify()) names what broke, each kind of fault on its
//! own. Neither [`BundleWriter`] nor the verifier holds more than a few receipts at a time.

mod covered;
mod report;
mod verify;
mod walk;
mod write;

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};

use crate::{
    chain::Head,
    decision::view::ReceiptView,
    digest::Digest,
    id::OrgId,
    json::{Json, JsonError, NotCanonical, ReadError},
    signature::{Jwks, ReceiptSignature},
    timestamp::Timestamp,
};

pub(crate) use self::{covered::digest_of, verify::Retirements};
pub use self::{
    report::{BundleReport, Finding, FindingKind},
    verify::{Trust, verify},
    write::BundleWriter,
};

/// What a bundle says that it is.
pub const FORMAT: &str = "handoff-export/1";

/// A tenant's receipts and what proves them.
#[derive(Clone, Debug, PartialEq)]
pub struct Bundle {
    /// The tenant.
    pub org_id: OrgId,
    /// When it was made, by the exporting server's clock.
    pub exported_at: Timestamp,
    /// The head of the chain then.
    pub head: Head,
    /// The keys published then, retired ones included.
    pub keys: Jwks,
    /// The receipts, from height 1.
    pub receipts: Vec<BundleReceipt>,
}

/// A receipt and its signature.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct BundleReceipt {
    /// The receipt, exactly as it was sealed.
    #[schemars(with = "ReceiptView")]
    pub receipt: Json,
    /// Its detached signature; null from a server without a signing key.
    pub signature: Option<ReceiptSignature>,
}

/// A tenant's receipts and what proves them, as written, with a digest over all of it.
#[derive(Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Bundle")]
struct Written {
    format: String,
    org_id: OrgId,
    exported_at: Timestamp,
    head: Head,
    keys: Jwks,
    receipts: Vec<BundleReceipt>,
    digest: Digest,
}

/// The schema of what [`Bundle::to_text`] writes.
impl JsonSchema for Bundle {
    fn schema_name() -> Cow<'static, str> {
        Written::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        Written::json_schema(generator)
    }
}

/// A bundle could not be written or read at all.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BundleError {
    /// It is not JSON.
    #[error("this is not a JSON document: {0}")]
    NotJson(#[from] ReadError),
    /// It is JSON and not a bundle.
    #[error("this is not an export bundle of format `{FORMAT}`: {0}")]
    NotABundle(#[from] JsonError),
    /// It is a bundle of a format that is not known here.
    #[error("this bundle has a format that is not known here; this program reads `{FORMAT}`")]
    UnknownFormat,
    /// It holds a number that no digest can cover.
    #[error(transparent)]
    NotCanonical(#[from] NotCanonical),
}
